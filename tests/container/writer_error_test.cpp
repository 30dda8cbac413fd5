// SPDX-License-Identifier: Apache-2.0
//
// The actions of a Writer and their order, and its behaviour when something goes wrong.
#include <gmock/gmock.h>

#include "container/container_store.h"
#include "container/superblocks.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using container::Writer;
using ::testing::ElementsAre;

/// A store with a drum and a blob, on a recorder.
class RecordedStore {
 public:
  RecordedStore() : recorder(store.file()) {
    const auto writer = ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
    drum = add_drum(*writer);
    blob = add_blob(*writer, drum, 40 * kKiB, 0);
    must(writer->commit());
  }
  std::unique_ptr<Writer> writer() {
    return ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
  }
  Result<std::unique_ptr<Writer>> try_writer() {
    return Writer::open(recorder.open(OpenMode::kWrite), fixed_time());
  }

  ContainerStore store;
  Recorder recorder;
  SegmentId drum;
  SegmentId blob;
};

/// "data", "slot <s>.<c>", "sync" for the operations from `before` on; repeated words once.
std::vector<std::string> steps(const OperationLog& log, std::size_t before) {
  std::vector<std::string> words;
  for (std::size_t i = before; i < log.operations.size(); ++i) {
    const Operation& operation = log.operations[i];
    std::string word = "data";
    if (operation.kind == OperationKind::kAllocate) continue;
    if (operation.kind == OperationKind::kSync) word = "sync";
    if (operation.kind == OperationKind::kWrite && operation.extent.offset_bytes < 80 * kKiB) {
      const auto index = operation.extent.offset_bytes / (16 * kKiB) - 1;
      const auto& place = format::kSuperblockPlaces.at(index);
      word = "slot " + std::to_string(place.slot) + "." + std::to_string(place.copy);
    }
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  return words;
}

TEST(WriterError, RefusesMoreRunsThanALogMayHave) {
  ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  must(writer->commit());
  const SegmentId log = writer->new_segment_id();
  std::vector<format::RunRef> runs;
  for (std::uint32_t i = 0; i <= format::kRunsPerLogMax; ++i) {
    runs.push_back(
        write_random(*writer, {log, SegmentKind::kDrumKeyLog, drum, writer->new_run_ids(1)}, 8, i));
  }
  writer->put({log, SegmentKind::kDrumKeyLog, StorageClass::kLog, drum, {}, runs});
  const auto committed = writer->commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Errc::kTooLarge);
  EXPECT_EQ(committed.error().segment, log);
  writer->release(runs.back().extent());
  runs.pop_back();
  writer->put({log, SegmentKind::kDrumKeyLog, StorageClass::kLog, drum, {}, runs});
  must(writer->commit());
  EXPECT_EQ(store.reader()->directory().find(log)->runs.size(), format::kRunsPerLogMax);
}

TEST(WriterError, RefusesAStoreWithoutIds) {
  ContainerStore store;
  {
    const auto writer = store.writer();
    (void)writer->new_run_ids(std::uint64_t{1} << 63);
    add_drum(*writer);
    must(writer->commit());
  }
  const auto writer = Writer::open(store.storage(OpenMode::kWrite), fixed_time());
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, Errc::kTooLarge);
  EXPECT_TRUE(store.try_reader());
}

// spec: commit.md#commit rules 6 to 9
TEST(WriterOrder, KeepsTheStepsOfACommit) {
  RecordedStore recorded;
  const auto writer = recorded.writer();
  must(writer->prepare());
  const std::size_t before = recorded.recorder.log().operations.size();
  replace_blob(*writer, recorded.blob, 8 * kKiB, 1);
  must(writer->commit());
  EXPECT_THAT(steps(recorded.recorder.log(), before),
              ElementsAre("data", "sync", "slot 1.0", "sync", "slot 1.1"));
}

// spec: commit.md#commit rule 2
TEST(WriterOrder, SettlesBeforeItsFirstWrite) {
  RecordedStore recorded;
  const auto writer = recorded.writer();
  const std::size_t before = recorded.recorder.log().operations.size();
  replace_blob(*writer, recorded.blob, 8 * kKiB, 1);
  EXPECT_THAT(steps(recorded.recorder.log(), before),
              ElementsAre("sync", "slot 0.1", "sync", "slot 0.0", "sync", "data"));
}

TEST(WriterOrder, SettlesOnce) {
  RecordedStore recorded;
  const auto writer = recorded.writer();
  must(writer->prepare());
  must(writer->commit(true));
  const std::size_t before = recorded.recorder.log().operations.size();
  must(writer->prepare());
  must(writer->commit(true));
  EXPECT_THAT(steps(recorded.recorder.log(), before),
              ElementsAre("data", "sync", "slot 0.0", "sync", "slot 0.1"));
}

// spec: commit.md#commit rule 5
TEST(WriterOrder, AllocatesBeforeItWrites) {
  RecordedStore recorded;
  const auto writer = recorded.writer();
  const std::size_t before = recorded.recorder.log().operations.size();
  replace_blob(*writer, recorded.blob, 300 * kKiB, 1);
  must(writer->commit());
  const OperationLog log = recorded.recorder.log();
  std::vector<Extent> allocated;
  for (std::size_t i = before; i < log.operations.size(); ++i) {
    const Operation& operation = log.operations[i];
    if (operation.kind == OperationKind::kAllocate) allocated.push_back(operation.extent);
    if (operation.kind != OperationKind::kWrite) continue;
    if (operation.extent.offset_bytes < 80 * kKiB) continue;
    EXPECT_TRUE(std::any_of(allocated.begin(), allocated.end(), [&](const Extent& extent) {
      return extent.offset_bytes <= operation.extent.offset_bytes &&
             operation.extent.end_bytes() <= extent.end_bytes();
    })) << describe(operation);
  }
}

// spec: commit.md#commit rule 4
TEST(WriterError, RefusesToWriteWhileALostGenerationIsPinned) {
  RecordedStore recorded;
  const auto reader = recorded.store.storage(OpenMode::kRead);
  must(reader->pin({3}));
  const auto writer = recorded.writer();
  EXPECT_EQ(code_of(writer->commit(true)), Errc::kBusyPinned);
  reader->unpin({3});
  EXPECT_EQ(must(writer->commit(true)).value, 3U);
}

// spec: commit.md#commit rule 1
TEST(WriterError, RefusesAFileThatShowsAnotherGenerationByNow) {
  RecordedStore recorded;
  const auto writer = recorded.writer();
  auto later = writer->directory()->superblock;
  later.generation = 4;
  const auto other = recorded.store.storage(OpenMode::kWrite);
  must(container::write_superblock(*other, later, writer->identity().uuid, 0, 0));
  EXPECT_EQ(code_of(writer->prepare()), Errc::kReplaced);
  EXPECT_TRUE(writer->poisoned());
}

// spec: commit.md#commit rule 11
TEST(WriterError, StaysPoisonedAfterAFailedSync) {
  for (const std::uint64_t nth : {1UL, 2UL}) {
    RecordedStore recorded;
    const auto writer = recorded.writer();
    must(writer->prepare());
    replace_blob(*writer, recorded.blob, 8 * kKiB, 1);
    recorded.recorder.inject({.calls = calls(CallKind::kSync), .nth = nth});
    EXPECT_EQ(code_of(writer->commit()), Errc::kIo);
    EXPECT_EQ(code_of(writer->commit()), Errc::kPoisoned);
    EXPECT_EQ(code_of(writer->reserve(4 * kKiB)), Errc::kPoisoned);
    EXPECT_EQ(code_of(writer->trim(0)), Errc::kPoisoned);
  }
}

// spec: commit.md#commit rule 10
TEST(WriterError, KeepsItsChangesWhenThereIsNoSpace) {
  RecordedStore recorded;
  const auto writer = recorded.writer();
  replace_blob(*writer, recorded.blob, 8 * kKiB, 1);
  recorded.recorder.inject(
      {.calls = calls(CallKind::kAllocate), .forever = true, .system_errno = ENOSPC});
  EXPECT_EQ(code_of(writer->commit()), Errc::kNoSpace);
  EXPECT_EQ(writer->directory()->generation().value, 2U);
  recorded.recorder.stop_injecting();
  EXPECT_EQ(must(writer->commit()).value, 3U);
  EXPECT_EQ(payload_of(*recorded.store.reader(), recorded.blob), random_bytes(8 * kKiB, 1));
}

TEST(WriterError, LeaksNothingWhenACommitFails) {
  RecordedStore recorded;
  const auto writer = recorded.writer();
  must(writer->prepare());
  const std::uint64_t free = writer->free_bytes();
  writer->put(*writer->directory()->find(recorded.blob));
  recorded.recorder.inject({.calls = calls(CallKind::kWrite), .nth = 2, .system_errno = ENOSPC});
  EXPECT_EQ(code_of(writer->commit()), Errc::kNoSpace);
  EXPECT_EQ(writer->free_bytes(), free);
}

TEST(WriterError, RefusesToOpenWhenASlotCannotBeRead) {
  RecordedStore recorded;
  const auto torn = recorded.store.storage(OpenMode::kWrite);
  must(torn->write(format::kSuperblockOffsets[1][0] + 100, random_bytes(8, 1)));
  recorded.recorder.inject({.calls = calls(CallKind::kRead), .nth = 5});
  const auto opened = recorded.try_writer();
  EXPECT_EQ(code_of(opened), Errc::kIo);
}

TEST(WriterError, ReportsWhatKeepsItFromOpening) {
  EXPECT_EQ(code_of(Writer::open(open_memory_storage(make_memory_file({}), OpenMode::kWrite), {})),
            Errc::kNotACrawlFile);
  const ContainerStore store;
  EXPECT_EQ(code_of(Writer::open(store.storage(OpenMode::kRead), {})), Errc::kReadOnly);
}

/// Three commits and a trim, each in its own session; the last failure, or none.
Result<void> work(RecordedStore& recorded) {
  for (std::uint64_t i = 1; i <= 3; ++i) {
    auto writer = recorded.try_writer();
    if (!writer) return tl::unexpected<Error>(writer.error());
    CRAWLSTORE_TRY((*writer)->prepare());
    const auto run = container::write_run(**writer, container::new_run(**writer, recorded.blob),
                                          random_bytes(40 * kKiB + i * 8, i), 1);
    if (!run) return tl::unexpected<Error>(run.error());
    auto entry = *(*writer)->find(recorded.blob);
    entry.runs = {*run};
    (*writer)->put(std::move(entry));
    CRAWLSTORE_TRY((*writer)->commit());
    CRAWLSTORE_TRY((*writer)->trim(0));
  }
  return {};
}

void check_whole(RecordedStore& recorded) {
  const auto report = recorded.store.verified();
  EXPECT_FALSE(report.damaged()) << text_of(report);
  const auto generation = recorded.store.reader()->directory().generation().value;
  ASSERT_GE(generation, 2U);
  const std::size_t length = generation == 2 ? 40 * kKiB : 40 * kKiB + (generation - 2) * 8;
  EXPECT_EQ(payload_of(*recorded.store.reader(), recorded.blob),
            random_bytes(length, generation - 2));
  EXPECT_TRUE(recorded.writer()->commit(true));
}

class WriterErrorLoop : public ::testing::TestWithParam<FailurePlan> {};

TEST_P(WriterErrorLoop, LeavesAWholeStoreWhicheverCallFails) {
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    RecordedStore recorded;
    FailurePlan plan = GetParam();
    plan.nth = nth;
    recorded.recorder.inject(plan);
    const auto worked = work(recorded);
    const bool failed = recorded.recorder.has_injected();
    recorded.recorder.stop_injecting();
    EXPECT_TRUE(worked || failed);
    check_whole(recorded);
    if (!failed || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plans, WriterErrorLoop,
    ::testing::Values(FailurePlan{.system_errno = EIO},
                      FailurePlan{.forever = true, .system_errno = EIO},
                      FailurePlan{.forever = true, .system_errno = ENOSPC, .short_bytes = 600},
                      FailurePlan{.calls = calls(CallKind::kSync), .evict = true},
                      FailurePlan{.calls = kEveryCall & ~kMutatingCalls},
                      FailurePlan{.calls = kEveryCall, .forever = true}));

}  // namespace
}  // namespace crawlstore::testing
