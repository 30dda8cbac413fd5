// SPDX-License-Identifier: Apache-2.0
#include "container/rollback.h"

#include <algorithm>

#include <gmock/gmock.h>

#include <crawlstore/tools/verify.h>

#include "container/container_store.h"
#include "golden/crafted_file.h"

namespace crawlstore::testing {
namespace {

using container::rollback;
using container::rollback_damaged;

/// Generations 2, 3 and 4 hold the blob with the bytes of seed 2, 3 and 4.
class RollbackTest : public ::testing::Test {
 protected:
  RollbackTest() {
    const auto writer = store_.writer();
    drum_ = add_drum(*writer);
    blob_ = add_blob(*writer, drum_, 40 * kKiB, 2);
    log_ = add_log(*writer, drum_);
    append(*writer, log_, 64, 2);
    must(writer->commit());
    for (const std::uint64_t seed : {3UL, 4UL}) {
      replace_blob(*writer, blob_, 40 * kKiB, seed);
      append(*writer, log_, 64, seed);
      must(writer->commit());
    }
  }

  [[nodiscard]] Bytes blob() const { return payload_of(*store_.reader(), blob_); }
  static Bytes bytes_of_generation(std::uint64_t seed) { return random_bytes(40 * kKiB, seed); }

  /// Makes the directory of the newest generation unreadable.
  void damage_newest() const {
    const auto reader = store_.reader();
    must(store_.storage(OpenMode::kWrite)
             ->write(reader->directory().root_extent.offset_bytes + 8, random_bytes(16, 9)));
  }

  ContainerStore store_;
  SegmentId drum_;
  SegmentId blob_;
  SegmentId log_;
};

// spec: commit.md#rollback rule 1
TEST_F(RollbackTest, PublishesThePreviousContentAsANewGeneration) {
  EXPECT_EQ(must(rollback(*store_.writer())).value, 5U);
  EXPECT_EQ(blob(), bytes_of_generation(3));
  EXPECT_EQ(store_.reader()->directory().find(log_)->runs.size(), 2U);
}

// spec: commit.md#rollback rule 7
TEST_F(RollbackTest, RemembersTheNewestGenerationThatWasTakenBack) {
  const auto writer = store_.writer();
  EXPECT_EQ(writer->directory()->taken_back, Generation{});
  EXPECT_TRUE(writer->directory()->continues({4}));
  must(rollback(*writer));  // of 4
  EXPECT_EQ(writer->directory()->taken_back, Generation{4});
  must(writer->commit(true));
  const auto reader = store_.reader();
  EXPECT_EQ(reader->directory().taken_back, Generation{4});
  EXPECT_FALSE(reader->directory().continues({4}));
  EXPECT_TRUE(reader->directory().continues({5}));
  EXPECT_TRUE(reader->directory().continues({6}));
  EXPECT_FALSE(reader->directory().continues({7}));
  must(rollback(*writer));
  EXPECT_EQ(store_.reader()->directory().taken_back, Generation{6});
}

TEST_F(RollbackTest, TellsHowMuchItHasRead) {
  std::uint64_t last = 0;
  const auto tell = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(last, done);
    EXPECT_LE(done, total);
    last = done;
    return true;
  };
  must(rollback(*store_.writer(), tell));
  EXPECT_GE(last, 40 * kKiB);
  EXPECT_EQ(blob(), bytes_of_generation(3));
}

TEST_F(RollbackTest, IsStoppedAtItsFirstOrLastCall) {
  int call_count = 0;
  const auto count = [&](std::uint64_t /*done*/, std::uint64_t /*total*/) {
    ++call_count;
    return true;
  };
  must(rollback(*store_.writer(), count));
  must(rollback(*store_.writer()));  // back again
  ASSERT_EQ(blob(), bytes_of_generation(4));
  for (const int last : {1, call_count}) {
    int left = last;
    const auto stop = [&](std::uint64_t /*done*/, std::uint64_t /*total*/) { return --left > 0; };
    EXPECT_EQ(code_of(rollback(*store_.writer(), stop)), Errc::kCancelled);
    EXPECT_EQ(blob(), bytes_of_generation(4));
  }
}

/// Extents rule 3: another writer may have merged held extents that touch.
// spec: container.md#extents rule 3
TEST_F(RollbackTest, TakesPartsOffMergedHeldExtents) {
  Bytes bytes = contents(*store_.file());
  CraftedFile file(bytes);
  auto& held = file.root.held;
  std::sort(held.begin(), held.end(), [](const auto& a, const auto& b) {
    return a.extent.offset_bytes < b.extent.offset_bytes;
  });
  const std::size_t count = held.size();
  for (std::size_t i = 1; i < held.size();) {
    auto& before = held[i - 1];
    if (before.extent.end_bytes() != held[i].extent.offset_bytes) {
      ++i;
      continue;
    }
    before.extent.length_bytes += held[i].extent.length_bytes;
    before.born = std::min(before.born, held[i].born);
    before.retired = std::max(before.retired, held[i].retired);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  }
  ASSERT_LT(held.size(), count);
  file.assemble();
  for (const auto offset : format::kSuperblockOffsets[1]) {  // of generation 3
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), format::kSuperblockBytes,
                file.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  const auto merged = make_memory_file(file.bytes);
  {
    const auto writer =
        must(container::Writer::open(open_memory_storage(merged, OpenMode::kWrite), fixed_time()));
    EXPECT_EQ(must(rollback(*writer)).value, 5U);
  }
  const auto storage = open_memory_storage(merged, OpenMode::kRead);
  for (const Finding& finding : must(verify(*storage, {VerifyLevel::kNormal, {}})).findings) {
    ADD_FAILURE() << describe(finding.error);
  }
}

TEST_F(RollbackTest, BringsRemovedSegmentsBack) {
  const auto writer = store_.writer();
  writer->remove(blob_);
  must(writer->commit());
  must(rollback(*writer));
  EXPECT_EQ(blob(), bytes_of_generation(4));
}

TEST_F(RollbackTest, RemovesAddedSegments) {
  const auto writer = store_.writer();
  const SegmentId added = add_blob(*writer, drum_, 64, 1);
  must(writer->commit());
  must(rollback(*writer));
  EXPECT_EQ(store_.reader()->directory().find(added), nullptr);
}

TEST_F(RollbackTest, KeepsTheBirthOfRestoredReferences) {
  container::ReaderOptions previous;
  previous.previous = true;
  const auto before = store_.reader(previous)->directory().find(blob_)->runs;
  must(rollback(*store_.writer()));
  EXPECT_EQ(store_.reader()->directory().find(blob_)->runs, before);
}

TEST_F(RollbackTest, ListsWhatItLeavesBehind) {
  const auto left = store_.reader()->directory().find(blob_)->runs.front().extent();
  must(rollback(*store_.writer()));
  bool is_listed = false;
  store_.reader()->directory().for_each_held([&](const format::HeldExtent& held) {
    if (held.extent == left) is_listed = held.retired.value == 5;
  });
  EXPECT_TRUE(is_listed);
}

TEST_F(RollbackTest, LeadsBackAndForth) {
  const auto writer = store_.writer();
  must(rollback(*writer));
  EXPECT_EQ(must(rollback(*writer)).value, 6U);
  EXPECT_EQ(blob(), bytes_of_generation(4));
}

TEST_F(RollbackTest, LeavesAWholeStore) {
  must(rollback(*store_.writer()));
  EXPECT_EQ(text_of(store_.verified()), "");
}

TEST_F(RollbackTest, GoesOnWithCommits) {
  auto writer = store_.writer();
  must(rollback(*writer));
  for (std::uint64_t seed = 20; seed < 30; ++seed) {
    replace_blob(*writer, blob_, 40 * kKiB, seed);
    must(writer->commit());
    EXPECT_EQ(blob(), bytes_of_generation(seed));
    EXPECT_EQ(text_of(store_.verified()), "");
  }
}

TEST_F(RollbackTest, DropsPendingChanges) {
  const auto writer = store_.writer();
  writer->remove(blob_);
  must(rollback(*writer));
  EXPECT_EQ(blob(), bytes_of_generation(3));
}

// spec: commit.md#rollback rule 3
TEST(Rollback, RefusesWithoutAPreviousGeneration) {
  const ContainerStore store;
  EXPECT_EQ(code_of(rollback(*store.writer())), Errc::kNoPreviousGeneration);
}

TEST_F(RollbackTest, KeepsReadersOfAllGenerationsReadable) {
  const auto writer = store_.writer();
  std::vector<std::pair<std::shared_ptr<container::Reader>, Bytes>> readers;
  const auto pin_newest = [&] {
    readers.emplace_back(store_.reader(), Bytes());
    readers.back().second = payload_of(*readers.back().first, blob_);
  };
  pin_newest();
  for (std::uint64_t round = 0; round < 6; ++round) {
    must(rollback(*writer));
    pin_newest();
    replace_blob(*writer, blob_, 40 * kKiB, 100 + round);
    must(writer->commit());
    pin_newest();
    for (const auto& [reader, content] : readers) {
      EXPECT_EQ(payload_of(*reader, blob_), content);
    }
  }
}

// spec: commit.md#rollback rule 2
TEST_F(RollbackTest, PassesOverADamagedGeneration) {
  damage_newest();
  EXPECT_EQ(must(rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time())).value, 5U);
  EXPECT_EQ(blob(), bytes_of_generation(3));
}

TEST_F(RollbackTest, GoesOnWithCommitsPastADamagedGeneration) {
  damage_newest();
  must(rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time()));
  const auto writer = store_.writer();
  replace_blob(*writer, blob_, 40 * kKiB, 7);
  EXPECT_EQ(must(writer->commit()).value, 6U);
  must(writer->commit(true));
  EXPECT_EQ(writer->directory()->taken_back, Generation{4});
  EXPECT_EQ(blob(), bytes_of_generation(7));
  EXPECT_EQ(text_of(store_.verified()), "");
}

// spec: format.md#layout rule 3
TEST_F(RollbackTest, PassesOverADamagedGenerationWhenHeldSpaceWasCutOff) {
  {
    const auto writer = store_.writer();
    const SegmentId big = add_blob(*writer, drum_, kMiB, 1);
    must(writer->commit());
    writer->remove(big);
    for (int i = 0; i < 3; ++i) must(writer->commit(true));
    must(writer->trim(0));
  }
  container::ReaderOptions previous;
  previous.previous = true;
  EXPECT_LT(must(store_.storage(OpenMode::kRead)->size()),
            store_.reader(previous)->directory().end_bytes());
  EXPECT_EQ(text_of(store_.verified()), "");
  damage_newest();
  must(rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time()));
  EXPECT_FALSE(store_.verified().damaged());
  EXPECT_EQ(blob(), bytes_of_generation(4));
}

TEST_F(RollbackTest, RefusesToPassOverAPinnedGeneration) {
  damage_newest();
  const auto reader = store_.storage(OpenMode::kRead);
  for (const std::uint64_t pinned : {4UL, 5UL}) {
    must(reader->pin({pinned}));
    EXPECT_EQ(code_of(rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time())),
              Errc::kBusyPinned);
    reader->unpin({pinned});
  }
}

TEST_F(RollbackTest, RefusesToPassOverAWholeGeneration) {
  EXPECT_EQ(code_of(rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time())),
            Errc::kInvalidArgument);
}

TEST_F(RollbackTest, RefusesWhenThePreviousGenerationIsDamagedToo) {
  container::ReaderOptions options;
  options.previous = true;
  const auto root = store_.reader(options)->directory().root_extent;
  must(store_.storage(OpenMode::kWrite)->write(root.offset_bytes, random_bytes(16, 9)));
  EXPECT_EQ(code_of(rollback(*store_.writer())), Errc::kNoPreviousGeneration);
  damage_newest();
  const auto done = rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time());
  ASSERT_EQ(code_of(done), Errc::kNoPreviousGeneration);
  EXPECT_EQ(done.error().offset, root.offset_bytes);
  EXPECT_NE(describe(done.error()).find("restore a backup"), std::string::npos);
}

TEST_F(RollbackTest, RefusesDamageThatOnlyThePreviousGenerationHas) {
  const auto extent_of_blob = [&](bool previous) {
    container::ReaderOptions options;
    options.previous = previous;
    return store_.reader(options)->directory().find(blob_)->runs.front().extent();
  };
  const auto damage = [&](Extent extent) {
    must(store_.storage(OpenMode::kWrite)->write(extent.offset_bytes + 100, random_bytes(16, 9)));
  };
  const Extent older = extent_of_blob(true);
  const Extent newer = extent_of_blob(false);
  damage(older);
  const auto done = rollback(*store_.writer());
  ASSERT_EQ(code_of(done), Errc::kNoPreviousGeneration);
  EXPECT_TRUE(older.offset_bytes <= done.error().offset && done.error().offset < older.end_bytes());
  EXPECT_EQ(blob(), bytes_of_generation(4));
  damage(newer);  // now each may be the better one
  EXPECT_EQ(must(rollback(*store_.writer())).value, 5U);
}

TEST_F(RollbackTest, RefusesWhenNoSuperblockIsWhole) {
  for (const auto& slot : format::kSuperblockOffsets) {
    for (const std::uint64_t offset : slot) {
      must(store_.storage(OpenMode::kWrite)->write(offset, random_bytes(16, 9)));
    }
  }
  const auto done = rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time());
  EXPECT_EQ(code_of(done), Errc::kNoPreviousGeneration);
}

}  // namespace
}  // namespace crawlstore::testing
