// SPDX-License-Identifier: Apache-2.0
//
// Keys of new pages wait in a few runs beside the DRUM of keys: readers see one set of keys,
// however they are spread.
#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "pages/page_words.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kHosts = 7;

std::string url_of(std::uint64_t i) {
  return "http://host" + std::to_string(i % kHosts) + ".example/" + std::to_string(i);
}

/// Pages [first, end), as one superstep: the index of each is its number.
void add_pages(PageDb& pages, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; ++i) must(pages.add(CrawledPage(url_of(i), 1)));
  must(pages.merge());
}

std::vector<SegmentInfo> fresh_segments(MemoryStore& store) {
  std::vector<SegmentInfo> found;
  for (auto& segment : must(store->snapshot()).segments()) {
    if (segment.kind == SegmentKind::kFreshKeys) found.push_back(std::move(segment));
  }
  return found;
}

std::size_t fresh_run_count(MemoryStore& store) {
  const auto segments = fresh_segments(store);
  return segments.empty() ? 0 : segments.front().runs.size();
}

DrumInfo keys_of(MemoryStore& store) {
  return must(list_drums(must(store->snapshot()))).front();
}

/// Every page below `count` but the forgotten is found by its URL, and each key stands once.
void expect_pages(MemoryStore& store, std::uint64_t count,
                  const std::set<std::uint64_t>& forgotten = {}) {
  const PageView view = view_of(*store);
  ASSERT_EQ(view.info().page_count, count);
  for (std::uint64_t i = 0; i < count + 20; ++i) {
    const auto found = must(view.find(url_of(i)));
    const bool is_there = i < count && !forgotten.contains(i);
    EXPECT_EQ(found, is_there ? std::optional(i) : std::nullopt) << i;
  }
  std::set<std::uint64_t> seen;
  std::optional<Key16> last;
  const std::uint64_t seed = must(store->snapshot()).key_seed();
  must(view.for_each_key([&](Key16 key, std::uint64_t index) {
    EXPECT_TRUE(!last || *last < key);
    EXPECT_EQ(key, page_key(url_of(index), seed).key);
    last = key;
    EXPECT_TRUE(seen.insert(index).second);
    return true;
  }));
  EXPECT_EQ(seen.size(), count - forgotten.size());
  for (std::uint64_t host = 0; host < kHosts; ++host) {
    std::uint64_t host_pages = 0;
    must(view.for_each_page_of("host" + std::to_string(host) + ".example",
                               [&](const PageInfo& page) {
                                 EXPECT_EQ(page.index % kHosts, host);
                                 ++host_pages;
                                 return true;
                               }));
    std::uint64_t expected = 0;
    for (std::uint64_t i = host; i < count; i += kHosts) expected += forgotten.contains(i) ? 0 : 1;
    EXPECT_EQ(host_pages, expected);
  }
}

/// 300 pages with keys in the DRUM, and 50 more in each of two runs.
PageDb open_with_two_runs(MemoryStore& store) {
  auto pages = must(PageDb::open(*store));
  add_pages(pages, 0, 300);
  add_pages(pages, 300, 350);
  add_pages(pages, 350, 400);
  EXPECT_EQ(fresh_run_count(store), 2U);
  EXPECT_EQ(keys_of(store).key_count, 300U);
  return pages;
}

TEST(FreshKeys, StayFewAndAreFound) {
  for (const std::uint32_t bucket_count : {1U, 16U, 256U}) {
    MemoryStore store;
    PagesOptions options;
    options.bucket_count = bucket_count;
    options.bucket_keys_max = 500;  // buckets split
    auto pages = must(PageDb::open(*store, "pages", options));
    Random random(bucket_count);
    std::uint64_t count = 0;
    std::size_t runs_max = 0;
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t end = count + 1 + random.below(200);
      add_pages(pages, count - std::min<std::uint64_t>(count, 50), end);
      count = end;
      const std::size_t runs = fresh_run_count(store);
      EXPECT_LE(runs, 4U);
      runs_max = std::max(runs_max, runs);
      if (step % 12 == 7) expect_pages(store, count);
    }
    EXPECT_EQ(runs_max, 4U);
    expect_pages(store, count);
    expect_whole(store);
    must(pages.close());
    store.reopen();
    pages = must(PageDb::open(*store, "pages", options));
    add_pages(pages, 0, count + 10);
    expect_pages(store, count + 10);
    expect_whole(store);
  }
}

/// Pages cost the same however many there are: all keys are written again only when there are half
/// as many new ones.
TEST(FreshKeys, SpareTheDrum) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  constexpr std::uint64_t kSteps = 200;
  constexpr std::uint64_t kStepPages = 50;
  std::uint64_t written_again = 0;  // keys, with the DRUM
  std::uint64_t merge_count = 0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    add_pages(pages, step * kStepPages, (step + 1) * kStepPages);
    const DrumInfo keys = keys_of(store);
    if (keys.merge_count != merge_count) written_again += keys.key_count;
    merge_count = keys.merge_count;
    const std::uint64_t fresh = (step + 1) * kStepPages - keys.key_count;
    EXPECT_LE(2 * fresh, keys.key_count);
  }
  EXPECT_LT(merge_count, 20U);
  EXPECT_LT(written_again, 4 * kSteps * kStepPages);
  expect_pages(store, kSteps * kStepPages);
}

TEST(FreshKeys, GoIntoTheDrumWithCompaction) {
  MemoryStore store;
  PageDb pages = open_with_two_runs(store);
  const std::uint64_t key_bytes = view_of(*store).info().key_bytes;
  must(pages.compact());
  EXPECT_TRUE(fresh_segments(store).empty());
  EXPECT_EQ(keys_of(store).key_count, 400U);
  EXPECT_LE(view_of(*store).info().key_bytes, key_bytes);
  expect_pages(store, 400);
  expect_whole(store);
  const Generation generation = store->generation();
  must(pages.compact());
  EXPECT_EQ(store->generation(), generation) << "there was nothing left to do";
  add_pages(pages, 400, 420);
  EXPECT_EQ(fresh_run_count(store), 1U);
  expect_pages(store, 420);
}

TEST(FreshKeys, AreForgottenLikeOthers) {
  MemoryStore store;
  PageDb pages = open_with_two_runs(store);
  const std::set<std::uint64_t> forgotten{5, 299, 300, 349, 350, 399};
  const auto report = must(pages.forget([&](std::string_view url) {
    return std::any_of(forgotten.begin(), forgotten.end(),
                       [&](std::uint64_t i) { return url == url_of(i); });
  }));
  EXPECT_EQ(report.page_count, forgotten.size());
  expect_pages(store, 400, forgotten);
  expect_whole(store);
  must(pages.add(CrawledPage(url_of(350), 2)));
  must(pages.merge());
  EXPECT_EQ(must(view_of(*store).find(url_of(350))), 400U);
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
