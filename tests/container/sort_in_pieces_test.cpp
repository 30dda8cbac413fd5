// SPDX-License-Identifier: Apache-2.0
#include "container/sort_in_pieces.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace crawlstore::testing {
namespace {

using container::sort_in_pieces;
using container::WorkSteps;

std::vector<std::uint32_t> numbers_below(std::uint64_t end) {
  Random random(end);
  std::vector<std::uint32_t> numbers(1'000'000);
  for (auto& number : numbers) number = static_cast<std::uint32_t>(random.below(end));
  return numbers;
}

TEST(SortInPieces, SortsAsTheStandardDoes) {
  for (const std::uint64_t end : {1ULL, 2ULL, 1000ULL, 4'000'000'000ULL}) {
    auto numbers = numbers_below(end);
    auto expected = numbers;
    std::sort(expected.begin(), expected.end(), std::greater<>());
    WorkSteps unasked;
    EXPECT_TRUE(sort_in_pieces(std::span(numbers), std::greater<>(), unasked));
    EXPECT_EQ(numbers, expected) << end;
    EXPECT_TRUE(sort_in_pieces(std::span(numbers), std::greater<>(), unasked));
    EXPECT_EQ(numbers, expected) << "sorted already";
  }
  std::vector<std::uint32_t> none;
  WorkSteps unasked;
  EXPECT_TRUE(sort_in_pieces(std::span(none), std::less<>(), unasked));
}

TEST(SortInPieces, StopsBetweenTwoPiecesAndKeepsAllItems) {
  auto numbers = numbers_below(4'000'000'000);
  auto expected = numbers;
  int look_count = 0;
  const Progress third = [&](std::uint64_t, std::uint64_t) { return ++look_count < 3; };
  WorkSteps steps(third);
  const auto sorted = sort_in_pieces(std::span(numbers), std::less<>(), steps);
  ASSERT_FALSE(sorted);
  EXPECT_EQ(sorted.error().code, Errc::kCancelled);
  EXPECT_EQ(look_count, 3);
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  std::sort(expected.begin(), expected.end());
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, expected);
}

}  // namespace
}  // namespace crawlstore::testing
