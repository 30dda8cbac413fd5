// SPDX-License-Identifier: Apache-2.0
// Questions of people who crawl, each answered within three actions: the scripts of
// tests/inspector/robot/questions, whose pictures stand in the README.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "inspector/golden_picture.h"
#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"

namespace crawlstore::testing {
namespace {

namespace fs = std::filesystem;
using inspector::HeadlessShell;
using inspector::parse_script;
using inspector::ScriptStep;

const std::string kQuestions =
    std::string(CRAWLSTORE_SOURCE_DIR) + "/tests/inspector/robot/questions";

std::vector<std::string> questions() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kQuestions)) {
    names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<ScriptStep> steps_of(const std::string& question) {
  std::ifstream file(kQuestions + "/" + question + ".script", std::ios::binary);
  return parse_script(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// The actions of a person: typed text belongs to the field that was clicked before.
std::size_t action_count(const std::vector<ScriptStep>& steps) {
  static const std::set<std::string> kActions{"goto", "click", "double_click", "drag", "command"};
  return static_cast<std::size_t>(std::ranges::count_if(
      steps, [](const ScriptStep& step) { return kActions.contains(step.verb); }));
}

void insert_pages(Queue& queue, std::uint64_t first, std::uint64_t end) {
  std::vector<QueuedPage> pages;
  for (std::uint64_t i = first; i < end; ++i) pages.push_back({i, 1 / static_cast<double>(2 + i)});
  must(queue.insert(pages));
}

/// In a folder: yesterday.crawl; crawl.crawl, which has more pages, most of them of c.example, and
/// a queue; and damaged.crawl, of which two places cannot be read.
void write_days(const std::string& folder) {
  MemoryStore store;
  {
    PageDb pages = must(PageDb::open(*store));
    crawl_web(pages, 6, 40, kCrawlTimeUs);
    must(pages.merge());
    must(rank_pages(*store));
    must(store->commit());
    write_image(store, folder + "/yesterday.crawl");
    crawl_web(pages, 6, 44, kCrawlTimeUs + 86'400'000'000);
    for (std::uint64_t number = 44; number < 150; ++number) {
      CrawledPage page(web_url(2, number), kCrawlTimeUs + 86'400'000'000);
      page.add_link(web_url(2, number + 150), 0.1F);
      must(pages.add(page));
    }
    must(pages.merge());
    must(pages.close());
  }
  must(rank_pages(*store));
  const PageView view = must(PageView::open(must(store->snapshot())));
  Queue queue = must(Queue::open(*store));
  insert_pages(queue, 0, view.info().page_count);
  must(queue.close());
  must(store->commit());
  write_image(store, folder + "/crawl.crawl");
}

/// A crawl of some size, in which a chunk of records and one of links are damaged.
void write_damaged(const std::string& path) {
  MemoryStore store;
  PageDb pages = must(PageDb::open(*store));
  crawl_web(pages, 3, 3000, kCrawlTimeUs);
  must(pages.merge());
  must(pages.close());
  write_image(store, path);
  for (const char* kind : {"page_records", "in_links"}) damage_longest_run(path, kind);
}

/// A writer that takes pages to fetch.
void take_some(const std::string& path) {
  Store store = must(Store::open(path));
  Queue queue = must(Queue::open(store));
  must(queue.take(60));
  must(queue.close());
  must(store.close());
}

/// Another working folder while it lives.
class InFolder {
 public:
  explicit InFolder(const std::string& path) : before_(fs::current_path()) {
    fs::current_path(path);
  }
  ~InFolder() { fs::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  fs::path before_;
};

class Questions : public ::testing::TestWithParam<std::string> {};

/// A step `commit` is one of a writer beside the window.
TEST_P(Questions, AreAnsweredWithinThreeActions) {
  const TemporaryFolder folder;
  const auto steps = steps_of(GetParam());
  EXPECT_GE(action_count(steps), 1U);
  EXPECT_LE(action_count(steps), 3U);
  std::vector<std::string> pictures;
  {
    // The files are named without a folder, so that pictures are the same everywhere.
    const InFolder inside(folder.path());
    write_days(".");
    write_damaged("damaged.crawl");
    HeadlessShell shell({1100, 700, {}});
    for (const ScriptStep& step : steps) {
      if (step.verb == "screenshot") pictures.push_back(step.argument);
      if (step.verb == "commit") {
        take_some("crawl.crawl");
      } else {
        ASSERT_EQ(shell.run_step(step), "") << step.verb << " " << step.argument;
      }
    }
  }
  EXPECT_FALSE(pictures.empty());
  for (const std::string& name : pictures) compare_picture(folder / name, name);
}

INSTANTIATE_TEST_SUITE_P(Scripts, Questions, ::testing::ValuesIn(questions()),
                         [](const auto& question) { return question.param; });

TEST(QuestionsFolder, HasTenOfThem) {
  EXPECT_GE(questions().size(), 10U);
}

}  // namespace
}  // namespace crawlstore::testing
