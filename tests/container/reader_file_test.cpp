// SPDX-License-Identifier: Apache-2.0
//
// Readers and a writer on real files: locks between processes, and files that change under them.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "container/container_store.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using container::Reader;
using container::Writer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Result<void> fill_empty(Storage& storage, void*) {
  return container::write_empty_store(storage, fixed_identity(), kTimeUs);
}

Result<std::unique_ptr<Writer>> try_writer(const std::string& path) {
  auto storage = open_storage(path, OpenMode::kWrite);
  if (!storage) return tl::unexpected<Error>(storage.error());
  return Writer::open(std::move(*storage), fixed_time());
}

Result<std::shared_ptr<Reader>> try_reader(const std::string& path,
                                           OpenMode mode = OpenMode::kRead) {
  auto storage = open_storage(path, mode);
  if (!storage) return tl::unexpected<Error>(storage.error());
  return Reader::open(std::move(*storage), {});
}

/// A file whose generation g >= 2 holds the blob with the bytes of seed g.
class ReaderFileTest : public ::testing::Test {
 protected:
  ReaderFileTest() : path_(folder_ / "store.crawl") { make_store(path_); }

  void make_store(const std::string& path) {
    must(create_file(path, fill_empty, nullptr));
    writer_ = must(try_writer(path));
    blob_ = add_blob(*writer_, add_drum(*writer_), 40 * kKiB, 2);
    must(writer_->commit());
  }
  void commit() {
    const std::uint64_t seed = writer_->directory()->generation().value + 1;
    replace_blob(*writer_, blob_, 40 * kKiB, seed);
    must(writer_->commit());
  }
  void commit_often() {
    for (int i = 0; i < 6; ++i) commit();
  }
  [[nodiscard]] bool reads(Reader& reader) const {
    const auto generation = reader.directory().generation().value;
    return payload_of(reader, blob_) == random_bytes(40 * kKiB, generation);
  }
  [[nodiscard]] std::vector<Generation> pins() const {
    return must(writer_->storage().pinned({0}, {1000}));
  }

  TemporaryFolder folder_;
  std::string path_;
  std::unique_ptr<Writer> writer_;
  SegmentId blob_;
};

TEST_F(ReaderFileTest, ReadsBesideTheWriterInOneProcess) {
  const auto reader = must(try_reader(path_));
  commit_often();
  EXPECT_TRUE(reads(*reader));
  EXPECT_THAT(pins(), ElementsAre(Generation{2}));
}

TEST_F(ReaderFileTest, KeepsItsPinWhenAnotherReaderOfTheFileIsClosed) {
  const auto reader = must(try_reader(path_));
  must(try_reader(path_)).reset();
  commit_often();
  EXPECT_TRUE(reads(*reader));
}

TEST_F(ReaderFileTest, HoldsThePinOfAnotherProcess) {
  WaitingChild child([this] {
    static const auto kReader = must(try_reader(path_));
    return true;
  });
  ASSERT_TRUE(child.is_ready());
  EXPECT_THAT(pins(), ElementsAre(Generation{2}));
  commit_often();
  EXPECT_THAT(pins(), ElementsAre(Generation{2}));
  child.kill();
  EXPECT_THAT(pins(), IsEmpty());
}

TEST_F(ReaderFileTest, LosesTheWriterLockWithItsProcess) {
  writer_.reset();
  WaitingChild child([this] {
    static const auto kWriter = must(try_writer(path_));
    return true;
  });
  ASSERT_TRUE(child.is_ready());
  EXPECT_EQ(code_of(try_writer(path_)), Errc::kLocked);
  child.kill();
  EXPECT_TRUE(try_writer(path_));
}

TEST_F(ReaderFileTest, RefusesToWorkInAForkedChild) {
  const auto reader = must(try_reader(path_));
  EXPECT_EQ(run_in_child([&] {
              if (code_of(reader->newest()) != Errc::kForked) return 1;
              if (code_of(writer_->commit(true)) != Errc::kForked) return 2;
              if (code_of(writer_->prepare()) != Errc::kForked) return 3;
              return 0;
            }),
            0);
}

TEST_F(ReaderFileTest, KeepsItsLocksWhenAForkedChildEnds) {
  auto reader = must(try_reader(path_));
  EXPECT_EQ(run_in_child([&] {
              reader.reset();
              writer_.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(code_of(try_writer(path_)), Errc::kLocked);
  EXPECT_THAT(pins(), ElementsAre(Generation{2}));
  commit_often();
  EXPECT_TRUE(reads(*reader));
}

// A child that lives on keeps what the parent has not let go of: the locks are of the description.
TEST_F(ReaderFileTest, LetsGoOfItsLocksBesideALivingChild) {
  auto reader = must(try_reader(path_));
  const WaitingChild child([] { return true; });
  reader.reset();
  EXPECT_THAT(pins(), IsEmpty());
  writer_.reset();
  EXPECT_TRUE(try_writer(path_));
}

TEST_F(ReaderFileTest, ReadsAFileThatItMayNotWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become nobody";
  std::filesystem::permissions(path_, std::filesystem::perms{0444});
  EXPECT_EQ(run_in_child([this] {
              if (!become_nobody()) return 3;
              if (code_of(open_storage(path_, OpenMode::kWrite)) != Errc::kPermission) return 2;
              const auto reader = try_reader(path_);
              return reader && reads(**reader) ? 0 : 1;
            }),
            0);
}

TEST_F(ReaderFileTest, ReadsFromAReadOnlyMount) {
  TemporaryMount mount("size=8m");
  if (!mount.is_mounted()) GTEST_SKIP() << "needs root, to mount";
  make_store(mount / "store.crawl");
  writer_.reset();
  ASSERT_TRUE(mount.make_read_only());
  const auto reader = must(try_reader(mount / "store.crawl"));
  EXPECT_TRUE(reads(*reader));
  EXPECT_EQ(code_of(try_writer(mount / "store.crawl")), Errc::kPermission);
}

// spec: commit.md#commit rule 13
TEST_F(ReaderFileTest, RefusesToCommitToAFileThatWasReplaced) {
  std::filesystem::rename(path_, folder_ / "old.crawl");
  EXPECT_EQ(code_of(writer_->commit(true)), Errc::kReplaced);
  std::filesystem::copy_file(folder_ / "old.crawl", path_);
  EXPECT_EQ(code_of(writer_->commit(true)), Errc::kReplaced);
  std::filesystem::rename(folder_ / "old.crawl", path_);
  EXPECT_TRUE(writer_->commit(true));
}

TEST_F(ReaderFileTest, RefusesToCommitToAFileWithoutAName) {
  std::filesystem::remove(path_);
  EXPECT_EQ(code_of(writer_->commit(true)), Errc::kReplaced);
}

TEST_F(ReaderFileTest, KeepsReadingAFileWithoutAName) {
  const auto reader = must(try_reader(path_));
  std::filesystem::remove(path_);
  EXPECT_TRUE(reads(*reader));
}

TEST_F(ReaderFileTest, ReportsAFileCutShortUnderIt) {
  const auto reader = must(try_reader(path_));
  const auto& run = reader->directory().find(blob_)->runs.front();
  const auto bytes = reader->run_reader(blob_, run);
  std::filesystem::resize_file(path_, run.offset_bytes + 4096);
  EXPECT_EQ(code_of(bytes->bytes(0, run.payload_bytes)), Errc::kTruncated);
}

TEST_F(ReaderFileTest, RefusesWhatIsNotACrawlFile) {
  std::ofstream(folder_ / "empty") << "";
  std::ofstream(folder_ / "text") << "not a crawl file, but long enough to hold a magic";
  for (const auto& path : {folder_.path(), folder_ / "empty", folder_ / "text"}) {
    EXPECT_EQ(code_of(try_reader(path)), Errc::kNotACrawlFile) << path;
  }
  EXPECT_EQ(code_of(try_reader(folder_ / "missing")), Errc::kNotFound);
}

}  // namespace
}  // namespace crawlstore::testing
