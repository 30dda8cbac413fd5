// SPDX-License-Identifier: Apache-2.0
// The panel Graph with score arrays: beside a writer, and damaged ones.
#include "model/graph_scores.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;

class GraphBesideAWriter : public ::testing::Test {
 protected:
  GraphBesideAWriter() {
    crawl(4);
    must(rank_pages(store_));
    open_file(shell_, path_);
    run_step(shell_, "goto", "graph/page/0");
    run_step(shell_, "click", "graph.depth.3");
  }
  void crawl(std::uint64_t count) {
    PageDb pages = must(PageDb::open(store_));
    crawl_web(pages, 2, count, kCrawlTimeUs + static_cast<std::int64_t>(count));
    must(pages.merge());
    must(pages.close());
  }
  [[nodiscard]] std::string shown(const std::string& label) {
    const auto* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }
  [[nodiscard]] bool shows(std::string_view text) { return shell_.app().probe().shows(text); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "live.crawl";
  Store store_ = must(Store::create(path_));
  HeadlessShell shell_{{1280, 800, {}}};
};

TEST_F(GraphBesideAWriter, TellsScoreAndRankAsTheModelDoes) {
  const auto go_on = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return true; };
  const auto pages = must(PageView::open(must(store_.snapshot())));
  const auto graph =
      must(model::page_graph(pages, 0, {model::GraphDirection::kBoth, 3, 300, {}}, go_on));
  const auto scores = must(model::graph_scores(graph, must(ScoreView::open(pages)), go_on));
  for (const std::size_t node : {std::size_t{0}, graph.nodes.size() - 1}) {
    run_step(shell_, "click", "graph.node[" + std::to_string(graph.nodes[node].page) + "]");
    EXPECT_TRUE(shows(model::describe_score(scores, node))) << node;
  }
}

TEST_F(GraphBesideAWriter, MarksAStaleArrayAndThePagesThatCameSince) {
  EXPECT_FALSE(shows("no score"));
  EXPECT_EQ(shown("graph.score.array.pagerank"), "pagerank");
  crawl(8);
  run_step(shell_, "advance", "1");
  EXPECT_EQ(shown("graph.score.array.pagerank"), "pagerank (stale)");
  EXPECT_TRUE(shows("no score"));
  must(rank_pages(store_));
  run_step(shell_, "advance", "1");
  EXPECT_EQ(shown("graph.score.array.pagerank"), "pagerank");
  EXPECT_FALSE(shows("no score"));
}

TEST_F(GraphBesideAWriter, MovesNoNodeWhereACommitHasChangedNone) {
  const auto place = [this] {
    const auto* item = shell_.app().probe().find("graph.node[3]");
    return item == nullptr ? std::pair(-1.0F, -1.0F) : std::pair(item->min.x, item->min.y);
  };
  store_in_degrees(store_);  // another choice needs room
  run_step(shell_, "advance", "1");
  const auto before = place();
  EXPECT_GT(before.first, 0);
  must(rank_pages(store_, {.damping = 0.5}));
  run_step(shell_, "advance", "1");
  EXPECT_EQ(place(), before);
  run_step(shell_, "click", "graph.score.array.in_degree");
  EXPECT_EQ(place(), before);
}

TEST_F(GraphBesideAWriter, TurnsToTheUsualArrayWhenTheChosenOneGoes) {
  store_in_degrees(store_);
  run_step(shell_, "advance", "1");
  run_step(shell_, "click", "graph.node[0]");
  run_step(shell_, "click", "graph.score.array.in_degree");
  EXPECT_TRUE(shows("score:in_degree"));
  must(remove_scores(store_, "in_degree"));
  run_step(shell_, "advance", "1");
  EXPECT_TRUE(shows("score:pagerank"));
  must(remove_scores(store_, "pagerank"));
  run_step(shell_, "advance", "1");
  EXPECT_FALSE(shows("score:"));
  EXPECT_EQ(shown("graph.score.none"), "nothing") << "there is nothing to choose";
}

TEST_F(GraphBesideAWriter, KeepsTheChoiceWhenOneGoesAwayAndBack) {
  run_step(shell_, "click", "graph.score.none");
  run_step(shell_, "click", "graph.node[0]");
  EXPECT_FALSE(shows("score:pagerank"));
  run_step(shell_, "command", "show_scores");
  run_step(shell_, "command", "go_back");
  run_step(shell_, "click", "graph.node[0]");
  EXPECT_EQ(shown("graph.score.none"), "none");
  EXPECT_FALSE(shows("score:pagerank"));
}

/// A file with a score array of two chunks, the first one damaged; its last page.
std::uint64_t write_damaged(const std::string& path) {
  constexpr float kMark = 12345.678F;  // stands nowhere else
  std::uint64_t page_count = 0;
  {
    Store store = must(Store::create(path));
    PageDb pages = must(PageDb::open(store));
    const auto url = [](std::uint64_t i) { return "http://a.example/" + std::to_string(i); };
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      CrawledPage page(url(i), kCrawlTimeUs);
      page.add_link(url(i + 1));
      must(pages.add(page));
    }
    must(pages.merge());
    must(pages.close());
    const PageView view = must(PageView::open(must(store.snapshot())));
    page_count = view.info().page_count;
    must(store_scores(store, "pagerank", view, std::vector<float>(page_count, kMark)));
  }
  std::vector<std::byte> bytes = file_bytes(path);
  const auto mark = std::as_bytes(std::span(&kMark, 1));
  *std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end()) ^= std::byte{1};
  put_file(path, bytes);
  return page_count - 1;
}

TEST(GraphOfADamagedFile, StaysWithoutScoresAndSaysWhy) {
  const TemporaryFolder folder;
  const std::string path = folder / "damaged.crawl";
  const std::string last_page = std::to_string(write_damaged(path));
  HeadlessShell shell({1280, 800, {}});
  open_file(shell, path);
  run_step(shell, "goto", "graph/page/" + last_page);
  EXPECT_EQ(shell.app().probe().find("problem_segment"), nullptr);
  run_step(shell, "goto", "graph/page/0");
  EXPECT_NE(shell.app().probe().find("problem_segment"), nullptr);
  EXPECT_NE(shell.app().probe().find("graph.node[0]"), nullptr);
  run_step(shell, "click", "graph.score.none");
  EXPECT_EQ(shell.app().probe().find("problem_segment"), nullptr);
}

}  // namespace
}  // namespace crawlstore::testing
