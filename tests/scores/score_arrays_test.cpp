// SPDX-License-Identifier: Apache-2.0
// covers: A45, A46, A51, A52
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>

#include "pages/page_words.h"
#include "support/another_thread.h"

namespace crawlstore::testing {
namespace {

void add_page(PageDb& pages, const std::string& url, const std::vector<std::string>& links) {
  CrawledPage page(url, 1'000'000);
  for (const std::string& link : links) page.add_link(link, 0.5F);
  must(pages.add(page));
}

void add_to(Store& store, const std::string& url) {
  auto pages = must(PageDb::open(store));
  add_page(pages, url, {});
  must(pages.merge());
}

/// Three pages: all link to c.test, which links to a.test.
void add_three(Store& store) {
  auto pages = must(PageDb::open(store));
  add_page(pages, "http://a.test/", {"http://c.test/"});
  add_page(pages, "http://b.test/", {"http://c.test/"});
  add_page(pages, "http://c.test/", {"http://a.test/"});
  must(pages.merge());
}
constexpr std::uint64_t kA = 0;
constexpr std::uint64_t kC = 1;  // the first link of a.test
constexpr std::uint64_t kB = 2;

ScoreView scores_of(const Store& store, std::string_view name = ScoreView::kDefaultName) {
  return must(ScoreView::open(view_of(store), name));
}

std::vector<float> values_of(const ScoreView& scores) {
  const auto values = must(scores.floats());
  return {values.begin(), values.end()};
}

std::vector<std::string> names_in(const Store& store) {
  std::vector<std::string> names;
  for (const ScoresInfo& info : must(ScoreView::list(view_of(store)))) names.push_back(info.name);
  return names;
}

TEST(ScoreArrays, HoldWhatWasRanked) {
  MemoryStore store;
  add_three(*store);
  const RankReport report = must(rank_pages(*store));
  EXPECT_TRUE(report.converged);
  store.reopen();
  const ScoreView scores = scores_of(*store);
  const ScoresInfo& info = scores.info();
  EXPECT_EQ(info.scorer, Scorer::kPageRank);
  EXPECT_EQ(info.page_count, 3U);
  EXPECT_EQ(info.link_count, 3U);
  EXPECT_EQ(info.time_us, kFixedTimeUs);
  EXPECT_EQ(info.damping, 0.85);
  EXPECT_FALSE(info.is_stale);
  EXPECT_EQ(must(scores.residuals()), report.residuals);
  EXPECT_EQ(info.iteration_count, report.residuals.size());
  EXPECT_LT(info.residual, 1e-6);
  // x_b = t, x_c = t + .85 (x_a + x_b), x_a = t + .85 x_c with t = .05
  const std::vector<float> values = values_of(scores);
  const double c = (0.05 + 0.85 * (0.05 + 0.05)) / (1 - 0.85 * 0.85);
  EXPECT_NEAR(values[kC], c, 1e-5);
  EXPECT_NEAR(values[kA], 0.05 + 0.85 * c, 1e-5);
  EXPECT_NEAR(values[kB], 0.05, 1e-5);
  EXPECT_EQ(must(scores.score(kC)), static_cast<double>(values[kC]));
  expect_whole(store);
}

TEST(ScoreArrays, PutTheBestPagesFirst) {
  MemoryStore store;
  add_three(*store);
  must(store_scores(*store, "own", view_of(*store), std::vector<float>{2, 0, 2}));
  const ScoreView scores = scores_of(*store, "own");
  const auto top = must(scores.top(10));
  ASSERT_EQ(top.size(), 2U);  // none with 0
  EXPECT_EQ(top[0].index, 0U);
  EXPECT_EQ(top[1].index, 2U);
  EXPECT_EQ(must(scores.top(1)).size(), 1U);
  EXPECT_TRUE(must(scores.top(0)).empty());
}

TEST(ScoreArrays, AreStaleWhenPagesCame) {
  MemoryStore store;
  add_three(*store);
  must(rank_pages(*store));
  {
    auto pages = must(PageDb::open(*store));
    add_page(pages, "http://d.test/", {});
    must(pages.merge());
  }
  const ScoreView scores = scores_of(*store);
  EXPECT_TRUE(scores.info().is_stale);
  EXPECT_EQ(must(scores.score(3)), std::nullopt);
  must(rank_pages(*store));
  EXPECT_FALSE(scores_of(*store).info().is_stale);
  EXPECT_TRUE(must(scores_of(*store).score(3)).has_value());
  EXPECT_EQ(names_in(*store), std::vector<std::string>{"pagerank"});
  expect_whole(store);
}

TEST(ScoreArrays, StayForReadersOfTheGenerationBefore) {
  MemoryStore store;
  add_three(*store);
  must(rank_pages(*store));
  const ScoreView before = scores_of(*store);
  RankOptions options;
  options.damping = 0.5;
  must(rank_pages(*store, options));
  EXPECT_EQ(before.info().damping, 0.85);
  EXPECT_NE(values_of(before), values_of(scores_of(*store)));
}

TEST(ScoreArrays, HaveNamesOfTheirOwnInEachDatabase) {
  MemoryStore store;
  add_three(*store);
  {
    auto pages = must(PageDb::open(*store, "other"));
    add_page(pages, "http://x.test/", {});
    must(pages.merge());
  }
  RankOptions options;
  must(rank_pages(*store, options));
  options.name = "second";
  must(rank_pages(*store, options));
  options.database = "other";
  must(rank_pages(*store, options));
  EXPECT_EQ(names_in(*store), (std::vector<std::string>{"pagerank", "second"}));
  store.reopen();
  expect_whole(store);
  must(remove_scores(*store, "second"));
  EXPECT_EQ(names_in(*store), std::vector<std::string>{"pagerank"});
  EXPECT_EQ(must(ScoreView::list(must(PageView::open(must(store->snapshot()), "other")))).size(),
            1U);
  EXPECT_EQ(remove_scores(*store, "second").error().code, Errc::kUnknownName);
  options.database = "none";
  EXPECT_EQ(rank_pages(*store, options).error().code, Errc::kUnknownName);
  options.name = "a\nb";
  options.database = "pages";
  EXPECT_EQ(rank_pages(*store, options).error().code, Errc::kInvalidArgument);
  expect_whole(store);
}

TEST(ScoreArrays, StayWhereThePrecisionIsNotReached) {
  MemoryStore store;
  add_three(*store);
  must(rank_pages(*store));
  const Generation before = store->generation();
  RankOptions options;
  options.max_iterations = 2;
  options.is_warm = false;
  options.damping = 0.3;
  const RankReport report = must(rank_pages(*store, options));
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.residuals.size(), 2U);
  EXPECT_EQ(report.scores.page_count, 3U);
  options.progress = [](std::uint32_t, double) { return false; };
  EXPECT_EQ(rank_pages(*store, options).error().code, Errc::kCancelled);
  EXPECT_EQ(store->generation(), before);
  EXPECT_EQ(scores_of(*store).info().damping, 0.85);
}

TEST(ScoreArrays, RefuseOptionsThatMakeNoSense) {
  MemoryStore store;
  add_three(*store);
  const auto code = [&](const RankOptions& options) {
    return rank_pages(*store, options).error().code;
  };
  for (const double damping : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(code({.damping = damping}), Errc::kInvalidArgument);
  }
  EXPECT_EQ(code({.precision = -1}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.max_iterations = 0}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.max_iterations = 65'537}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.seeds = {3}}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.by_content_scores = true, .seeds = {1}}), Errc::kInvalidArgument);
}

TEST(ScoreArrays, SendTeleportsToSeeds) {
  MemoryStore store;
  add_three(*store);
  RankOptions options;
  options.seeds = {kB, kB};
  must(rank_pages(*store, options));
  const ScoreView scores = scores_of(*store);
  EXPECT_TRUE(scores.info().is_personalised);
  EXPECT_NEAR(values_of(scores)[kB], 0.15, 1e-5);
}

TEST(ScoreArrays, AreDoublesWhereFloatsCannotShowThePrecision) {
  MemoryStore store;
  add_three(*store);
  RankOptions options;
  options.precision = 1e-12;
  must(rank_pages(*store, options));
  const ScoreView scores = scores_of(*store);
  EXPECT_TRUE(scores.info().has_doubles);
  EXPECT_EQ(scores.floats().error().code, Errc::kTypeMismatch);
  const auto values = must(scores.doubles());
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 1, 1e-14);
  expect_whole(store);
  must(rank_pages(*store));  // begins with the doubles
  EXPECT_EQ(scores_of(*store).floats()->size(), 3U);
  EXPECT_EQ(scores_of(*store).doubles().error().code, Errc::kTypeMismatch);
}

TEST(ScoreArrays, BeginWithTheScoresBefore) {
  MemoryStore store;
  add_three(*store);
  const auto cold = must(rank_pages(*store)).residuals.size();
  EXPECT_LT(must(rank_pages(*store)).residuals.size(), cold);
  RankOptions options;
  options.is_warm = false;
  EXPECT_EQ(must(rank_pages(*store, options)).residuals.size(), cold);
}

TEST(ScoreArrays, RankADatabaseWithoutPagesOrLinks) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  must(store->commit());
  must(rank_pages(*store));
  EXPECT_EQ(scores_of(*store).info().page_count, 0U);
  EXPECT_TRUE(must(scores_of(*store).top(3)).empty());
  expect_whole(store);
  add_page(pages, "http://a.test/", {});
  add_page(pages, "http://b.test/", {});
  must(pages.merge());
  must(rank_pages(*store));
  EXPECT_EQ(values_of(scores_of(*store)), (std::vector<float>{0.5F, 0.5F}));
  expect_whole(store);
}

/// A scorer of one's own.
Result<void> count_in_links(Store& store) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot));
  std::vector<float> counts(pages.info().page_count);
  CRAWLSTORE_TRY(auto links, pages.links());
  while (true) {
    CRAWLSTORE_TRY(const bool more, links.next());
    if (!more) break;
    for (const std::uint64_t page : links.links()) ++counts[page];
  }
  CRAWLSTORE_TRY(store_scores(store, "in_degree", pages, counts));
  return {};
}

TEST(ScoreArrays, TakeScorersOfOnesOwn) {
  MemoryStore store;
  add_three(*store);
  must(count_in_links(*store));
  EXPECT_EQ(scores_of(*store, "in_degree").info().scorer, Scorer::kOwn);
  EXPECT_EQ(values_of(scores_of(*store, "in_degree")), (std::vector<float>{1, 2, 0}));
  expect_whole(store);
}

TEST(ScoreArrays, RefuseWhatAreNoScores) {
  MemoryStore store;
  add_three(*store);
  const Generation before = store->generation();
  const auto code = [&](const std::vector<float>& values, const std::vector<double>& residuals) {
    return store_scores(*store, "own", view_of(*store), values, residuals).error().code;
  };
  EXPECT_EQ(code({1, 2}, {}), Errc::kInvalidArgument);
  EXPECT_EQ(code({1, 2, 3, 4}, {}), Errc::kInvalidArgument);
  EXPECT_EQ(code({1, -1, 2}, {}), Errc::kInvalidArgument);
  EXPECT_EQ(code({1, std::numeric_limits<float>::infinity(), 2}, {}), Errc::kInvalidArgument);
  EXPECT_EQ(code({1, 2, 3}, {std::numeric_limits<double>::quiet_NaN()}), Errc::kInvalidArgument);
  EXPECT_EQ(code({1, 2, 3}, std::vector<double>(65'537)), Errc::kInvalidArgument);
  EXPECT_EQ(store->generation(), before);
  must(store->commit());
  expect_whole(store);
}

TEST(ScoreArrays, GoWhenPagesAreForgotten) {
  MemoryStore store;
  add_three(*store);
  must(rank_pages(*store));
  auto pages = must(PageDb::open(*store));
  EXPECT_EQ(must(pages.forget([](std::string_view) { return false; })).score_array_count, 0U);
  EXPECT_EQ(names_in(*store).size(), 1U);
  const auto report =
      must(pages.forget([](std::string_view url) { return url == "http://b.test/"; }));
  EXPECT_EQ(report.score_array_count, 1U);
  EXPECT_TRUE(names_in(*store).empty());
  expect_whole(store);
}

TEST(ScoreArrays, HaveNothingForForgottenPages) {
  MemoryStore store;
  add_three(*store);
  auto pages = must(PageDb::open(*store));
  must(pages.forget([](std::string_view url) { return url == "http://b.test/"; }));
  must(rank_pages(*store));
  const ScoreView scores = scores_of(*store);
  EXPECT_EQ(must(scores.score(kB)), 0.0);
  EXPECT_NEAR(scores.info().sum, 1, 1e-6);
  EXPECT_EQ(must(scores.top(10)).size(), 2U);
  RankOptions options;
  options.seeds = {kB};
  EXPECT_EQ(rank_pages(*store, options).error().code, Errc::kInvalidArgument);
  expect_whole(store);
  must(pages.forget([](std::string_view) { return true; }));
  EXPECT_EQ(rank_pages(*store).error().code, Errc::kInvalidArgument);
}

TEST(ScoreArrays, TakeMinusZeroForZero) {
  MemoryStore store;
  add_three(*store);
  RankOptions options;
  options.damping = -0.0;
  options.precision = -0.0;
  EXPECT_TRUE(must(rank_pages(*store, options)).converged);
  EXPECT_FALSE(std::signbit(scores_of(*store).info().damping));
  expect_whole(store);
}

TEST(ScoreArrays, GoByContentScoresThatAreNotNegative) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  RankOptions options;
  options.by_content_scores = true;
  CrawledPage page("http://b.test/", 1'000'000);
  must(pages.add(CrawledPage("http://a.test/", 1'000'000)));
  must(pages.add(page));
  must(pages.merge());
  EXPECT_EQ(rank_pages(*store, options).error().code, Errc::kInvalidArgument);  // all 0
  page.set_score(1);
  must(pages.add(page));
  must(pages.merge());
  must(rank_pages(*store, options));
  const ScoreView scores = scores_of(*store);
  EXPECT_TRUE(scores.info().is_content_weighted);
  EXPECT_EQ(values_of(scores), (std::vector<float>{0, 1}));
  page.set_score(-1);
  must(pages.add(page));
  must(pages.merge());
  const auto refused = rank_pages(*store, options);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(refused.error().offset, 1U);
}

TEST(ScoreArrays, StayWhereStoresAreCompactedAndRolledBack) {
  MemoryStore store;
  add_three(*store);
  must(rank_pages(*store));
  const auto values = values_of(scores_of(*store));
  {
    auto pages = must(PageDb::open(*store));
    must(pages.compact());
  }
  must(store->compact());
  EXPECT_EQ(values_of(scores_of(*store)), values);
  EXPECT_FALSE(scores_of(*store).info().is_stale);
  must(remove_scores(*store, "pagerank"));
  must(store->rollback());
  EXPECT_EQ(values_of(scores_of(*store)), values);
  expect_whole(store);
}

TEST(ScoreArrays, AreOfTheGenerationThatWasRead) {
  MemoryStore store;
  add_three(*store);
  auto pages = must(PageDb::open(*store));
  const Generation read = store->generation();
  RankOptions options;
  options.progress = [&](std::uint32_t iteration, double) {
    if (iteration != 1) return true;
    on_another_thread([&] {
      add_page(pages, "http://d.test/", {"http://a.test/"});
      must(pages.merge());
    });
    return true;
  };
  const RankReport report = must(rank_pages(*store, options));
  EXPECT_EQ(report.scores.generation, read);
  const ScoreView scores = scores_of(*store);
  EXPECT_TRUE(scores.info().is_stale);
  EXPECT_EQ(scores.info().page_count, 3U);
  expect_whole(store);
}

TEST(RankedPages, AreStoredWhenMorePagesCame) {
  MemoryStore store;
  add_three(*store);
  const RankedPages ranked = must(compute_rank(view_of(*store)));
  EXPECT_TRUE(ranked.report().converged);
  EXPECT_TRUE(names_in(*store).empty());
  add_to(*store, "http://d.test/");
  EXPECT_EQ(must(store_ranked(*store, ranked)).scores.page_count, 3U);
  EXPECT_TRUE(scores_of(*store).info().is_stale);
  expect_whole(store);
  must(store_ranked(*store, ranked));
  EXPECT_EQ(names_in(*store).size(), 1U);
}

TEST(RankedPages, AreNotStoredWhenPagesWereForgotten) {
  MemoryStore store;
  add_three(*store);
  const RankedPages ranked = must(compute_rank(view_of(*store)));
  {
    auto pages = must(PageDb::open(*store));
    must(pages.forget([](std::string_view url) { return url == "http://b.test/"; }));
  }
  add_to(*store, "http://d.test/");
  EXPECT_EQ(store_ranked(*store, ranked).error().code, Errc::kUnknownName);
  EXPECT_TRUE(names_in(*store).empty());
  must(store_ranked(*store, must(compute_rank(view_of(*store)))));
  expect_whole(store);
}

TEST(RankedPages, AreNotStoredWhenTheirPagesWereTakenBack) {
  MemoryStore store;
  add_three(*store);
  add_to(*store, "http://d.test/");
  const RankedPages ranked = must(compute_rank(view_of(*store)));
  must(store->rollback());
  ASSERT_EQ(view_of(*store).info().page_count, 3U);
  EXPECT_EQ(store_ranked(*store, ranked).error().code, Errc::kUnknownName);
  must(store_scores(*store, "own", view_of(*store), std::vector<float>(3, 1.0F)));
  expect_whole(store);
}

TEST(RankedPages, AreOfOneStore) {
  MemoryStore store;
  add_three(*store);
  const auto file = make_memory_file({}, std::uint64_t{1} << 28);
  const auto identity = must(container::make_identity(kFixedTimeUs));  // with a uuid of its own
  must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), identity,
                                    kFixedTimeUs));
  auto other = must(Store::open(open_memory_storage(file, OpenMode::kWrite), {}));
  add_three(other);
  const RankedPages ranked = must(compute_rank(view_of(*store)));
  EXPECT_EQ(store_ranked(other, ranked).error().code, Errc::kInvalidArgument);
}

TEST(ScoreArrays, KeepThoseBeforeWhenTheDiskIsFull) {
  MemoryStore store(std::uint64_t{1} << 20);
  PagesOptions options;
  options.has_urls = false;
  auto pages = must(PageDb::open(*store, "pages", options));
  CrawlEvent event;
  event.kind = CrawlEventKind::kLinkAdded;
  const EventLink link{{}, 60'000, 0};
  event.links = std::span(&link, 1);
  must(pages.add(event));
  must(pages.merge());
  must(rank_pages(*store));
  std::uint64_t stored = 0;
  Result<ScoresInfo> full = ScoresInfo{};
  const std::vector<float> values(60'001, 0.25F);
  while (full && stored < 10) {
    full = store_scores(*store, "own" + std::to_string(stored++), view_of(*store), values);
  }
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Errc::kNoSpace);
  EXPECT_EQ(names_in(*store).size(), stored);  // and "pagerank"
  expect_whole(store);
  must(remove_scores(*store, "own0"));
  must(store->commit());
  must(remove_scores(*store, "own1"));
  must(store_scores(*store, "again", view_of(*store), values));
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
