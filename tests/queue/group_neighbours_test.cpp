// SPDX-License-Identifier: Apache-2.0
#include "queue/group_neighbours.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using queue::Entry;
using queue::kFragmentEntries;

constexpr std::uint64_t kHighestOrder = std::numeric_limits<std::uint64_t>::max() - 1;

/// Whole groups as runs have them: not too large, and none below the one before.
void expect_groups(const std::vector<Entry>& entries, const std::vector<std::size_t>& ends) {
  ASSERT_EQ(ends.back(), entries.size());
  const auto at = [&](std::size_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(i); };
  std::size_t begin = 0;
  Entry before;
  for (const std::size_t end : ends) {
    ASSERT_LT(begin, end);
    ASSERT_LE(end - begin, 4 * kFragmentEntries);
    const auto [lowest, highest] = std::minmax_element(at(begin), at(end));
    ASSERT_LE(before, *lowest) << "group that ends at " << end;
    before = *highest;
    begin = end;
  }
}

/// Orders that are spread, few, far apart, crowded, or but for some the same.
TEST(GroupNeighbours, MakesGroupsThatAscend) {
  SeededRandom random;
  const std::vector<std::function<std::uint64_t()>> patterns = {
      [&] { return random.below(kHighestOrder); },
      [&] { return random.below(5); },
      [&] { return random.below(3) * (kHighestOrder / 2); },
      [&] { return random.one_in(2) ? kHighestOrder >> random.below(64) : random.below(50); },
      [&] { return random.one_in(1000) ? random.below(kHighestOrder) : kHighestOrder / 2; },
      [] { return std::uint64_t{7}; },
      [&, next = std::uint64_t{0}]() mutable { return next += random.below(3); }};
  std::vector<Entry> room;
  for (std::size_t pattern = 0; pattern < patterns.size(); ++pattern) {
    SCOPED_TRACE(pattern);
    const std::size_t count = 2 * kFragmentEntries + random.below(16 * kFragmentEntries);
    const std::uint64_t page_end = random.one_in(2) ? 3 : std::uint64_t{1} << 40U;
    std::vector<Entry> entries;
    entries.reserve(count);
    while (entries.size() < count) entries.push_back({patterns[pattern](), random.below(page_end)});
    std::vector<Entry> expected = entries;
    expect_groups(entries, queue::group_neighbours(entries, room));
    std::ranges::sort(entries);
    std::ranges::sort(expected);
    ASSERT_EQ(entries, expected);
  }
}

TEST(GroupNeighbours, CutsWhatIsSortedEvenly) {
  std::vector<Entry> sorted;
  sorted.reserve(3 * kFragmentEntries + 1);
  for (std::uint64_t i = 0; i <= 3 * kFragmentEntries; ++i) sorted.push_back({i / 4, i});
  const std::vector<std::size_t> even = {kFragmentEntries, 2 * kFragmentEntries,
                                         3 * kFragmentEntries, 3 * kFragmentEntries + 1};
  std::vector<Entry> room;
  std::vector<Entry> entries = sorted;
  EXPECT_EQ(queue::group_neighbours(entries, room), even);
  EXPECT_EQ(entries, sorted);
  std::ranges::reverse(entries);
  EXPECT_EQ(queue::group_neighbours(entries, room), even);
  EXPECT_EQ(entries, sorted);
}

/// The bytes of a run depend on nothing but what was inserted.
TEST(GroupNeighbours, KeepsTheOrderInsideOfAGroup) {
  SeededRandom random;
  std::vector<Entry> entries;
  entries.reserve(8 * kFragmentEntries);
  for (std::uint64_t i = 0; i < 8 * kFragmentEntries; ++i) {
    entries.push_back({random.below(1000) << 32U | i, i});
  }
  std::vector<Entry> room;
  const auto ends = queue::group_neighbours(entries, room);
  EXPECT_GE(ends.size(), 4U);
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    EXPECT_TRUE(std::is_sorted(entries.begin() + static_cast<std::ptrdiff_t>(begin),
                               entries.begin() + static_cast<std::ptrdiff_t>(end),
                               [](const Entry& a, const Entry& b) { return a.page < b.page; }));
    begin = end;
  }
}

}  // namespace
}  // namespace crawlstore::testing
