// SPDX-License-Identifier: Apache-2.0
#include "model/crawl_file.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/tools/drum_cursor.h>
#include <crawlstore/url_seen.h>

#include "golden/patch.h"
#include "support/bytes.h"
#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

namespace fs = std::filesystem;
using testing::code_of;
using testing::golden_paths;

TEST(CrawlFile, OpensEveryValidGolden) {
  for (const std::string& path : golden_paths("valid")) {
    const auto file = CrawlFile::open(path);
    ASSERT_TRUE(file) << path;
    const FileView& view = *file->view();
    const auto snapshot = Snapshot::open(path);
    ASSERT_TRUE(snapshot && view.snapshot) << path;
    EXPECT_EQ(view.problem, std::nullopt) << path;
    EXPECT_EQ(view.drums_problem, std::nullopt) << path;
    EXPECT_FALSE(view.is_previous);
    EXPECT_EQ(view.path, path);
    EXPECT_EQ(view.info.generation, snapshot->generation());
    EXPECT_EQ(view.info.file_bytes, fs::file_size(path));
    EXPECT_EQ(view.segments.size(), snapshot->segments().size());
    EXPECT_EQ(view.drums.size(), list_drums(*snapshot)->size());
    EXPECT_FALSE(file->has_news()) << path;
  }
}

/// The promise of a look at a file that Snapshot::open() refuses.
void expect_rejected(const std::string& path, const Error& error) {
  const auto file = CrawlFile::open(path);
  switch (error.code) {
    case Errc::kNotACrawlFile:
    case Errc::kNewerVersion:
    case Errc::kOlderVersion:
      EXPECT_EQ(code_of(file), error.code) << path;
      return;
    default:
      ASSERT_TRUE(file) << path;
  }
  const FileView& view = *file->view();
  EXPECT_EQ(view.problem, error) << path;
  EXPECT_EQ(view.info.file_bytes, fs::file_size(path)) << path;
  const auto previous = Snapshot::open(path, {.previous = true});
  EXPECT_EQ(view.snapshot.has_value(), previous.has_value()) << path;
  EXPECT_EQ(view.is_previous, previous.has_value()) << path;
  EXPECT_EQ(view.segments.empty(), !previous) << path;
  EXPECT_FALSE(file->has_news()) << path << ": nothing has changed since";
}

// acceptance: 8
TEST(CrawlFile, ShowsWhatIsLeftOfEveryRejectedGolden) {
  int refused_count = 0;
  for (const std::string& path : golden_paths("rejected")) {
    const auto newest = Snapshot::open(path);
    if (!newest) {
      ++refused_count;
      expect_rejected(path, newest.error());
      continue;
    }
    const auto file = CrawlFile::open(path);  // wrong deeper down: in a segment
    ASSERT_TRUE(file) << path;
    EXPECT_EQ(file->view()->problem, std::nullopt) << path;
    EXPECT_EQ(file->view()->drums_problem.has_value(), !list_drums(*newest)) << path;
  }
  EXPECT_GT(refused_count, 30);
}

// acceptance: 19
TEST(CrawlFile, SaysWhyThereIsNothingToShow) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(code_of(CrawlFile::open(folder / "none.crawl")), Errc::kNotFound);
  std::ofstream(folder / "text.crawl") << "hello";
  EXPECT_EQ(code_of(CrawlFile::open(folder / "text.crawl")), Errc::kNotACrawlFile);
  std::ofstream(folder / "empty.crawl") << "";
  EXPECT_EQ(code_of(CrawlFile::open(folder / "empty.crawl")), Errc::kNotACrawlFile);
  EXPECT_FALSE(CrawlFile::open(folder.path()));
  EXPECT_FALSE(CrawlFile::open(""));
}

/// A file that somebody writes while it is looked at.
class OpenCrawlFile : public ::testing::Test {
 protected:
  OpenCrawlFile() : store_(make(path_)), file_(*CrawlFile::open(path_)) {}

  static Store make(const std::string& path) {
    auto store = Store::create(path);
    EXPECT_TRUE(store);
    add(*store, 100);
    return std::move(*store);
  }
  /// Adds keys, in a commit or two.
  static void add(Store& store, int count) {
    auto urls = UrlSeen::open(store);
    ASSERT_TRUE(urls);
    static int number = 0;
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(urls->check_update("http://h.test/" + std::to_string(++number)));
    }
    NullDispatcher nobody;
    ASSERT_TRUE(urls->drum().merge(nobody));
  }
  /// The generations that are pinned, as somebody sees it who pins none.
  std::vector<Generation> pinned() {
    std::vector<Generation> all;
    const auto snapshot = Snapshot::open(path_, {.pin = false});
    const auto pins = *snapshot->pins();
    for (const PinInfo& pin : pins) all.push_back(pin.generation);
    return all;
  }
  Generation shown() { return file_.view()->info.generation; }
  /// A pass over all keys of a view: what a job might do while the file changes under it.
  static Result<void> read_all(const FileView& view) {
    const auto drum = DrumView::open(*view.snapshot, "urls");
    if (!drum) return tl::unexpected<Error>(drum.error());
    return drum->for_each_key([](Key16, std::span<const std::byte>) { return true; });
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "live.crawl";
  Store store_;
  CrawlFile file_;
};

// acceptance: 10
TEST_F(OpenCrawlFile, FollowsTheCommitsOfAWriter) {
  EXPECT_EQ(file_.view()->drums.at(0).key_count, 100U);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    EXPECT_FALSE(file_.has_news());
    add(store_, 10);
    EXPECT_TRUE(file_.has_news());
    const std::uint64_t number = file_.view()->number;
    file_.refresh();
    EXPECT_GT(file_.view()->number, number);
    EXPECT_EQ(shown(), store_.generation());
    EXPECT_EQ(file_.view()->drums.at(0).key_count, 100 + 10 * i);
    EXPECT_EQ(pinned(), std::vector<Generation>{shown()}) << "one pin, not one a commit";
  }
}

TEST_F(OpenCrawlFile, KeepsTheOldPinAsLongAsItsViewIsHeld) {
  auto old = file_.view();
  add(store_, 10);
  file_.refresh();
  EXPECT_EQ(pinned(), (std::vector<Generation>{old->info.generation, shown()}));
  add(store_, 1000);
  EXPECT_TRUE(read_all(*old));
  old.reset();
  EXPECT_EQ(pinned(), std::vector<Generation>{shown()});
}

TEST_F(OpenCrawlFile, ShowsTheSameAfterALookWithoutNews) {
  const Generation before = shown();
  const std::uint64_t number = file_.view()->number;
  file_.refresh();
  EXPECT_EQ(shown(), before);
  EXPECT_GT(file_.view()->number, number);
  EXPECT_EQ(pinned(), std::vector<Generation>{before});
}

// acceptance: 11
TEST_F(OpenCrawlFile, DropsItsPinAndKeepsItsValues) {
  const auto segment_count = file_.view()->segments.size();
  file_.release();
  EXPECT_TRUE(file_.is_released());
  EXPECT_TRUE(pinned().empty());
  EXPECT_FALSE(file_.view()->snapshot);
  EXPECT_EQ(file_.view()->problem, std::nullopt);
  EXPECT_EQ(file_.view()->segments.size(), segment_count);
  EXPECT_EQ(file_.view()->drums.at(0).key_count, 100U);
  EXPECT_FALSE(file_.has_news());
  add(store_, 10);
  EXPECT_TRUE(file_.has_news());
  file_.refresh();
  EXPECT_FALSE(file_.is_released());
  EXPECT_EQ(shown(), store_.generation());
  EXPECT_EQ(pinned(), std::vector<Generation>{shown()});
}

TEST_F(OpenCrawlFile, PinsNothingWhenItIsNotTo) {
  file_.release();
  auto unpinned = CrawlFile::open(path_, {.pin = false});
  ASSERT_TRUE(unpinned);
  EXPECT_TRUE(unpinned->view()->snapshot);
  EXPECT_TRUE(pinned().empty());
  add(store_, 10);
  EXPECT_TRUE(unpinned->has_news());
  unpinned->refresh();
  EXPECT_EQ(unpinned->view()->info.generation, store_.generation());
  EXPECT_TRUE(pinned().empty());
}

TEST_F(OpenCrawlFile, ReadsTheSameWithoutAMapping) {
  auto unmapped = CrawlFile::open(path_, {.mapped = false});
  ASSERT_TRUE(unmapped);
  EXPECT_EQ(unmapped->view()->drums.at(0).key_count, 100U);
  EXPECT_TRUE(read_all(*unmapped->view()));
  add(store_, 10);
  unmapped->refresh();
  EXPECT_EQ(unmapped->view()->drums.at(0).key_count, 110U);
  ASSERT_TRUE(store_.close());
  const auto old = unmapped->view();
  fs::resize_file(path_, 81'920);
  EXPECT_FALSE(read_all(*old)) << "an error, no zeros";
}

TEST_F(OpenCrawlFile, NoticesThatTheFileWasRemoved) {
  const auto old = file_.view();
  ASSERT_TRUE(store_.close());
  fs::remove(path_);
  EXPECT_TRUE(file_.has_news());
  file_.refresh();
  ASSERT_TRUE(file_.view()->problem);
  EXPECT_EQ(file_.view()->problem->code, Errc::kNotFound);
  EXPECT_EQ(file_.view()->drums.at(0).key_count, 100U) << "the last values stay";
  EXPECT_TRUE(read_all(*old)) << "whoever has it open still reads it";
  EXPECT_FALSE(file_.has_news());
  const Store again = make(path_);
  EXPECT_TRUE(file_.has_news());
  file_.refresh();
  EXPECT_EQ(file_.view()->problem, std::nullopt);
  EXPECT_EQ(shown(), again.generation());
}

TEST_F(OpenCrawlFile, NoticesThatTheFileWasReplaced) {
  const auto old = file_.view();
  ASSERT_TRUE(store_.close());
  const Store other = make(folder_ / "other.crawl");
  fs::rename(folder_ / "other.crawl", path_);
  EXPECT_TRUE(file_.has_news());
  file_.refresh();
  EXPECT_EQ(file_.view()->problem, std::nullopt);
  EXPECT_EQ(file_.view()->info.uuid, other.uuid());
  EXPECT_TRUE(read_all(*old));
  EXPECT_FALSE(file_.has_news());
}

TEST_F(OpenCrawlFile, NoticesThatTheFileBecameSomethingElse) {
  ASSERT_TRUE(store_.close());
  fs::remove(path_);
  std::ofstream(path_) << "no crawl file";
  EXPECT_TRUE(file_.has_news());
  file_.refresh();
  ASSERT_TRUE(file_.view()->problem);
  EXPECT_EQ(file_.view()->problem->code, Errc::kNotACrawlFile);
  EXPECT_FALSE(file_.view()->snapshot);
}

// acceptance: 9
TEST_F(OpenCrawlFile, SurvivesThatTheFileIsCut) {
  ASSERT_TRUE(store_.close());
  for (const std::uint64_t length : {120'000U, 81'920U, 60'000U, 20'000U, 100U, 0U}) {
    const auto old = file_.view();
    fs::resize_file(path_, length);
    EXPECT_TRUE(file_.has_news() || old->problem) << length;
    if (old->snapshot) static_cast<void>(read_all(*old));  // an error or not: no crash
    file_.refresh();
    EXPECT_TRUE(file_.view()->problem) << length;
    EXPECT_FALSE(file_.has_news()) << length;
  }
}

// acceptance: 8
TEST_F(OpenCrawlFile, SurvivesDamageWhileItIsOpen) {
  ASSERT_TRUE(store_.close());
  const auto old = file_.view();
  const auto whole = testing::file_bytes(path_);
  for (std::size_t offset = 16'384; offset < whole.size(); offset += 4096) {
    auto damaged = whole;
    for (std::size_t i = 0; i < 64; ++i) damaged[offset + i] ^= std::byte{0x55};
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
        .write(static_cast<const char*>(static_cast<const void*>(damaged.data())),
               static_cast<std::streamsize>(damaged.size()));
    static_cast<void>(read_all(*old));
    file_.refresh();
    ASSERT_NE(file_.view(), nullptr);
    EXPECT_TRUE(file_.view()->snapshot || file_.view()->problem) << offset;
  }
}

TEST_F(OpenCrawlFile, ComesBackWhenDamageIsRepaired) {
  ASSERT_TRUE(store_.close());
  const auto whole = testing::file_bytes(path_);
  auto damaged = whole;
  std::fill(damaged.begin() + 16'384, damaged.begin() + 81'920, std::byte{0x55});
  testing::put_file(path_, damaged);
  EXPECT_TRUE(file_.has_news());
  file_.refresh();
  ASSERT_TRUE(file_.view()->problem);
  EXPECT_FALSE(file_.view()->snapshot);
  testing::put_file(path_, whole);
  EXPECT_TRUE(file_.has_news());
  file_.refresh();
  EXPECT_EQ(file_.view()->problem, std::nullopt);
}

}  // namespace
}  // namespace crawlstore::model
