// SPDX-License-Identifier: Apache-2.0

#include "support/recording_storage.h"

#include <gtest/gtest.h>

#include "support/bytes.h"
#include "support/disk_model.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kCapacityBytes = std::uint64_t{1} << 20;

class RecordingStorage : public ::testing::Test {
 protected:
  RecordingStorage() { storage_ = recorder_.open(OpenMode::kWrite); }

  std::vector<OperationKind> kinds() const {
    std::vector<OperationKind> found;
    for (const Operation& operation : recorder_.log().operations) found.push_back(operation.kind);
    return found;
  }

  std::vector<std::byte> read(std::uint64_t offset, std::size_t length_bytes) {
    return read_bytes(*storage_, offset, length_bytes);
  }

  std::shared_ptr<MemoryFile> file_ = make_memory_file(filled(8192, 1), kCapacityBytes);
  Recorder recorder_{file_};
  std::unique_ptr<Storage> storage_;
};

TEST_F(RecordingStorage, RecordsWhatChangesTheFileInOrder) {
  ASSERT_TRUE(storage_->allocate({8192, 4096}));
  ASSERT_TRUE(storage_->write(8192, bytes_of("abc")));
  recorder_.mark("middle");
  ASSERT_TRUE(storage_->sync());
  ASSERT_TRUE(storage_->punch({0, 4096}));
  ASSERT_TRUE(storage_->truncate(4096));
  EXPECT_EQ(kinds(),
            (std::vector{OperationKind::kAllocate, OperationKind::kWrite, OperationKind::kMark,
                         OperationKind::kSync, OperationKind::kPunch, OperationKind::kTruncate}));
}

TEST_F(RecordingStorage, RecordsTheBytesOfAWrite) {
  ASSERT_TRUE(storage_->write(100, bytes_of("abc")));
  const Operation operation = recorder_.log().operations.at(0);
  EXPECT_EQ(operation.extent, (Extent{100, 3}));
  EXPECT_EQ(operation.bytes, bytes_of("abc"));
  EXPECT_FALSE(operation.failed);
}

TEST_F(RecordingStorage, RecordsNothingThatChangesNothing) {
  read(0, 10);
  ASSERT_TRUE(storage_->size());
  ASSERT_TRUE(storage_->view({0, 10}));
  ASSERT_TRUE(storage_->pin({1}));
  ASSERT_TRUE(storage_->pinned({0}, {9}));
  EXPECT_TRUE(kinds().empty());
}

TEST_F(RecordingStorage, KeepsOneLogForManyStorages) {
  ASSERT_TRUE(storage_->write(0, bytes_of("a")));
  storage_.reset();
  ASSERT_TRUE(recorder_.open(OpenMode::kWrite)->write(1, bytes_of("b")));
  EXPECT_EQ(recorder_.log().operations.size(), 2U);
  EXPECT_EQ(recorder_.log().initial, filled(8192, 1));
}

TEST_F(RecordingStorage, SharesLocksAmongItsStorages) {
  ASSERT_TRUE(storage_->lock_writer(0));
  const auto other = recorder_.open(OpenMode::kWrite);
  EXPECT_EQ(code_of(other->lock_writer(0)), Errc::kLocked);
  ASSERT_TRUE(other->pin({5}));
  EXPECT_EQ(storage_->pinned({0}, {9})->size(), 1U);
}

TEST_F(RecordingStorage, FailsTheNthCallOnce) {
  recorder_.inject({.nth = 2, .system_errno = ENOSPC});
  EXPECT_TRUE(storage_->write(0, bytes_of("a")));
  EXPECT_EQ(code_of(storage_->allocate({0, 1})), Errc::kNoSpace);
  EXPECT_TRUE(recorder_.has_injected());
  EXPECT_TRUE(storage_->write(0, bytes_of("b")));
}

TEST_F(RecordingStorage, FailsFromTheNthCallOn) {
  recorder_.inject({.nth = 2, .forever = true});
  EXPECT_TRUE(storage_->write(0, bytes_of("a")));
  EXPECT_EQ(code_of(storage_->sync()), Errc::kIo);
  EXPECT_EQ(code_of(storage_->write(0, bytes_of("b"))), Errc::kIo);
  recorder_.stop_injecting();
  EXPECT_TRUE(storage_->write(0, bytes_of("c")));
}

TEST_F(RecordingStorage, FailsCallsOfTheChosenKindsOnly) {
  recorder_.inject({.calls = calls(CallKind::kSync), .nth = 1});
  EXPECT_TRUE(storage_->write(0, bytes_of("a")));
  EXPECT_EQ(recorder_.call_count(), 0U);
  EXPECT_FALSE(recorder_.has_injected());
  EXPECT_FALSE(storage_->sync());
}

TEST_F(RecordingStorage, FailsEveryKindOfCall) {
  recorder_.inject({.calls = kEveryCall, .forever = true});
  std::array<std::byte, 1> buffer = {};
  EXPECT_FALSE(storage_->size());
  EXPECT_FALSE(storage_->read(0, buffer));
  EXPECT_FALSE(storage_->write(0, buffer));
  EXPECT_FALSE(storage_->sync());
  EXPECT_FALSE(storage_->allocate({0, 1}));
  EXPECT_FALSE(storage_->truncate(0));
  EXPECT_FALSE(storage_->punch({0, 1}));
  EXPECT_FALSE(storage_->view({0, 1}));
  EXPECT_FALSE(storage_->lock_writer(0));
  EXPECT_FALSE(storage_->pin({1}));
  EXPECT_FALSE(storage_->pinned({0}, {1}));
  EXPECT_FALSE(storage_->check_path());
  EXPECT_EQ(recorder_.call_count(), kCallKindCount);
}

TEST_F(RecordingStorage, HasNoEffectWhenACallFails) {
  recorder_.inject({.forever = true});
  EXPECT_FALSE(storage_->write(0, bytes_of("abc")));
  EXPECT_FALSE(storage_->allocate({0, 10000}));
  EXPECT_FALSE(storage_->truncate(0));
  EXPECT_FALSE(storage_->punch({0, 4096}));
  EXPECT_EQ(contents(*file_), filled(8192, 1));
  EXPECT_EQ(recorder_.log().operations.size(), 4U);
  EXPECT_TRUE(recorder_.log().operations[0].bytes.empty());
}

TEST_F(RecordingStorage, WritesAPartBeforeItFails) {
  recorder_.inject({.calls = calls(CallKind::kWrite), .short_bytes = 2});
  EXPECT_FALSE(storage_->write(0, filled(5, 9)));
  EXPECT_EQ(read(0, 3), (std::vector{std::byte{9}, std::byte{9}, std::byte{1}}));
  EXPECT_EQ(recorder_.log().operations[0].bytes, filled(2, 9));
  EXPECT_TRUE(recorder_.log().operations[0].failed);
}

TEST_F(RecordingStorage, KeepsPagesReadableAfterAFailedSync) {
  ASSERT_TRUE(storage_->write(0, filled(4096, 9)));
  recorder_.inject({.calls = calls(CallKind::kSync)});
  EXPECT_FALSE(storage_->sync());
  EXPECT_EQ(read(0, 4096), filled(4096, 9));
  EXPECT_EQ(recorder_.disk(), filled(8192, 1));
}

TEST_F(RecordingStorage, LeavesLostPagesToNoLaterSync) {
  ASSERT_TRUE(storage_->write(0, filled(4096, 9)));
  recorder_.inject({.calls = calls(CallKind::kSync)});
  EXPECT_FALSE(storage_->sync());
  storage_ = recorder_.open(OpenMode::kWrite);  // a new writer
  ASSERT_TRUE(storage_->write(4096, filled(4096, 8)));
  ASSERT_TRUE(storage_->sync());
  std::vector<std::byte> expected = filled(4096, 1);
  expected.resize(8192, std::byte{8});
  EXPECT_EQ(recorder_.disk(), expected);
}

TEST_F(RecordingStorage, SyncsLostPagesThatAreWrittenAgain) {
  ASSERT_TRUE(storage_->write(0, filled(4096, 9)));
  recorder_.inject({.calls = calls(CallKind::kSync)});
  EXPECT_FALSE(storage_->sync());
  ASSERT_TRUE(storage_->write(10, filled(1, 8)));  // makes the whole page dirty
  ASSERT_TRUE(storage_->sync());
  EXPECT_EQ(recorder_.disk(), contents(*file_));
}

TEST_F(RecordingStorage, ShowsTheDiskAfterAnEviction) {
  ASSERT_TRUE(storage_->write(0, filled(8192, 9)));
  recorder_.inject({.calls = calls(CallKind::kSync)});
  EXPECT_FALSE(storage_->sync());
  ASSERT_TRUE(storage_->write(4096, filled(4096, 8)));  // dirty again: not evicted
  recorder_.evict_lost_pages();
  EXPECT_EQ(read(0, 4096), filled(4096, 1));
  EXPECT_EQ(read(4096, 4096), filled(4096, 8));
}

TEST_F(RecordingStorage, EvictsAtOnceWhenThePlanSaysSo) {
  ASSERT_TRUE(storage_->write(0, filled(4096, 9)));
  recorder_.inject({.calls = calls(CallKind::kSync), .evict = true});
  EXPECT_FALSE(storage_->sync());
  EXPECT_EQ(read(0, 4096), filled(4096, 1));
}

TEST_F(RecordingStorage, CallsTheHookBeforeTheCall) {
  std::vector<std::pair<CallKind, std::uint64_t>> seen;
  recorder_.set_hook([&](CallKind kind, Extent extent) {
    seen.emplace_back(kind, extent.offset_bytes);
    EXPECT_EQ(contents(*file_), filled(8192, 1));
  });
  ASSERT_TRUE(storage_->write(100, bytes_of("abc")));
  EXPECT_EQ(seen, (std::vector{std::pair{CallKind::kWrite, std::uint64_t{100}}}));
}

TEST_F(RecordingStorage, KeepsItsLogWhenTheRecorderEnds) {
  auto recorder = std::make_unique<Recorder>(file_);
  const auto storage = recorder->open(OpenMode::kWrite);
  recorder.reset();
  EXPECT_TRUE(storage->write(0, bytes_of("abc")));
}

/// One random call; most change something, some fail.
void step(Storage& storage, Recorder& recorder, Random& random) {
  const Extent extent{random.below(40) * 1024, random.below(12) * 1024 + 1};
  if (random.below(5) == 0) {
    recorder.inject({.nth = 1, .short_bytes = random.below(5000), .evict = random.below(3) == 0});
  }
  switch (random.below(8)) {
    case 0:
      (void)storage.sync();
      break;
    case 1:
      (void)storage.truncate(extent.offset_bytes);
      break;
    case 2:
      (void)storage.punch({extent.offset_bytes / 4096 * 4096, 8192});
      break;
    case 3:
      (void)storage.allocate(extent);
      break;
    case 4:
      recorder.evict_lost_pages();
      break;
    default:
      (void)storage.write(extent.offset_bytes, random_bytes(extent.length_bytes, random.next()));
  }
  recorder.stop_injecting();
}

TEST_F(RecordingStorage, KeepsItsModelEqualToTheFile) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Recorder recorder(make_memory_file(filled(8192, 1), kCapacityBytes));
    const auto storage = recorder.open(OpenMode::kWrite);
    Random random(seed);
    for (int turn = 0; turn < 60; ++turn) step(*storage, recorder, random);
    const OperationLog log = recorder.log();
    DiskModel model(log.initial);
    for (std::size_t index = 0; index < log.operations.size(); ++index) {
      model.apply(log.operations[index], index);
    }
    ASSERT_EQ(model.cache(), read_bytes(*storage, 0, kCapacityBytes)) << "seed " << seed;
    ASSERT_TRUE(storage->sync());
    if (model.lost_pages().empty()) {
      ASSERT_EQ(recorder.disk(), read_bytes(*storage, 0, kCapacityBytes)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
