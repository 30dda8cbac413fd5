// SPDX-License-Identifier: Apache-2.0
#include "queue/sort_entries.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using queue::Entry;

/// All lengths around the limits, of orders that are spread, equal, crowded, or far apart.
TEST(SortEntries, SortsAsTheStandardLibraryDoes) {
  SeededRandom random;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::function<std::uint64_t()>> patterns = {
      [&] { return random.below(kMost); },
      [&] { return random.below(1000); },
      [&] { return random.below(3) * (kMost / 2); },
      [] { return std::uint64_t{7}; },
      [&] { return random.one_in(100) ? kMost : random.below(50); },
      [&, next = std::uint64_t{0}]() mutable { return next += random.below(3); },
      [&, next = kMost]() mutable { return next -= random.below(3); }};
  std::vector<Entry> room;
  for (std::size_t pattern = 0; pattern < patterns.size(); ++pattern) {
    for (const std::size_t size :
         {0U, 1U, 2U, 23U, 24U, 25U, 26U, 500U, 8191U, 8192U, 8193U, 10'000U}) {
      std::vector<Entry> entries;
      while (entries.size() < size) entries.push_back({patterns[pattern](), random.below(20)});
      std::vector<Entry> expected = entries;
      std::ranges::sort(expected);
      queue::sort_entries(entries, room);
      ASSERT_EQ(entries, expected) << pattern << " " << size;
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
