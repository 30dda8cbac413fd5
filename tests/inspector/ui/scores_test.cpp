// SPDX-License-Identifier: Apache-2.0
// The panel Scores against what the model gives.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "model/score_pairs.h"
#include "model/scores_view.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;

class ScoresPanel : public ::testing::Test {
 protected:
  ScoresPanel() {
    write_pages_file(path_, true);
    open_file(shell_, path_);
    run_step(shell_, "goto", "scores");
    run_step(shell_, "click", "scores.array.pagerank");
  }
  std::string shown(const std::string& label) {
    const auto* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }
  /// Types a range of scores.
  void choose(const std::string& from, const std::string& to) {
    run_step(shell_, "click", "scores.from");
    run_step(shell_, "type", from);
    run_step(shell_, "click", "scores.to");
    run_step(shell_, "type", to);
    run_step(shell_, "key", "Enter");
  }
  [[nodiscard]] model::RangeTop best(const model::ScoreRange& range) const {
    const auto pages = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
    const auto go_on = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return true; };
    return must(model::top_in_range(pages, must(ScoreView::open(pages)),
                                    {.range = range, .count = 10'000}, go_on));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "pages.crawl";
  HeadlessShell shell_{{1280, 800, {}}};
};

TEST_F(ScoresPanel, ListsTheBestPagesOfARangeWithTheirRanksAmongAll) {
  choose("0.01", "0.02");
  const model::RangeTop top = best({0.01, 0.02});
  ASSERT_GT(top.pages.size(), 3U);
  ASSERT_GT(top.better_count, 0U);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string row = "top[" + std::to_string(i) + "].";
    EXPECT_EQ(shown(row + "index"), std::to_string(top.pages[i].index));
    EXPECT_EQ(shown(row + "rank"), std::to_string(top.better_count + i + 1));
  }
  EXPECT_TRUE(shell_.app().probe().shows(std::to_string(top.better_count) + " better"));
  EXPECT_EQ(shown("top[" + std::to_string(top.pages.size()) + "].rank"), "nothing");
}

TEST_F(ScoresPanel, WritesTheRangeThatWasDraggedIntoTheFields) {
  run_step(shell_, "drag", "scores.bin[0] 120 0");
  const double from = std::stod(shown("scores.from"));
  const double to = std::stod(shown("scores.to"));
  EXPECT_LT(from, to);
  const model::RangeTop top = best({from, to});
  ASSERT_GT(top.pages.size(), 0U);
  EXPECT_EQ(shown("top[0].index"), std::to_string(top.pages[0].index));
}

TEST_F(ScoresPanel, ShowsTheOtherArraysWhenOneIsDamaged) {
  Extent damaged;
  {
    Store store = must(Store::open(path_));
    const PageView pages = must(PageView::open(must(store.snapshot())));
    const std::vector<float> scores(pages.info().page_count, 1);
    must(store_scores(store, "damaged", pages, scores));
    const Snapshot snapshot = must(store.snapshot());
    const auto id = must(ScoreView::open(must(PageView::open(snapshot)), "damaged")).info().id;
    const auto segments = snapshot.segments();
    damaged = std::ranges::find(segments, id, &SegmentInfo::id)->runs.front().extent;
  }
  std::vector<std::byte> bytes = file_bytes(path_);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(damaged.offset_bytes),
              damaged.length_bytes, std::byte{7});
  put_file(path_, bytes);
  run_step(shell_, "close");
  open_file(shell_, path_);
  run_step(shell_, "goto", "scores");
  EXPECT_EQ(shown("scores.array.damaged"), "nothing");
  EXPECT_TRUE(shell_.app().probe().shows("checksum"));
  EXPECT_EQ(shown("top[0].rank"), "1");
}

TEST_F(ScoresPanel, KeepsTheRangeWhenOneGoesAwayAndBack) {
  choose("0.01", "0.02");
  const std::string first = shown("top[0].index");
  run_step(shell_, "double_click", "top[0].rank");
  EXPECT_EQ(format_location(shell_.app().location()), "page_detail/page/" + first);
  run_step(shell_, "command", "go_back");
  EXPECT_EQ(shown("scores.from"), "0.01");
  EXPECT_EQ(shown("scores.to"), "0.02");
  EXPECT_EQ(shown("top[0].index"), first);
}

TEST_F(ScoresPanel, ExportsTheRange) {
  choose("0.01", "0.02");
  run_step(shell_, "command", "export " + (folder_ / "range.csv"));
  std::ifstream file(folder_ / "range.csv");
  std::size_t line_count = 0;
  for (std::string line; std::getline(file, line);) ++line_count;
  EXPECT_EQ(line_count, best({0.01, 0.02}).pages.size() + 1);
}

TEST_F(ScoresPanel, ShowsAnEmptyTableForARangeWithoutPages) {
  choose("5", "6");
  EXPECT_TRUE(shell_.app().probe().shows("the best 0 of 0 pages in the range"));
  EXPECT_EQ(shown("top[0].index"), "nothing");
  run_step(shell_, "key", "Escape");
  EXPECT_EQ(shown("top[0].rank"), "1");
}

TEST_F(ScoresPanel, ListsTheBestPagesThatAreNotCrawledYet) {
  run_step(shell_, "click", "scores.known");
  const auto pages = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
  const auto best = must(must(ScoreView::open(pages)).top(1000));
  std::size_t row = 0;
  for (std::size_t i = 0; i < best.size() && row < 5; ++i) {
    if (must(pages.state(best[i].index)) != PageState::kKnown) continue;
    const std::string label = "top[" + std::to_string(row++) + "].";
    EXPECT_EQ(shown(label + "index"), std::to_string(best[i].index));
    EXPECT_EQ(shown(label + "rank"), std::to_string(i + 1));
    EXPECT_EQ(shown(label + "state"), "known");
  }
  EXPECT_EQ(row, 5U);
  EXPECT_TRUE(shell_.app().probe().shows("pages not yet crawled"));
  run_step(shell_, "click", "scores.all_states");
  EXPECT_EQ(shown("top[0].rank"), "1");
}

TEST_F(ScoresPanel, ListsTheTopHundredth) {
  const auto pages = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
  const auto go_on = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return true; };
  const auto quantiles = must(model::score_quantiles(must(ScoreView::open(pages)), go_on)).value();
  run_step(shell_, "click", "scores.top_hundredth");
  const model::RangeTop top = best({.low = quantiles.p99});
  EXPECT_GE(top.page_count * 100, pages.info().page_count);
  EXPECT_TRUE(shell_.app().probe().shows(
      fmt::format("the best {} of {} pages in the range", top.pages.size(), top.page_count)));
  EXPECT_EQ(shown("top[0].index"), std::to_string(top.pages[0].index));
  EXPECT_EQ(shown("top[" + std::to_string(top.pages.size()) + "].index"), "nothing");
}

TEST_F(ScoresPanel, TellsHowAlikeTwoArraysAre) {
  run_step(shell_, "click", "scores.against.in_degree");
  const auto pages = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
  const auto go_on = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return true; };
  const auto found = must(model::score_pairs(
      must(ScoreView::open(pages)), must(ScoreView::open(pages, "in_degree")), 1000, go_on));
  EXPECT_TRUE(shell_.app().probe().shows(fmt::format(
      "rank correlation {:.3f} of {} pages", found.rank_correlation.value(), found.page_count)));
  for (const model::ScorePair& pair : found.pairs) {
    EXPECT_NE(shown("scores.pair[" + std::to_string(pair.index) + "]"), "nothing") << pair.index;
  }
}

}  // namespace
}  // namespace crawlstore::testing
