// SPDX-License-Identifier: Apache-2.0
// The panel Graph: where it opens, what it leaves out and says so, and what covers what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using inspector::ProbeItem;
using ::testing::HasSubstr;
using ::testing::Not;

class InspectorOfAGraph : public ::testing::Test {
 protected:
  std::string state() {
    const auto* item = shell_.app().probe().find("graph.state");
    return item == nullptr ? "nothing" : item->text;
  }
  [[nodiscard]] std::vector<const ProbeItem*> items(std::string_view prefix) {
    std::vector<const ProbeItem*> found;
    for (const ProbeItem& item : shell_.app().probe().items()) {
      if (item.label.starts_with(prefix)) found.push_back(&item);
    }
    return found;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "pages.crawl";
  HeadlessShell shell_{{1280, 800, {}}};
};

TEST_F(InspectorOfAGraph, OpensAtTheBestPage) {
  {
    Store store = must(Store::create(path_));
    PageDb pages = must(PageDb::open(store));
    crawl_web(pages, 2, 8, kCrawlTimeUs);
    CrawledPage page(web_url(1, 3), kCrawlTimeUs + 1);
    page.set_score(100);
    must(pages.add(page));
    must(pages.merge());
    must(pages.close());
    must(store.close());
  }
  const PageView view = must(PageView::open(must(Snapshot::open(path_))));
  const std::uint64_t best = must(view.find(web_url(1, 3))).value();
  ASSERT_NE(best, 0U) << "page 0 would be shown anyway";
  open_file(shell_, path_);
  run_step(shell_, "goto", "graph");
  EXPECT_THAT(state(), HasSubstr("http://b.example/page/3: "));
}

TEST_F(InspectorOfAGraph, NamesTheCentreAndTheBestInTheDensestMiddle) {
  constexpr std::uint64_t kPages = 250;
  constexpr std::uint64_t kBest = 5;
  {
    Store store = must(Store::create(path_));
    PageDb pages = must(PageDb::open(store));
    for (std::uint64_t number = 0; number < kPages; ++number) {
      CrawledPage page(web_url(0, number), kCrawlTimeUs);
      page.set_score(number <= kBest ? 100.0F - static_cast<float>(number) : 1.0F);
      // The best ones know everybody, the others their neighbours.
      for (std::uint64_t other = 0; other < kPages; ++other) {
        if (number <= kBest || other <= kBest || (number + other) % 40 == 0) {
          page.add_link(web_url(0, other));
        }
      }
      must(pages.add(page));
    }
    must(pages.merge());
    must(pages.close());
    must(store.close());
  }
  open_file(shell_, path_);
  run_step(shell_, "goto", "graph");
  EXPECT_THAT(state(), HasSubstr("250 pages"));
  const PageView view = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
  for (std::uint64_t number = 0; number <= kBest; ++number) {
    const std::uint64_t page = must(view.find(web_url(0, number))).value();
    EXPECT_EQ(items("graph.label[" + std::to_string(page) + "]").size(), 1U) << number;
  }
}

TEST_F(InspectorOfAGraph, SaysWhatItLeavesOut) {
  write_pages_file(path_);
  open_file(shell_, path_);
  run_step(shell_, "goto", "graph/page/0");
  EXPECT_THAT(state(), HasSubstr("links to what is not shown"));
  run_step(shell_, "click", "graph.depth.3");
  run_step(shell_, "click", "graph.nodes.10000");
  EXPECT_THAT(state(), HasSubstr("94 pages"));
}

TEST_F(InspectorOfAGraph, SaysThatThereIsNoSuchHost) {
  write_pages_file(path_);
  open_file(shell_, path_);
  for (const char* place : {"graph/host/none.example", "pages/host/none.example"}) {
    run_step(shell_, "goto", place);
    EXPECT_TRUE(shell_.app().probe().shows("No page is of the host none.example.")) << place;
  }
}

TEST_F(InspectorOfAGraph, PutsNoLabelOnANodeOrALabel) {
  write_pages_file(path_, true);
  open_file(shell_, path_);
  for (const char* depth : {"graph.depth.1", "graph.depth.2", "graph.depth.3"}) {
    run_step(shell_, "goto", "graph");
    run_step(shell_, "click", depth);
    const auto labels = items("graph.label");
    ASSERT_FALSE(labels.empty());
    auto others = items("graph.node");
    others.insert(others.end(), labels.begin(), labels.end());
    for (const ProbeItem* label : labels) {
      for (const ProbeItem* other : others) {
        const bool is_apart = label == other || label->max.x <= other->min.x ||
                              other->max.x <= label->min.x || label->max.y <= other->min.y ||
                              other->max.y <= label->min.y;
        EXPECT_TRUE(is_apart) << label->text << " on " << other->label;
      }
    }
  }
}

/// The last pages of a host with more pages than a first look takes link elsewhere.
TEST_F(InspectorOfAGraph, GetsBetterUntilAllPagesOfAHostWereLookedAt) {
  constexpr std::uint64_t kPages = 1500;
  {
    Store store = must(Store::create(path_));
    PageDb pages = must(PageDb::open(store));
    for (std::uint64_t i = 0; i < kPages; ++i) {
      CrawledPage page("http://large.example/" + std::to_string(i), kCrawlTimeUs);
      page.add_link("http://other" + std::to_string(i / 10) + ".example/");
      must(pages.add(page));
    }
    must(pages.merge());
    must(pages.close());
    must(store.close());
  }
  open_file(shell_, path_);
  run_step(shell_, "goto", "graph/host/large.example");
  EXPECT_THAT(state(), HasSubstr("151 hosts"));
  EXPECT_THAT(state(), Not(HasSubstr("not looked at")));
  EXPECT_THAT(state(), Not(HasSubstr("on its way")));
}

}  // namespace
}  // namespace crawlstore::testing
