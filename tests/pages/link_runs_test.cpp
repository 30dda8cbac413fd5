// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/tools/link_runs.h>

#include "pages/linked_pages.h"
#include "support/bytes.h"
#include "support/recording_storage.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kPageCount = 2000;

Rows graph(SeededRandom& random) {
  return random_rows(random, kPageCount, 0, kPageCount);
}

std::uint64_t link_count(const Rows& rows) {
  std::uint64_t count = 0;
  for (const auto& [page, row] : rows) count += row.size();
  return count;
}

std::uint64_t bytes_of(const PageView& view, bool incoming) {
  std::uint64_t bytes = 0;
  for (const LinkRunInfo& run : link_runs(view)) {
    if (run.is_incoming != incoming) continue;
    EXPECT_EQ(run.block_bytes + run.model_bytes + run.index_bytes + run.frame_bytes,
              run.place.length_bytes);
    bytes += run.place.length_bytes;
  }
  return bytes;
}

TEST(LinkRuns, HaveTheBytesOfTheirSegments) {
  SeededRandom random;
  Rows rows = graph(random);
  rows[1] = {5, 6};
  LinkedPages pages(rows);
  pages.add({{1, {2}}, {kPageCount - 1, {0}}});
  const auto fresh = link_runs(pages.view());
  EXPECT_GT(fresh.size(), 3u);
  EXPECT_TRUE(std::ranges::none_of(fresh, &LinkRunInfo::is_dense));
  EXPECT_TRUE(std::ranges::any_of(fresh, &LinkRunInfo::is_gone));
  EXPECT_EQ(bytes_of(pages.view(), false), pages.view().info().out_link_bytes);
  EXPECT_EQ(bytes_of(pages.view(), true), pages.view().info().in_link_bytes);
  pages.compact();
  const auto dense = link_runs(pages.view());
  ASSERT_EQ(dense.size(), 2u);
  EXPECT_TRUE(dense[0].is_dense && dense[1].is_dense);
  EXPECT_TRUE(!dense[0].is_incoming && dense[1].is_incoming);
  EXPECT_EQ(dense[0].link_count, pages.view().info().link_count);
  EXPECT_EQ(bytes_of(pages.view(), false), pages.view().info().out_link_bytes);
  EXPECT_EQ(bytes_of(pages.view(), true), pages.view().info().in_link_bytes);
}

TEST(LinkRuns, TellWhatCodingThemHeld) {
  SeededRandom random;
  const Rows rows = graph(random);
  MemoryStore store;
  PageDb pages = must(PageDb::open(*store, PageDb::kDefaultName, without_urls()));
  add_rows(pages, rows);
  const JoinReport report = must(pages.compact());
  ASSERT_EQ(must(PageView::open(must(store->snapshot()))).info().link_count, link_count(rows));
  EXPECT_GE(report.coder_bytes_max, link_count(rows) * sizeof(std::uint64_t));
  EXPECT_LE(report.coder_bytes_max, std::uint64_t{8} << 20);
  EXPECT_EQ(must(pages.compact()).coder_bytes_max, 0U);
}

Rows rows_of(const PageView& view, bool incoming) {
  Rows rows;
  for (std::uint64_t page = 0; page < view.info().page_count; ++page) {
    rows[page] = must(incoming ? view.in_links(page) : view.out_links(page));
  }
  return rows;
}

PageView newest(const Store& store) {
  return must(PageView::open(must(store.snapshot())));
}

/// Compacts while the disk is full, and goes on. Returns how many dense runs there were then, or
/// none when the plan makes nothing fail.
std::optional<std::ptrdiff_t> goes_on(const std::vector<std::byte>& image,
                                      const FailurePlan& plan) {
  Recorder recorder(make_memory_file(image, std::uint64_t{1} << 24));
  Store store = must(Store::open(recorder.open(OpenMode::kWrite)));
  PageDb pages = must(PageDb::open(store, PageDb::kDefaultName, without_urls()));
  Rows out = rows_of(newest(store), false);
  const Rows in = rows_of(newest(store), true);
  recorder.inject(plan);
  const auto compacted = pages.compact();
  if (!recorder.has_injected()) return std::nullopt;
  recorder.stop_injecting();
  // Less growth may do if the disk is full once only.
  EXPECT_TRUE(code_of(compacted) == Errc::kNoSpace || (compacted && !plan.forever));
  const auto left = std::ranges::count_if(link_runs(newest(store)), &LinkRunInfo::is_dense);
  EXPECT_EQ(rows_of(newest(store), false), out);
  EXPECT_EQ(rows_of(newest(store), true), in);
  add_rows(pages, {{0, {1}}});
  must(pages.compact());
  EXPECT_EQ(std::ranges::count_if(link_runs(newest(store)), &LinkRunInfo::is_dense), 2);
  out[0] = {1};
  EXPECT_EQ(rows_of(newest(store), false), out);
  return left;
}

TEST(LinkRuns, StayWhereTheDiskFillsWhileDenseOnesAreWritten) {
  Rows rows;  // few, with links enough
  for (std::uint64_t page = 0; page < 72; ++page) {
    rows[page].reserve(72);
    for (std::uint64_t link = 0; link < 72; ++link) {
      if ((link + page) % 13 != 0) rows[page].push_back(link);
    }
  }
  const LinkedPages fresh(rows);
  for (const bool forever : {true, false}) {
    FailurePlan plan{
        .calls = calls(CallKind::kAllocate), .forever = forever, .system_errno = ENOSPC};
    std::vector<std::ptrdiff_t> dense_counts;
    for (; const auto left = goes_on(fresh.image(), plan); ++plan.nth) {
      dense_counts.push_back(*left);
    }
    EXPECT_TRUE(std::ranges::is_sorted(dense_counts));
    EXPECT_GT(std::ranges::count(dense_counts, 0), 0);
    EXPECT_GT(std::ranges::count(dense_counts, 1), 0);  // out-links had been joined
  }
}

TEST(LinkRuns, AreNoneWithoutPages) {
  MemoryStore store;
  must(PageDb::open(*store));
  must(store->commit());
  const PageView view = must(PageView::open(must(store->snapshot())));
  EXPECT_TRUE(link_runs(view).empty());
  EXPECT_EQ(must(read_dense_rows(view, false)).link_count, 0u);
  EXPECT_EQ(must(estimate_compacted_links(view)).out_bytes, 0u);
}

TEST(LinkRuns, SayWhatDenseRowsConsistOf) {
  SeededRandom random;
  Rows rows = graph(random);
  std::vector<std::uint64_t> hub(20'000);  // more than a block takes
  std::iota(hub.begin(), hub.end(), std::uint64_t{0});
  for (const std::uint64_t page : {std::uint64_t{700}, kPageCount / 2}) rows[page] = hub;
  for (std::uint64_t page = 31; page < 36; ++page) rows[page] = {5, 6, 7, 9, 100, 101};
  LinkedPages pages(rows);
  EXPECT_EQ(must(read_dense_rows(pages.view(), false)).link_count, 0u);
  pages.compact();
  const auto run = link_runs(pages.view()).front();
  const DenseRowSums sums = must(read_dense_rows(pages.view(), false));
  EXPECT_EQ(sums.plain_count + sums.referring_count + sums.equal_count, run.row_count);
  EXPECT_EQ(sums.link_count, link_count(rows));
  EXPECT_GE(sums.equal_count, 3u);
  EXPECT_GE(sums.copied_link_count, sums.equal_count * 6);
  EXPECT_LT(sums.copied_link_count, sums.link_count);
  const std::uint64_t bits = std::accumulate(sums.bits.begin(), sums.bits.end(), std::uint64_t{0});
  EXPECT_LE(bits, run.block_bytes * 8);
  EXPECT_GT(bits + (run.block_count + 8) * 8, run.block_bytes * 8);
}

TEST(LinkRuns, CanStopReading) {
  SeededRandom random;
  LinkedPages pages(graph(random));
  pages.compact();
  const auto stopped = read_dense_rows(pages.view(), true, [](auto, auto) { return false; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Errc::kCancelled);
}

TEST(LinkRuns, TellHowFarReadingIsUntilAllIsRead) {
  SeededRandom random;
  LinkedPages pages(graph(random));
  pages.compact();
  std::uint64_t last = 0;
  std::uint64_t end = 0;
  must(read_dense_rows(pages.view(), true, [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(last, done);
    EXPECT_LE(done, total);
    last = done;
    end = total;
    return true;
  }));
  EXPECT_GT(end, 0U);
  EXPECT_EQ(last, end);
}

TEST(LinkRuns, TakeAfterCompactionWhatWasEstimated) {
  SeededRandom random;
  LinkedPages pages(graph(random));
  pages.add(graph(random));
  const LinkBytes estimate = must(estimate_compacted_links(pages.view()));
  EXPECT_LT(estimate.out_bytes, pages.view().info().out_link_bytes);
  pages.compact();
  const PagesInfo info = pages.view().info();
  const auto expect_near = [](std::uint64_t found, std::uint64_t expected) {
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected),
                static_cast<double>(expected) / 10 + 4096);
  };
  expect_near(estimate.out_bytes, info.out_link_bytes);
  expect_near(estimate.in_bytes, info.in_link_bytes);
  const LinkBytes dense = must(estimate_compacted_links(pages.view()));
  EXPECT_EQ(dense.out_bytes, info.out_link_bytes);
  EXPECT_EQ(dense.in_bytes, info.in_link_bytes);
}

/// A wide frontier, of which few pages were crawled.
TEST(LinkRuns, TakeAfterCompactionWhatWasEstimatedWhereRowsAreFarApart) {
  SeededRandom random;
  for (const std::uint64_t distance : {64U, 100U, 500U, 2000U}) {
    Rows rows;
    for (std::uint64_t page = 0; page < 200 * distance; page += distance) {
      auto& row = rows[page];
      row.reserve(50);
      for (std::uint64_t i = 0; i < 50; ++i) row.push_back(i * distance * 4 + random.below(9));
    }
    LinkedPages pages(rows);
    const LinkBytes estimate = must(estimate_compacted_links(pages.view()));
    pages.compact();
    const PagesInfo info = pages.view().info();
    EXPECT_EQ(link_runs(pages.view()).front().is_dense, distance < 1000) << distance;
    EXPECT_NEAR(static_cast<double>(estimate.out_bytes), static_cast<double>(info.out_link_bytes),
                static_cast<double>(info.out_link_bytes) / 5 + 4096)
        << distance;
    const auto id = link_runs(pages.view()).front().id;
    pages.compact();
    EXPECT_EQ(link_runs(pages.view()).front().id, id) << "rewritten for nothing";
  }
}

}  // namespace
}  // namespace crawlstore::testing
