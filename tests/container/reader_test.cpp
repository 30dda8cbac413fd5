// SPDX-License-Identifier: Apache-2.0
#include "container/reader.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "container/superblocks.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using container::Reader;
using container::ReaderOptions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ReaderOptions previous() {
  ReaderOptions options;
  options.previous = true;
  return options;
}

/// A store whose generations 2 and 3 hold the blob with the bytes of seed 2 and 3.
class ReaderTest : public ::testing::Test {
 protected:
  ReaderTest() : writer_(store_.writer()) {
    blob_ = add_blob(*writer_, add_drum(*writer_), 40 * kKiB, 2);
    must(writer_->commit());
    commit_blob(3);
  }
  void commit_blob(std::uint64_t seed) {
    replace_blob(*writer_, blob_, 40 * kKiB, seed);
    must(writer_->commit());
  }
  [[nodiscard]] std::vector<Generation> pins() const {
    return must(writer_->storage().pinned({0}, {1000}));
  }
  static Bytes bytes_of_seed(std::uint64_t seed) { return random_bytes(40 * kKiB, seed); }

  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_;
  SegmentId blob_;
};

TEST_F(ReaderTest, ReadsTheNewestGeneration) {
  EXPECT_EQ(store_.reader()->directory().generation().value, 3U);
  EXPECT_EQ(payload_of(*store_.reader(), blob_), bytes_of_seed(3));
}

TEST_F(ReaderTest, ReadsThePreviousGenerationOnRequest) {
  EXPECT_EQ(store_.reader(previous())->directory().generation().value, 2U);
  EXPECT_EQ(payload_of(*store_.reader(previous()), blob_), bytes_of_seed(2));
}

TEST_F(ReaderTest, PinsWhatItReads) {
  const auto reader = store_.reader();
  const auto other = store_.reader(previous());
  EXPECT_THAT(pins(), ElementsAre(Generation{2}, Generation{3}));
}

TEST_F(ReaderTest, LeavesNoPinBehind) {
  store_.reader().reset();
  EXPECT_THAT(pins(), IsEmpty());
}

TEST_F(ReaderTest, LeavesNoPinBehindWhenOpeningFails) {
  const auto root = writer_->directory()->root_extent;
  must(store_.storage(OpenMode::kWrite)->write(root.offset_bytes, random_bytes(16, 1)));
  EXPECT_EQ(code_of(store_.try_reader()), Errc::kDirectoryDamaged);
  EXPECT_THAT(pins(), IsEmpty());
}

TEST_F(ReaderTest, ReadsWithoutAPinOnRequest) {
  ReaderOptions options;
  options.pin = false;
  const auto reader = store_.reader(options);
  EXPECT_EQ(payload_of(*reader, blob_), bytes_of_seed(3));
  EXPECT_THAT(pins(), IsEmpty());
}

TEST_F(ReaderTest, KeepsTheOtherPinOfTwoSnapshots) {
  std::shared_ptr<Storage> storage = store_.storage(OpenMode::kRead);
  auto first = must(Reader::open(storage, {}));
  const auto second = must(Reader::open(storage, {}));
  first.reset();
  EXPECT_THAT(pins(), ElementsAre(Generation{3}));
  for (std::uint64_t seed = 4; seed < 10; ++seed) commit_blob(seed);
  EXPECT_EQ(payload_of(*second, blob_), bytes_of_seed(3));
}

// spec: commit.md#reading rule 4
TEST_F(ReaderTest, NeverFallsBackSilently) {
  const auto table = writer_->directory()->tables.front()->ref;
  must(store_.storage(OpenMode::kWrite)->write(table.offset_bytes, random_bytes(16, 1)));
  EXPECT_EQ(code_of(store_.try_reader()), Errc::kDirectoryDamaged);
  EXPECT_EQ(payload_of(*store_.reader(previous()), blob_), bytes_of_seed(2));
}

// spec: commit.md#reading rule 5
TEST_F(ReaderTest, StartsAnewWhenTheGenerationIsGoneBeforeItIsPinned) {
  Recorder recorder(store_.file());
  recorder.set_hook([&](CallKind kind, Extent) {
    if (kind != CallKind::kPin) return;
    recorder.set_hook({});
    for (std::uint64_t seed = 4; seed < 8; ++seed) commit_blob(seed);
  });
  const auto reader = must(Reader::open(recorder.open(OpenMode::kRead), {}));
  EXPECT_EQ(payload_of(*reader, blob_), bytes_of_seed(7));
  EXPECT_THAT(pins(), ElementsAre(Generation{7}));
}

TEST_F(ReaderTest, AcceptsAGenerationThatBecameThePreviousOne) {
  Recorder recorder(store_.file());
  recorder.set_hook([&](CallKind kind, Extent) {
    if (kind == CallKind::kPin) recorder.set_hook({}), commit_blob(4);
  });
  const auto reader = must(Reader::open(recorder.open(OpenMode::kRead), {}));
  EXPECT_EQ(payload_of(*reader, blob_), bytes_of_seed(3));
}

// spec: commit.md#reading rule 7
TEST_F(ReaderTest, FollowsTheNewestGeneration) {
  const auto reader = store_.reader();
  EXPECT_EQ(must(reader->newest()).value, 3U);
  commit_blob(4);
  EXPECT_EQ(must(reader->newest()).value, 4U);
}

TEST_F(ReaderTest, ReportsAGenerationThatWasTakenBack) {
  const auto reader = store_.reader();
  const auto file = store_.storage(OpenMode::kWrite);
  const Bytes zeros(4 * kKiB);
  for (const std::uint64_t offset : format::kSuperblockOffsets[1]) must(file->write(offset, zeros));
  EXPECT_EQ(code_of(reader->newest()), Errc::kReplaced);
}

TEST_F(ReaderTest, ReportsAGenerationThatCameBackWithOtherContent) {
  const auto reader = store_.reader();
  auto other = reader->directory().superblock;
  ++other.commit_time_us;
  const auto file = store_.storage(OpenMode::kWrite);
  for (const std::uint32_t copy : {0U, 1U}) {
    must(container::write_superblock(*file, other, reader->identity().uuid, 1, copy));
  }
  EXPECT_EQ(code_of(reader->newest()), Errc::kReplaced);
}

TEST_F(ReaderTest, FollowsASettledGeneration) {
  const auto reader = store_.reader();
  writer_.reset();
  must(store_.writer()->prepare());
  EXPECT_EQ(must(reader->newest()).value, 3U) << "only `pass` has changed";
}

TEST_F(ReaderTest, KeepsOneRunReaderARun) {
  const auto reader = store_.reader();
  const auto& run = reader->directory().find(blob_)->runs.front();
  EXPECT_EQ(reader->run_reader(blob_, run), reader->run_reader(blob_, run));
}

TEST_F(ReaderTest, RefusesAStoreWithoutAPreviousGeneration) {
  const ContainerStore fresh;
  EXPECT_EQ(code_of(fresh.try_reader(previous())), Errc::kNoPreviousGeneration);
}

TEST_F(ReaderTest, WritesNothing) {
  const auto reader = store_.reader();
  payload_of(*reader, blob_);
  const auto counters = reader->storage()->counters();
  EXPECT_EQ(counters.write_count + counters.sync_count + counters.allocated_bytes, 0U);
}

TEST_F(ReaderTest, ReadsWhileAWriterCommits) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const auto reader = store_.reader();
        const auto generation = reader->directory().generation().value;
        EXPECT_EQ(payload_of(*reader, blob_), bytes_of_seed(generation));
      }
    });
  }
  for (std::uint64_t seed = 4; seed < 150; ++seed) commit_blob(seed);
  done = true;
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace crawlstore::testing
