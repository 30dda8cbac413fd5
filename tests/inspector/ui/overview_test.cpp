// SPDX-License-Identifier: Apache-2.0
// The overview beside a writer: who writes, how fast, and what became of the pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;

class OverviewBesideAWriter : public ::testing::Test {
 protected:
  OverviewBesideAWriter() { commit(); }
  void commit() {
    ++round_;
    crawl_web(pages_, 3, round_ * 4, kCrawlTimeUs + static_cast<std::int64_t>(round_));
    must(pages_.merge());
    must(store_.commit());
  }
  bool shows(const std::string& text) { return shell_.app().probe().shows(text); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "live.crawl";
  Store store_ = must(Store::create(path_));
  PageDb pages_ = must(PageDb::open(store_));
  std::uint64_t round_ = 0;
  HeadlessShell shell_{{1280, 800, {}}};
};

TEST_F(OverviewBesideAWriter, DrawsPagesOverTheCommitsThatItSaw) {
  open_file(shell_, path_);
  run_step(shell_, "goto", "overview");
  EXPECT_EQ(shell_.app().probe().find("overview.pages"), nullptr);
  EXPECT_TRUE(shows("process " + std::to_string(::getpid()) + " writes"));
  for (int i = 0; i < 3; ++i) {
    commit();
    run_step(shell_, "advance", "0.25");
  }
  EXPECT_NE(shell_.app().probe().find("overview.pages"), nullptr);
  EXPECT_TRUE(shows("a commit every"));
  const auto info = pages_.status();
  EXPECT_TRUE(shows("pages " + std::to_string(info.page_count)));
  EXPECT_TRUE(shows("crawled " + std::to_string(info.crawled_count)));
  run_step(shell_, "hover", "overview.pages");
  EXPECT_TRUE(shows("Z  pages "));
}

TEST_F(OverviewBesideAWriter, CountsTheLargestHostsAgainForEachGeneration) {
  open_file(shell_, path_);
  run_step(shell_, "goto", "overview");
  EXPECT_NE(shell_.app().probe().find("overview.host.c.example"), nullptr);
  EXPECT_EQ(shell_.app().probe().find("overview.host.new.example"), nullptr);
  must(pages_.add(CrawledPage("http://new.example/", kCrawlTimeUs)));
  commit();
  run_step(shell_, "advance", "0.25");
  EXPECT_NE(shell_.app().probe().find("overview.host.new.example"), nullptr);
}

}  // namespace
}  // namespace crawlstore::testing
