// SPDX-License-Identifier: Apache-2.0
#include "scores/link_cache.h"

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "links/link_store.h"
#include "scores/graphs.h"

namespace crawlstore::testing {
namespace {

using scores::LinkCache;
using scores::LinkCacheOptions;

/// For each page what its links bring it when page p gives p + 1.
std::vector<double> sums_of(const LinkCache& cache) {
  std::vector<double> values(cache.page_count());
  for (std::size_t page = 0; page < values.size(); ++page) values[page] = double(page + 1);
  std::vector<double> sums(cache.stripes().size() * cache.stripe_pages());
  for (const std::uint32_t stripe : cache.stripes()) {
    cache.add_up(stripe, values,
                 std::span(sums).subspan(stripe * cache.stripe_pages(), cache.stripe_pages()));
  }
  sums.resize(cache.page_count());
  return sums;
}

void expect_holds(const LinkCache& cache, const Rows& rows) {
  std::vector<double> sums(cache.page_count());
  std::vector<std::uint32_t> degrees(cache.page_count());
  std::uint64_t links = 0;
  for (const auto& [page, row] : rows) {
    degrees[page] = static_cast<std::uint32_t>(row.size());
    links += row.size();
    for (const std::uint64_t link : row) sums[link] += double(page + 1);
  }
  EXPECT_EQ(cache.link_count(), links);
  EXPECT_TRUE(std::ranges::equal(cache.degrees(), degrees));
  EXPECT_TRUE(sums_of(cache) == sums);
}

TEST(LinkCache, HoldsAllLinksWhateverThreadsAndStripes) {
  SeededRandom random;
  const std::uint64_t page_count = 150'000 + random.below(1000);
  const Rows rows = random_graph(random, page_count, 4);
  for (const unsigned threads : {1U, 3U}) {
    for (const unsigned bits : {12U, 15U, 18U}) {
      expect_holds(cache_of(rows, page_count, {.threads = threads, .stripe_bits = bits}), rows);
    }
  }
}

TEST(LinkCache, HoldsStepsOfAWholeBlock) {
  // First and last sources of blocks and tasks, to first and last targets of stripes.
  const std::vector<std::uint64_t> ends = {0,      16'383,  16'384,  65'535,
                                           65'536, 262'143, 262'144, 299'999};
  Rows rows;
  for (const std::uint64_t page : ends) rows[page] = ends;
  expect_holds(cache_of(rows, 300'000), rows);
}

TEST(LinkCache, HoldsNoPages) {
  const LinkCache cache = cache_of({}, 0);
  EXPECT_EQ(cache.page_count(), 0);
  EXPECT_EQ(cache.link_count(), 0);
  EXPECT_TRUE(cache.stripes().empty());
}

TEST(LinkCache, ReadsLinksOfAStore) {
  SeededRandom random;
  const Rows rows = random_graph(random, 70'000, 3);
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  append_rows(*writer, segments.out, rows);
  must(writer->commit());
  const auto reader = store.reader();
  const scores::OutRows source(must(links::LinkView::open(*reader, segments)));
  expect_holds(must(LinkCache::build(source, 70'000, {.threads = 2})), rows);
}

TEST(LinkCache, RefusesPagesAndLinksThatAreNone) {
  const auto error_of = [](const Rows& rows) {
    return LinkCache::build(GivenRows(rows), 10).error();
  };
  EXPECT_EQ(error_of({{3, {9, 10}}}), (Error{Errc::kSegmentInvalid, 0, {}, 3}));
  EXPECT_EQ(error_of({{3, {~std::uint64_t{0}}}}), (Error{Errc::kSegmentInvalid, 0, {}, 3}));
  EXPECT_EQ(error_of({{10, {1}}}), (Error{Errc::kSegmentInvalid, 0, {}, 10}));
}

/// Gives `before` to the first walk, `after` to the second one.
class ChangingRows final : public scores::TableSource {
 public:
  ChangingRows(const Rows& before, const Rows& after) : before_(before), after_(after) {}
  [[nodiscard]] Result<std::unique_ptr<scores::Rows>> open(std::uint64_t page) const override {
    return (walks_++ == 0 ? before_ : after_).open(page);
  }

 private:
  GivenRows before_;
  GivenRows after_;
  mutable int walks_ = 0;
};

TEST(LinkCache, RefusesRowsThatChangeBetweenItsPasses) {
  const std::uint64_t other = 5000;    // of another stripe than 1
  const std::uint64_t later = 20'000;  // of another block than 3
  const Rows before = {{3, {1, 2}}, {4, {1}}, {later, {1, 2}}};
  const std::vector<Rows> changes = {
      {{3, {1}}, {4, {1}}, {later, {1, 2}}},         // a link less
      {{3, {1, 2}}, {4, {1, 2}}, {later, {1, 2}}},   // one more
      {{3, {1, 2}}, {later, {1, 2}}},                // a row less
      {{3, {1, 2}}, {4, {1}}},                       // a block less
      {{later, {1, 2}}},                             // the first block less
      {{3, {1, 2}}, {4, {other}}, {later, {1, 2}}},  // elsewhere
      {{3, {1, 2}}, {4, {1}}, {later, {1, other}}},
      {{3, {1, 2}}, {4, {1}}, {later, {1, 99'999}}},
  };
  for (const Rows& after : changes) {
    const auto built = LinkCache::build(ChangingRows(before, after), 30'000, {.stripe_bits = 12});
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().code, Errc::kSegmentInvalid);
  }
  EXPECT_TRUE(LinkCache::build(ChangingRows(before, before), 30'000));
}

TEST(LinkCache, TakesMemoryForWhatIsThere) {
  const std::uint64_t billion = 1'000'000'000;
  const Rows rows = {{billion - 1, {7}}};
  EXPECT_LT(LinkCache::memory_bytes(billion, 1), 4'100'000'000);
  const LinkCache cache = cache_of(rows, billion, {.threads = 2});
  EXPECT_EQ(cache.link_count(), 1);
  EXPECT_EQ(cache.degrees()[billion - 1], 1);
}

TEST(LinkCache, RefusesWhatNoMemoryHolds) {
  const Rows none;
  EXPECT_EQ(LinkCache::build(GivenRows(none), scores::kPageCountMax + 1).error().code,
            Errc::kTooLarge);
  std::ifstream overcommit("/proc/sys/vm/overcommit_memory");
  int policy = 0;
  if (overcommit >> policy && policy == 1) GTEST_SKIP() << "the system promises any memory";
  EXPECT_EQ(LinkCache::build(GivenRows(none), scores::kPageCountMax).error().code,
            Errc::kOutOfMemory);
}

TEST(LinkCache, RefusesStripesOutOfRange) {
  for (const unsigned bits : {11U, 19U}) {
    EXPECT_EQ(LinkCache::build(GivenRows({}), 10, {.stripe_bits = bits}).error().code,
              Errc::kInvalidArgument);
  }
}

TEST(LinkCache, StopsWhenToldTo) {
  const Rows rows = {{0, {1}}};
  LinkCacheOptions options;
  std::uint64_t calls = 0;
  options.progress = [&](std::uint64_t, std::uint64_t total) {
    EXPECT_EQ(total, 8);
    return ++calls < 6;
  };
  EXPECT_EQ(LinkCache::build(GivenRows(rows), 200'000, options).error().code, Errc::kCancelled);
  EXPECT_EQ(calls, 6);
  options.threads = 2;
  options.progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("no"); };
  EXPECT_THROW((void)LinkCache::build(GivenRows(rows), 20'000'000, options), std::runtime_error);
}

}  // namespace
}  // namespace crawlstore::testing
