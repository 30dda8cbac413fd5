// SPDX-License-Identifier: Apache-2.0
// covers: A47
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>

#include "pages/page_words.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

void add_page(PageDb& pages, const std::string& url, const std::vector<std::string>& links) {
  CrawledPage page(url, 1'000'000);
  for (const std::string& link : links) page.add_link(link, 0);
  must(pages.add(page));
}

/// a.test and b.test link to c.test, a.test to d.test as well.
void add_four(Store& store) {
  auto pages = must(PageDb::open(store));
  add_page(pages, "http://a.test/", {"http://c.test/", "http://d.test/"});
  add_page(pages, "http://b.test/", {"http://c.test/"});
  must(pages.merge());
}
constexpr std::size_t kA = 0;
constexpr std::size_t kC = 1;
constexpr std::size_t kD = 2;
constexpr std::size_t kB = 3;

std::vector<double> values_of(const Store& store, std::string_view name) {
  const auto scores = must(ScoreView::open(view_of(store), name));
  const auto values = must(scores.floats());
  return {values.begin(), values.end()};
}

TEST(HitsArrays, HoldAuthoritiesAndHubsOfOneCommit) {
  MemoryStore store;
  add_four(*store);
  const Generation before = store->generation();
  const RankReport report = must(hits(*store));
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(store->generation().value, before.value + 1);
  EXPECT_EQ(report.scores.scorer, Scorer::kHitsAuthority);
  EXPECT_EQ(report.hubs.scorer, Scorer::kHitsHub);
  EXPECT_EQ(report.hubs.damping, 1);
  store.reopen();
  // h_a = a_c + a_d, h_b = a_c, a_c = h_a + h_b, a_d = h_a: the golden ratio to 1.
  const double larger = 0.6180339887;
  const auto hubs = values_of(*store, "hubs");
  const auto authorities = values_of(*store, "authorities");
  EXPECT_NEAR(hubs[kA], larger, 1e-6);
  EXPECT_NEAR(hubs[kB], 1 - larger, 1e-6);
  EXPECT_EQ(hubs[kC], 0);
  EXPECT_NEAR(authorities[kC], larger, 1e-6);
  EXPECT_NEAR(authorities[kD], 1 - larger, 1e-6);
  const auto scores = must(ScoreView::open(view_of(*store), "hubs"));
  EXPECT_EQ(must(scores.residuals()), report.residuals);
  expect_whole(store);
}

TEST(HitsArrays, HaveNamesAndReplaceThoseOfTheSame) {
  MemoryStore store;
  add_four(*store);
  HitsOptions options;
  options.authorities = "good";
  const auto cold = must(hits(*store, options)).residuals.size();
  options.precision = 1e-9;
  must(hits(*store, options));
  const auto arrays = must(ScoreView::list(view_of(*store)));
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].name, "good");
  EXPECT_TRUE(arrays[0].has_doubles);
  EXPECT_EQ(arrays[1].name, "hubs");
  options.precision = 1e-6;
  EXPECT_LT(must(hits(*store, options)).residuals.size(), cold);
  options.is_warm = false;
  EXPECT_EQ(must(hits(*store, options)).residuals.size(), cold);
  expect_whole(store);
}

TEST(HitsArrays, StayWhereThePrecisionIsNotReached) {
  MemoryStore store;
  add_four(*store);
  must(hits(*store));
  const Generation before = store->generation();
  HitsOptions options;
  options.is_warm = false;
  options.max_iterations = 2;
  const RankReport report = must(hits(*store, options));
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.residuals.size(), 2U);
  EXPECT_EQ(report.scores.link_count, 3U);
  options.progress = [](std::uint32_t iteration, double) { return iteration == 0; };
  EXPECT_EQ(hits(*store, options).error().code, Errc::kCancelled);
  EXPECT_EQ(store->generation(), before);
}

TEST(HitsArrays, WeighLinksByContentScoresOfTheirTargets) {
  MemoryStore store;
  add_four(*store);
  HitsOptions options;
  options.by_content_scores = true;
  EXPECT_EQ(hits(*store, options).error().code, Errc::kInvalidArgument);  // all are 0
  auto pages = must(PageDb::open(*store));
  CrawledPage page("http://d.test/", 1'000'000);
  page.set_score(2);
  must(pages.add(page));
  must(pages.merge());
  const RankReport report = must(hits(*store, options));
  EXPECT_TRUE(report.scores.is_content_weighted);
  // Links to d.test alone count, so only a.test is a hub; its other link still leads somewhere.
  EXPECT_EQ(values_of(*store, "hubs")[kA], 1);
  EXPECT_EQ(values_of(*store, "authorities")[kC], 0.5);
  page.set_score(-1);
  must(pages.add(page));
  must(pages.merge());
  const auto refused = hits(*store, options);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(refused.error().offset, kD);
}

/// Pages without URLs, with content scores.
void add_random(Store& store) {
  PagesOptions no_urls;
  no_urls.has_urls = false;
  auto pages = must(PageDb::open(store, "pages", no_urls));
  SeededRandom random;
  constexpr std::uint64_t kPages = 2000;
  for (std::uint64_t page = 0; page < kPages; ++page) {
    std::vector<EventLink> links(random.below(8));
    for (EventLink& link : links) link.index = random.below(kPages);
    CrawlEvent event;
    event.index = page;
    event.score = static_cast<float>(random.below(4));
    event.links = links;
    must(pages.add(event));
  }
  must(pages.merge());
}

/// The scores of authorities, then of hubs.
std::vector<double> doubles_of(const Store& store) {
  std::vector<double> all;
  for (const char* const name : {"authorities", "hubs"}) {
    const auto scores = must(ScoreView::open(view_of(store), name));
    const auto values = must(scores.doubles());
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(HitsArrays, HaveTheSameBitsWhereMemoryIsShort) {
  MemoryStore store;
  add_random(*store);
  for (const bool by_content_scores : {false, true}) {
    HitsOptions options;
    options.precision = 1e-9;
    options.by_content_scores = by_content_scores;
    options.is_warm = false;
    const RankReport report = must(hits(*store, options));
    EXPECT_FALSE(report.is_in_file);
    const auto expected = doubles_of(*store);
    options.memory_bytes = report.memory_bytes;
    EXPECT_FALSE(must(hits(*store, options)).is_in_file);
    options.memory_bytes = report.memory_bytes - 1;
    for (const unsigned threads : {1U, 3U}) {
      const TemporaryFolder folder;
      options.folder = folder.path();
      options.thread_count = threads;
      const RankReport in_file = must(hits(*store, options));
      EXPECT_TRUE(in_file.is_in_file);
      EXPECT_EQ(in_file.residuals, report.residuals);
      EXPECT_EQ(doubles_of(*store), expected);
    }
    const TemporaryFolder folder;
    options.folder = folder / "none";
    EXPECT_EQ(hits(*store, options).error().code, Errc::kNotFound);
  }
}

TEST(HitsArrays, AreAlikeWithoutLinksButForForgottenPages) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  must(store->commit());
  must(hits(*store));
  EXPECT_TRUE(values_of(*store, "hubs").empty());
  for (const char* const url : {"http://a.test/", "http://b.test/", "http://c.test/"}) {
    add_page(pages, url, {});
  }
  must(pages.merge());
  must(pages.forget([](std::string_view url) { return url == "http://b.test/"; }));
  must(hits(*store));
  EXPECT_EQ(values_of(*store, "hubs"), (std::vector<double>{0.5, 0, 0.5}));
  expect_whole(store);
  must(pages.forget([](std::string_view) { return true; }));
  EXPECT_EQ(hits(*store).error().code, Errc::kInvalidArgument);
}

TEST(HitsArrays, RefuseOptionsThatMakeNoSense) {
  MemoryStore store;
  add_four(*store);
  const auto code = [&](const HitsOptions& options) { return hits(*store, options).error().code; };
  EXPECT_EQ(code({.hubs = "authorities"}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.hubs = ""}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.precision = -1}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.max_iterations = 0}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.max_iterations = 65'537}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.database = "none"}), Errc::kUnknownName);
}

TEST(HitsArrays, StayBothWhenTheDiskIsFull) {
  MemoryStore store(std::uint64_t{2} << 20);
  PagesOptions no_urls;
  no_urls.has_urls = false;
  auto pages = must(PageDb::open(*store, "pages", no_urls));
  CrawlEvent event;
  event.kind = CrawlEventKind::kLinkAdded;
  const EventLink link{{}, 60'000, 0};
  event.links = std::span(&link, 1);
  must(pages.add(event));
  must(pages.merge());
  must(hits(*store));
  const auto id = must(ScoreView::open(view_of(*store), "hubs")).info().id;
  const std::vector<float> values(60'001, 1);
  std::uint64_t stored = 0;
  while (store_scores(*store, "own" + std::to_string(stored), view_of(*store), values)) {
    ASSERT_LT(++stored, 10U);
  }
  ASSERT_GE(stored, 2U);
  // The first is free when a generation came behind it: room for one array, not for two.
  must(remove_scores(*store, "own0"));
  must(store->commit());
  must(remove_scores(*store, "own1"));
  const auto full = hits(*store);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Errc::kNoSpace);
  EXPECT_EQ(must(ScoreView::open(view_of(*store), "hubs")).info().id, id);
  expect_whole(store);
  // The array that was written has given its room back.
  must(store_scores(*store, "own0", view_of(*store), values));
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
