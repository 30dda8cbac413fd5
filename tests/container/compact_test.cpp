// SPDX-License-Identifier: Apache-2.0
#include "container/compact.h"

#include <map>

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using container::compact;

/// A store of blobs with known content.
class CompactTest : public ::testing::Test {
 protected:
  CompactTest() : writer_(store_.writer()) {
    drum_ = add_drum(*writer_);
    must(writer_->commit());
  }

  SegmentId add(std::size_t length) {
    const SegmentId id = add_blob(*writer_, drum_, length, length + 1);
    content_[id] = random_bytes(length, length + 1);
    return id;
  }
  void remove(SegmentId id) {
    writer_->remove(id);
    content_.erase(id);
  }
  void commit() { must(writer_->commit(true)); }

  /// Blobs of these lengths, of which every second one is removed again.
  void add_with_gaps(std::size_t count, const std::function<std::size_t(std::size_t)>& length) {
    std::vector<SegmentId> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(add(length(i)));
    commit();
    for (std::size_t i = 0; i < count; i += 2) remove(ids[i]);
    commit();
  }

  CompactReport compacted() { return must(compact(*writer_, {})); }

  [[nodiscard]] std::uint64_t live_bytes() const {
    std::uint64_t bytes = format::kDataStart;
    for (const Extent& extent : writer_->directory()->live_extents()) bytes += extent.length_bytes;
    return bytes;
  }
  void expect_content(container::Reader& reader) const {
    for (const auto& [id, bytes] : content_) EXPECT_EQ(payload_of(reader, id), bytes);
  }
  void expect_whole() const {
    expect_content(*store_.reader());
    EXPECT_EQ(text_of(store_.verified()), "");
  }

  ContainerStore store_{kMiB * 1024};
  std::unique_ptr<container::Writer> writer_;
  SegmentId drum_;
  std::map<SegmentId, Bytes> content_;
};

TEST_F(CompactTest, GivesBackTheSpaceOfRemovedSegments) {
  add_with_gaps(40, [](std::size_t i) { return 8 * (1 + i * 1000); });
  const auto report = compacted();
  EXPECT_EQ(report.file_bytes_after, store_.size_bytes());
  EXPECT_LT(report.file_bytes_after, report.file_bytes_before * 2 / 3);
  expect_whole();
}

TEST_F(CompactTest, LeavesNearlyNothingFree) {
  for (const std::size_t unit : {8UL, 3000UL, 60'000UL}) {
    add_with_gaps(60, [unit](std::size_t i) { return unit / 8 * 8 * (1 + i % 7); });
    compacted();
    EXPECT_LE(store_.size_bytes(), live_bytes() + live_bytes() / 64 + 16 * kKiB);
    expect_whole();
  }
}

TEST_F(CompactTest, ClosesGapsThatNoRunFitsInto) {
  add_with_gaps(60, [](std::size_t i) { return i % 2 == 0 ? 8 * kKiB : 200 * kKiB; });
  compacted();
  EXPECT_LE(store_.size_bytes(), live_bytes() + live_bytes() / 64 + 16 * kKiB);
  expect_whole();
}

/// The file is longer at no time, for work that must not let it grow.
TEST_F(CompactTest, ClosesGapsWithoutMoreRoom) {
  add_with_gaps(40, [](std::size_t i) { return 8 * (1 + i * 1000); });
  commit();
  const std::uint64_t before = store_.size_bytes();
  std::uint64_t highest = 0;
  const Progress note_size = [&](auto, auto) {
    highest = std::max<std::uint64_t>(highest, store_.size_bytes());
    return true;
  };
  writer_->place_from(format::kDataStart + kMiB);  // the caller's, which stays
  container::CompactionTurns alone;
  const auto report = must(container::close_gaps(*writer_, note_size, alone));
  EXPECT_EQ(writer_->place_from(std::nullopt), format::kDataStart + kMiB);
  EXPECT_LE(highest, before);
  EXPECT_EQ(report.file_bytes_after, store_.size_bytes());
  EXPECT_LT(report.file_bytes_after, live_bytes() * 5 / 4);
  expect_whole();
}

TEST_F(CompactTest, MovesRunsOfLogs) {
  const SegmentId log = add_log(*writer_, drum_);
  const SegmentId first = add(kMiB);
  for (std::uint64_t i = 0; i < 5; ++i) append(*writer_, log, 100 * kKiB, i);
  commit();
  remove(first);
  commit();
  compacted();
  EXPECT_LT(store_.size_bytes(), kMiB);
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(payload_of(*store_.reader(), log, i), random_bytes(100 * kKiB, i));
  }
}

TEST_F(CompactTest, KeepsWhatReadersPin) {
  const SegmentId gone = add(2 * kMiB);
  const SegmentId kept = add(100 * kKiB);
  commit();
  const auto reader = store_.reader();
  const auto before = content_;
  remove(gone);
  commit();
  compacted();
  expect_whole();
  for (const auto& [id, bytes] : before) EXPECT_EQ(payload_of(*reader, id), bytes);
  EXPECT_EQ(payload_of(*store_.reader(), kept), before.at(kept));
}

TEST_F(CompactTest, NeverPilesUpBehindAPin) {
  add_with_gaps(60, [](std::size_t i) { return i % 2 == 0 ? 8 * kKiB : 200 * kKiB; });
  const auto reader = store_.reader();
  const std::uint64_t size = store_.size_bytes();
  for (int i = 0; i < 5; ++i) compacted();
  EXPECT_LE(store_.size_bytes(), size);
  expect_content(*reader);
  expect_whole();
}

TEST_F(CompactTest, FinishesWhatAPinHeldUp) {
  add_with_gaps(40, [](std::size_t) { return 100 * kKiB; });
  auto reader = store_.reader();
  compacted();
  reader.reset();
  compacted();
  EXPECT_LE(store_.size_bytes(), live_bytes() + live_bytes() / 64 + 16 * kKiB);
}

/// The longest that the file was during the work.
std::uint64_t longest(const OperationLog& log) {
  std::uint64_t size = log.initial.size();
  std::uint64_t result = size;
  for (const Operation& operation : log.operations) {
    if (operation.kind == OperationKind::kTruncate) size = operation.extent.offset_bytes;
    if (operation.kind == OperationKind::kAllocate)
      size = std::max(size, operation.extent.end_bytes());
    result = std::max(result, size);
  }
  return result;
}

TEST_F(CompactTest, GrowsByNoMoreThanTheLongestRun) {
  add_with_gaps(60, [](std::size_t i) { return i % 2 == 0 ? 8 * kKiB : 200 * kKiB; });
  writer_.reset();
  Recorder recorder(store_.file());
  writer_ = ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
  const auto report = compacted();
  EXPECT_LE(longest(recorder.log()), report.file_bytes_before + 204 * kKiB + 48 * kKiB);
  expect_whole();
}

TEST_F(CompactTest, DoesNothingTheSecondTime) {
  add_with_gaps(40, [](std::size_t i) { return 8 * (1 + i * 1000); });
  const auto first = compacted();
  const auto second = compacted();
  EXPECT_LE(second.moved_bytes, 16 * kKiB);
  EXPECT_LE(second.file_bytes_after, first.file_bytes_after);
}

TEST_F(CompactTest, MovesAtMostTwiceWhatIsLive) {
  add_with_gaps(60, [](std::size_t i) { return i % 2 == 0 ? 8 * kKiB : 200 * kKiB; });
  EXPECT_LE(compacted().moved_bytes, 2 * live_bytes());
}

TEST_F(CompactTest, CompactsAnEmptyStore) {
  const ContainerStore fresh;
  const auto writer = fresh.writer();
  must(compact(*writer, {}));
  EXPECT_LE(fresh.size_bytes(), 96 * kKiB);
}

TEST_F(CompactTest, StopsWhenTold) {
  add_with_gaps(40, [](std::size_t) { return 100 * kKiB; });
  for (int calls_left = 0; calls_left < 40; ++calls_left) {
    int left = calls_left;
    const auto stopped = compact(*writer_, [&left](auto, auto) { return left-- > 0; });
    EXPECT_EQ(code_of(stopped), stopped ? Errc{} : Errc::kCancelled);
    EXPECT_FALSE(writer_->has_changes());
    expect_whole();
  }
  compacted();
  EXPECT_LE(store_.size_bytes(), live_bytes() + live_bytes() / 64 + 16 * kKiB);
}

TEST_F(CompactTest, TellsHowFarItIs) {
  add_with_gaps(40, [](std::size_t) { return 100 * kKiB; });
  std::uint64_t last = 0;
  const auto report = must(compact(*writer_, [&last](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(last, done);
    EXPECT_LE(done, total);
    last = done;
    return true;
  }));
  EXPECT_EQ(last, report.moved_bytes);
}

TEST_F(CompactTest, LeavesAWholeStoreWhicheverCallFails) {
  for (std::uint64_t nth = 1;; nth += 3) {
    ContainerStore store;
    {
      const auto writer = store.writer();
      const SegmentId drum = add_drum(*writer);
      const SegmentId gap = add_blob(*writer, drum, 100 * kKiB, 1);
      for (std::uint64_t i = 2; i < 6; ++i) add_blob(*writer, drum, 30 * kKiB, i);
      must(writer->commit());
      writer->remove(gap);
      must(writer->commit());
    }
    Recorder recorder(store.file());
    const auto writer = ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
    recorder.inject(
        {.nth = nth, .forever = nth % 2 == 0, .system_errno = nth % 3 == 0 ? EIO : ENOSPC});
    const auto report = compact(*writer, {});
    EXPECT_TRUE(report || recorder.has_injected());
    EXPECT_FALSE(store.verified().damaged()) << nth << text_of(store.verified());
    if (!recorder.has_injected()) break;
  }
}

TEST_F(CompactTest, WorksWhereTheDiskIsFull) {
  add_with_gaps(40, [](std::size_t) { return 100 * kKiB; });
  writer_.reset();
  Recorder recorder(store_.file());
  writer_ = ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
  const std::uint64_t size = store_.size_bytes();
  recorder.set_hook([&](CallKind kind, Extent extent) {
    recorder.stop_injecting();
    if (kind == CallKind::kAllocate && extent.end_bytes() > size) {
      recorder.inject({.calls = calls(CallKind::kAllocate), .system_errno = ENOSPC});
    }
  });
  EXPECT_LT(compacted().file_bytes_after, size * 2 / 3);
  expect_whole();
}

}  // namespace
}  // namespace crawlstore::testing
