// SPDX-License-Identifier: Apache-2.0
#include "model/links_view.h"

#include <numeric>

#include <gtest/gtest.h>

#include "model/pages_plan.h"
#include "pages/linked_pages.h"
#include "support/seeded.h"

namespace crawlstore::model {
namespace {

using testing::must;

/// A database of 1,000 pages without URLs, fresh or compacted.
std::vector<PageView> linked_pages(bool is_compacted) {
  testing::SeededRandom random;
  testing::LinkedPages pages(testing::random_rows(random, 1000, 0, 1000));
  if (is_compacted) pages.compact();
  return {pages.view()};
}

Cell cell(const Table& table, std::size_t row, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return table.rows.at(row).at(i);
  }
  ADD_FAILURE() << name;
  return {};
}

double number(const Table& table, std::size_t row, std::string_view name) {
  const Cell found = cell(table, row, name);
  if (const auto* count = std::get_if<std::uint64_t>(&found)) return static_cast<double>(*count);
  return std::get<double>(found);
}

TEST(LinksView, SaysWhatLinksTakeNowAndCompacted) {
  const auto views = linked_pages(false);
  const Table links = link_directions(views).table;
  ASSERT_EQ(links.rows.size(), 2u);
  EXPECT_EQ(cell(links, 0, "direction"), Cell(std::string("out")));
  EXPECT_EQ(cell(links, 1, "direction"), Cell(std::string("in")));
  const PagesInfo& info = views.front().info();
  EXPECT_EQ(cell(links, 0, "allocated_bytes"), Cell(info.out_link_bytes));
  EXPECT_EQ(cell(links, 1, "allocated_bytes"), Cell(info.in_link_bytes));
  EXPECT_EQ(cell(links, 0, "dense_run_count"), Cell(std::uint64_t{0}));
  EXPECT_LT(number(links, 0, "compacted_bits_per_link"), number(links, 0, "bits_per_link"));
  const auto compacted = linked_pages(true);
  const Table after = link_directions(compacted).table;
  EXPECT_EQ(cell(after, 0, "dense_run_count"), Cell(std::uint64_t{1}));
  EXPECT_EQ(cell(after, 0, "compacted_bytes"), cell(after, 0, "allocated_bytes"));
  EXPECT_NEAR(number(links, 0, "compacted_bytes"), number(after, 0, "compacted_bytes"),
              number(after, 0, "compacted_bytes") / 8);
}

TEST(LinksView, TellsThePartsOfRuns) {
  for (const bool is_compacted : {false, true}) {
    const Table runs = link_runs_table(linked_pages(is_compacted));
    ASSERT_EQ(runs.rows.size(), 2u);
    const Cell codec(std::string(is_compacted ? "dense" : "fresh"));
    for (std::size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(cell(runs, row, "codec"), codec);
      const double bytes = number(runs, row, "block_bytes") + number(runs, row, "model_bytes") +
                           number(runs, row, "index_bytes") + number(runs, row, "frame_bytes");
      EXPECT_NEAR(number(runs, row, "bits_per_link") * number(runs, row, "link_count"), 8 * bytes,
                  1);
    }
  }
}

TEST(LinksView, TellsTheRowsOfDenseRuns) {
  const auto views = linked_pages(true);
  const DenseRowSums sums = must(read_dense_rows(views.front(), false));
  const Table rows = dense_rows_table({{"pages", false, sums}});
  EXPECT_EQ(cell(rows, 0, "plain_count"), Cell(sums.plain_count));
  EXPECT_EQ(cell(rows, 0, "copied_link_count"), Cell(sums.copied_link_count));
  double bits = 0;
  for (const char* part : {"type", "degree", "copy", "extra_count", "first_extra", "gap"}) {
    bits += number(rows, 0, std::string(part) + "_bits_per_link");
  }
  const auto all = std::accumulate(sums.bits.begin(), sums.bits.end(), std::uint64_t{0});
  EXPECT_NEAR(bits * static_cast<double>(sums.link_count), static_cast<double>(all), 1);
}

TEST(PagesPlan, ForetellsTheCrawlItsFiguresAreOf) {
  const auto views = linked_pages(false);
  const PagesInfo& info = views.front().info();
  const PagesFigures figures = must(figures_of(views.front()));
  const Document plan = pages_plan_view(2 * info.page_count, 2 * info.link_count, figures);
  const double now = static_cast<double>(info.key_bytes + info.origin_bytes + info.record_bytes +
                                         info.out_link_bytes + info.in_link_bytes);
  const auto fresh = std::get<std::uint64_t>(find_field(plan, "fresh_bytes")->value);
  EXPECT_NEAR(static_cast<double>(fresh), 2 * now, 10);
  const auto compacted = std::get<std::uint64_t>(find_field(plan, "compacted_bytes")->value);
  EXPECT_LT(compacted, fresh);
  const Table& parts = plan.tables.front();
  double sum = 0;
  for (std::size_t row = 0; row < parts.rows.size(); ++row) {
    sum += number(parts, row, "compacted_bytes");
  }
  EXPECT_NEAR(sum, static_cast<double>(compacted), 1);
}

TEST(PagesPlan, KnowsNoFreshLinksOfACompactedCrawl) {
  const auto views = linked_pages(true);
  const PagesFigures figures = must(figures_of(views.front()));
  EXPECT_FALSE(figures.fresh_out_bits);
  const Document plan = pages_plan_view(10, 10, figures);
  EXPECT_EQ(find_field(plan, "fresh_bytes")->value, Cell());
  EXPECT_NE(find_field(plan, "compacted_bytes")->value, Cell());
}

}  // namespace
}  // namespace crawlstore::model
