// SPDX-License-Identifier: Apache-2.0

#include "io/create_file.h"

#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/bytes.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace crawlstore {
namespace {

using io::TemporaryKind;
using testing::bytes_of;
using testing::code_of;

Result<void> fill_with_text(Storage& storage, void*) {
  return storage.write(0, bytes_of("text"));
}

Result<void> fill_and_fail(Storage& storage, void*) {
  CRAWLSTORE_TRY(storage.write(0, bytes_of("half")));
  return fail(Errc::kCancelled, "no more");
}

class CreateFile : public ::testing::TestWithParam<TemporaryKind> {
 protected:
  Result<void> create(const std::string& path, Result<void> (*fill)(Storage&, void*),
                      void* context = nullptr) {
    return io::create_file_with(path, GetParam(), fill, context);
  }

  /// Names in the folder, temporaries included.
  [[nodiscard]] std::size_t file_count() const {
    const std::filesystem::directory_iterator begin(folder_.path());
    return static_cast<std::size_t>(std::distance(begin, {}));
  }

  testing::TemporaryFolder folder_;
};

std::string name_of_kind(const ::testing::TestParamInfo<TemporaryKind>& made) {
  if (made.param == TemporaryKind::kBest) return "Best";
  return made.param == TemporaryKind::kNameless ? "Nameless" : "Named";
}

INSTANTIATE_TEST_SUITE_P(Io, CreateFile,
                         ::testing::Values(TemporaryKind::kBest, TemporaryKind::kNameless,
                                           TemporaryKind::kNamed),
                         name_of_kind);

TEST_P(CreateFile, LeavesTheWholeFileAndNothingElse) {
  ASSERT_TRUE(create(folder_ / "new", fill_with_text));
  EXPECT_EQ(testing::file_bytes(folder_ / "new"), bytes_of("text"));
  EXPECT_EQ(file_count(), 1U);
}

TEST_P(CreateFile, KeepsAnExistingFile) {
  testing::put_file(folder_ / "old", bytes_of("old"));
  EXPECT_EQ(code_of(create(folder_ / "old", fill_with_text)), Errc::kExists);
  EXPECT_EQ(testing::file_bytes(folder_ / "old"), bytes_of("old"));
  EXPECT_EQ(file_count(), 1U);
}

TEST_P(CreateFile, KeepsAFileThatAppearsMeanwhile) {
  std::string path = folder_ / "new";
  const auto fill = [](Storage& storage, void* context) {
    testing::put_file(*static_cast<const std::string*>(context), bytes_of("rival"));
    return storage.write(0, bytes_of("text"));
  };
  EXPECT_EQ(code_of(create(path, fill, &path)), Errc::kExists);
  EXPECT_EQ(testing::file_bytes(path), bytes_of("rival"));
  EXPECT_EQ(file_count(), 1U);
}

TEST_P(CreateFile, KeepsABrokenLink) {
  ASSERT_EQ(::symlink("nowhere", (folder_ / "link").c_str()), 0);
  EXPECT_EQ(code_of(create(folder_ / "link", fill_with_text)), Errc::kExists);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "nowhere"));
}

TEST_P(CreateFile, LeavesNothingWhenFillFails) {
  EXPECT_EQ(code_of(create(folder_ / "new", fill_and_fail)), Errc::kCancelled);
  EXPECT_EQ(file_count(), 0U);
}

TEST_P(CreateFile, ShowsNothingAtThePathWhileItFills) {
  std::string path = folder_ / "new";
  const auto fill = [](Storage& storage, void* context) -> Result<void> {
    if (std::filesystem::exists(*static_cast<const std::string*>(context))) {
      return fail(Errc::kExists, "too early");
    }
    return storage.write(0, bytes_of("text"));
  };
  EXPECT_TRUE(create(path, fill, &path));
}

TEST_P(CreateFile, LeavesNothingAtThePathOfAKilledProcess) {
  testing::WaitingChild child([&] {
    const auto fill = [](Storage& storage, void*) -> Result<void> {
      CRAWLSTORE_TRY(storage.write(0, bytes_of("half")));
      ::kill(::getpid(), SIGKILL);
      return {};
    };
    return create(folder_ / "new", fill).has_value();
  });
  EXPECT_FALSE(child.is_ready());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
  EXPECT_EQ(file_count(), GetParam() == TemporaryKind::kNamed ? 1U : 0U);
}

TEST_P(CreateFile, ReportsAMissingFolder) {
  EXPECT_EQ(code_of(create(folder_ / "none/new", fill_with_text)), Errc::kNotFound);
}

TEST_P(CreateFile, ReportsAFolderWithoutPermission) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  const int exit_code = testing::run_in_child([&] {
    if (::getuid() == 0 && !testing::become_nobody()) return 1;
    return code_of(create(folder_ / "new", fill_with_text)) == Errc::kPermission ? 0 : 2;
  });
  EXPECT_EQ(exit_code, 0);
}

TEST_P(CreateFile, RespectsTheUmask) {
  const mode_t earlier = ::umask(027);
  ASSERT_TRUE(create(folder_ / "new", fill_with_text));
  ::umask(earlier);
  struct stat status = {};
  ASSERT_EQ(::stat((folder_ / "new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_P(CreateFile, GivesFillAWholeStorage) {
  const auto fill = [](Storage& storage, void*) -> Result<void> {
    CRAWLSTORE_TRY(storage.check_path());
    CRAWLSTORE_TRY(storage.lock_writer(0));
    CRAWLSTORE_TRY(storage.pin({1}));
    CRAWLSTORE_TRY(storage.allocate({0, 8192}));
    CRAWLSTORE_TRY(storage.view({4096, 4096}));
    return storage.sync();
  };
  const auto created = create(folder_ / "new", fill);
  EXPECT_TRUE(created) << describe(created.error());
}

TEST_P(CreateFile, LeavesNoLocksOnTheNewFile) {
  const auto fill = [](Storage& storage, void*) { return storage.lock_writer(0); };
  ASSERT_TRUE(create(folder_ / "new", fill));
  auto storage = open_storage(folder_ / "new", OpenMode::kWrite);
  ASSERT_TRUE(storage);
  EXPECT_TRUE((*storage)->lock_writer(0));
}

TEST_P(CreateFile, LetsOneOfManyRivalsWin) {
  std::atomic<int> winner_count = 0;
  std::vector<std::thread> rivals;
  for (int rival = 0; rival < 4; ++rival) {
    rivals.emplace_back([&] {
      const auto created = create(folder_ / "new", fill_with_text);
      winner_count += created ? 1 : 0;
      EXPECT_TRUE(created || created.error().code == Errc::kExists);
    });
  }
  for (std::thread& rival : rivals) rival.join();
  EXPECT_EQ(winner_count, 1);
  EXPECT_EQ(file_count(), 1U);
}

}  // namespace
}  // namespace crawlstore
