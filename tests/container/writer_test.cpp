// SPDX-License-Identifier: Apache-2.0
#include "container/writer.h"

#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "container/superblocks.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using container::Writer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNull;

bool overlap(Extent a, Extent b) {
  return a.offset_bytes < b.end_bytes() && b.offset_bytes < a.end_bytes();
}

TEST(Writer, WritesNothingWhenOpened) {
  const ContainerStore store;
  const auto writer = store.writer();
  EXPECT_EQ(writer->storage().counters().write_count, 0U);
  EXPECT_EQ(writer->storage().counters().sync_count, 0U);
}

TEST(Writer, RefusesToBeTheSecondAtOnce) {
  const ContainerStore store;
  const auto first = store.writer();
  EXPECT_EQ(code_of(Writer::open(store.storage(OpenMode::kWrite), {})), Errc::kLocked);
}

TEST(Writer, WaitsForTheLockOnRequest) {
  const ContainerStore store;
  auto first = store.writer();
  auto options = fixed_time();
  options.lock_wait_ms = 60'000;
  auto second = std::async(std::launch::async, [&] { return store.writer(options); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  first.reset();
  EXPECT_EQ(second.get()->directory()->generation().value, 1U);
}

TEST(Writer, LetsTheLockGoAtItsEnd) {
  const ContainerStore store;
  store.writer().reset();
  EXPECT_TRUE(Writer::open(store.storage(OpenMode::kWrite), {}));
}

TEST(Writer, PublishesANewGeneration) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId blob = add_blob(*writer, drum, 100 * kKiB, 7);
  EXPECT_EQ(must(writer->commit()).value, 2U);
  EXPECT_EQ(payload_of(*store.reader(), blob), random_bytes(100 * kKiB, 7));
}

TEST(Writer, ReturnsTheCurrentGenerationWithoutChanges) {
  const ContainerStore store;
  const auto writer = store.writer();
  EXPECT_EQ(must(writer->commit()).value, 1U);
  EXPECT_EQ(writer->storage().counters().write_count, 0U);
}

TEST(Writer, PublishesAnEmptyCommitWhenAsked) {
  const ContainerStore store;
  EXPECT_EQ(must(store.writer()->commit(true)).value, 2U);
  EXPECT_EQ(store.reader()->directory().generation().value, 2U);
}

TEST(Writer, ForgetsDroppedChanges) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  writer->drop_changes();
  EXPECT_FALSE(writer->has_changes());
  EXPECT_THAT(writer->find(drum), IsNull());
}

TEST(Writer, ShowsItsPendingChanges) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId log = add_log(*writer, drum);
  must(writer->commit());
  append(*writer, log, 64, 1);
  EXPECT_EQ(writer->find(log)->runs.size(), 1U);
  EXPECT_EQ(writer->directory()->find(log)->runs.size(), 0U);
  writer->remove(log);
  EXPECT_THAT(writer->find(log), IsNull());
}

TEST(Writer, RemovesSegments) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId blob = add_blob(*writer, drum, 64, 1);
  must(writer->commit());
  writer->remove(blob);
  must(writer->commit());
  EXPECT_THAT(store.reader()->directory().find(blob), IsNull());
}

/// No reader would open the file again.
TEST(Writer, PublishesNoTwoSegmentsOfOneName) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId first = add_drum(*writer, "web");
  must(writer->commit());
  add_drum(*writer, "web");
  EXPECT_EQ(writer->commit().error().code, Errc::kInvalidArgument);
  writer->drop_changes();
  add_drum(*writer, "other");
  add_drum(*writer, "other");
  EXPECT_EQ(writer->commit().error().code, Errc::kInvalidArgument);
  writer->drop_changes();
  writer->remove(first);
  const SegmentId second = add_drum(*writer, "web");
  EXPECT_EQ(must(writer->commit()).value, 3U);
  EXPECT_EQ(store.reader()->directory().find_named(SegmentKind::kDrum, "web")->id, second);
}

// spec: container.md#directory rule 4
TEST(Writer, NeverGivesAnIdTwice) {
  const ContainerStore store;
  auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId blob = add_blob(*writer, drum, 64, 1);
  must(writer->commit());
  writer->remove(blob);
  must(writer->commit());
  const RunId next_run = writer->new_run_ids(1);
  writer.reset();
  const auto again = store.writer();
  EXPECT_GT(again->new_segment_id(), blob);
  EXPECT_EQ(again->new_run_ids(3), next_run);
  EXPECT_EQ(again->new_run_ids(1).value, next_run.value + 3);
}

// spec: container.md#extents rule 6
TEST(Writer, KeepsTheBirthOfWhatStays) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId log = add_log(*writer, drum);
  append(*writer, log, 64, 1);
  must(writer->commit());
  append(*writer, log, 64, 2);
  must(writer->commit());
  const auto& runs = writer->directory()->find(log)->runs;
  EXPECT_THAT(std::vector({runs[0].born, runs[1].born}), ElementsAre(Generation{2}, Generation{3}));
}

// spec: container.md#extents rule 1
TEST(Writer, ListsWhatItRetires) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId blob = add_blob(*writer, drum, 64, 1);
  must(writer->commit());
  const auto before = writer->directory();
  replace_blob(*writer, blob, 64, 2);
  must(writer->commit());
  const auto extent = before->find(blob)->runs.front().extent();
  const auto& table = before->tables.front()->ref;
  std::set<Extent> listed;
  writer->directory()->for_each_held([&](const auto& held) {
    if (held.retired.value == 3) listed.insert(held.extent);
  });
  EXPECT_EQ(listed, (std::set{extent, table.extent(), before->root_extent}));
}

TEST(Writer, KeepsThePinnedGenerationReadable) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId blob = add_blob(*writer, drum, 200 * kKiB, 1);
  must(writer->commit());
  const auto reader = store.reader();
  for (std::uint64_t i = 2; i < 12; ++i) {
    replace_blob(*writer, blob, 200 * kKiB, i);
    must(writer->commit());
  }
  EXPECT_EQ(payload_of(*reader, blob), random_bytes(200 * kKiB, 1));
}

TEST(Writer, ReusesSpaceOfUnpinnedGenerations) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId blob = add_blob(*writer, add_drum(*writer), 200 * kKiB, 0);
  for (std::uint64_t i = 1; i < 6; ++i) {
    must(writer->commit());
    replace_blob(*writer, blob, 200 * kKiB, i);
  }
  const std::uint64_t size = store.size_bytes();
  for (std::uint64_t i = 6; i < 20; ++i) {
    must(writer->commit());
    replace_blob(*writer, blob, 200 * kKiB, i);
  }
  EXPECT_EQ(store.size_bytes(), size);
}

// spec: container.md#extents rule 5
TEST(Writer, NeverWritesWhereTwoGenerationsLive) {
  const ContainerStore store;
  Recorder recorder(store.file());
  const auto writer = ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
  const SegmentId blob = add_blob(*writer, add_drum(*writer), 40 * kKiB, 0);
  must(writer->commit());
  auto previous = writer->directory();
  for (std::uint64_t i = 1; i < 30; ++i) {
    const auto current = writer->directory();
    const std::size_t before = recorder.log().operations.size();
    replace_blob(*writer, blob, 8 + i * 7919 % (80 * kKiB) / 8 * 8, i);
    must(writer->commit());
    const OperationLog log = recorder.log();
    auto live = current->live_extents();
    for (const Extent& extent : previous->live_extents()) live.push_back(extent);
    for (std::size_t k = before; k < log.operations.size(); ++k) {
      if (log.operations[k].kind != OperationKind::kWrite) continue;
      for (const Extent& extent : live) ASSERT_FALSE(overlap(log.operations[k].extent, extent));
    }
    previous = current;
  }
}

TEST(Writer, HoldsPinnedSpaceOnlyUntilTheUnpin) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId blob = add_blob(*writer, add_drum(*writer), kMiB, 0);
  must(writer->commit());
  auto reader = store.reader();
  for (std::uint64_t i = 1; i < 4; ++i) {
    replace_blob(*writer, blob, kMiB, i);
    must(writer->commit());
  }
  const std::uint64_t free_while_pinned = writer->free_bytes();
  reader.reset();
  must(writer->commit(true));
  EXPECT_GE(writer->free_bytes(), free_while_pinned + kMiB);
}

TEST(Writer, SplitsTablesAtTheirLimits) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  for (int i = 0; i < 400; ++i) add_log(*writer, drum);
  must(writer->commit());
  const auto& tables = writer->directory()->tables;
  EXPECT_EQ(tables.size(), 4U);
  for (const auto& table : tables) {
    EXPECT_LE(table->ref.segment_count, format::kTableSegmentsMax);
    EXPECT_LE(table->ref.payload_bytes, format::kTableBytesMax);
  }
}

TEST(Writer, RewritesOnlyTheTablesThatChanged) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  std::vector<SegmentId> logs;
  for (int i = 0; i < 400; ++i) logs.push_back(add_log(*writer, drum));
  must(writer->commit());
  const auto before = writer->directory();
  append(*writer, logs[200], 64, 1);
  must(writer->commit());
  const auto& after = *writer->directory();
  ASSERT_EQ(after.tables.size(), before->tables.size());
  for (std::size_t i = 0; i < after.tables.size(); ++i) {
    const bool holds = before->tables[i]->segments.front().id <= logs[200] &&
                       logs[200] <= before->tables[i]->segments.back().id;
    EXPECT_EQ(after.tables[i] == before->tables[i], !holds);
  }
}

TEST(Writer, JoinsTablesThatBecameSmall) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  std::vector<SegmentId> logs;
  for (int i = 0; i < 400; ++i) logs.push_back(add_log(*writer, drum));
  must(writer->commit());
  for (std::size_t i = 0; i < 390; ++i) writer->remove(logs[i]);
  must(writer->commit());
  EXPECT_EQ(store.reader()->directory().tables.size(), 1U);
  EXPECT_EQ(store.reader()->directory().segment_count(), 11U);
}

TEST(Writer, PutsALongListIntoTables) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  std::vector<SegmentId> blobs;
  for (std::uint64_t i = 0; i < 1000; ++i) blobs.push_back(add_blob(*writer, drum, 8, i));
  must(writer->commit());
  for (const SegmentId blob : blobs) writer->remove(blob);
  must(writer->commit());
  const auto reader = store.reader();
  EXPECT_LE(reader->directory().held.size(), format::kHeldInlineMax);
  EXPECT_GE(reader->directory().held_tables.size(), 3U);
  must(writer->commit(true));
  must(writer->commit(true));
  must(writer->commit(true));
  EXPECT_THAT(writer->directory()->held_tables, IsEmpty()) << "free again, so dissolved";
}

TEST(Writer, ReservesDisjointExtentsFromManyThreads) {
  const ContainerStore store;
  const auto writer = store.writer();
  must(writer->prepare());
  std::vector<std::vector<Extent>> extents(4);
  std::vector<std::thread> threads;
  for (auto& mine : extents) {
    threads.emplace_back([&writer, &mine] {
      for (int i = 0; i < 200; ++i) {
        mine.push_back(must(writer->reserve(4 * kKiB * static_cast<unsigned>(1 + i % 5))));
        if (i % 3 == 0) writer->release(mine.back()), mine.pop_back();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<Extent> all;
  for (const auto& mine : extents) all.insert(all.end(), mine.begin(), mine.end());
  EXPECT_TRUE(format::check_disjoint(all));
}

TEST(Writer, GivesBackTheTailOfAReservedExtent) {
  const ContainerStore store;
  const auto writer = store.writer();
  const Extent extent = must(writer->reserve(64 * kKiB));
  const std::uint64_t free = writer->free_bytes();
  writer->release({extent.offset_bytes + 16 * kKiB, 48 * kKiB});
  EXPECT_EQ(writer->free_bytes(), free + 48 * kKiB);
  writer->release({extent.offset_bytes, 16 * kKiB});
  EXPECT_EQ(writer->free_bytes(), free + 64 * kKiB);
}

TEST(Writer, ReservesFromThePlaceAskedFor) {
  const ContainerStore store;
  const auto writer = store.writer();
  const Extent first = must(writer->reserve(64 * kKiB));
  writer->release(first);
  writer->place_from(first.offset_bytes + 32 * kKiB);
  EXPECT_EQ(must(writer->reserve(4 * kKiB)).offset_bytes, first.offset_bytes + 32 * kKiB);
  const std::uint64_t size = store.size_bytes();
  must(writer->reserve(kMiB));
  EXPECT_EQ(store.size_bytes(), size + kMiB) << "grows by no more than is asked for";
}

TEST(Writer, GrowsInSteps) {
  const ContainerStore store;
  const auto writer = store.writer();
  const std::uint64_t size = store.size_bytes();
  must(writer->reserve(4 * kKiB));
  EXPECT_EQ(store.size_bytes(), size + 64 * kKiB);
}

}  // namespace
}  // namespace crawlstore::testing
