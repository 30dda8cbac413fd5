// SPDX-License-Identifier: Apache-2.0
#include "drum/verify_sequences.h"

#include <limits>
#include <map>
#include <set>

#include "container/container_store.h"
#include "format/endian.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using drum::SequenceRun;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t kWindow = std::uint64_t{1} << 27;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// Columns in a file of their own, and the runs that they stand for. A run's place is its number.
struct Columns {
  Bytes file = Bytes(8);
  std::vector<SequenceRun> runs;

  /// Ascending numbers, at most 2^32 - 1 apart, of a log.
  void add(std::uint64_t segment, const Numbers& numbers) {
    runs.push_back(
        {{segment}, runs.size(), numbers.front(), numbers.back(), numbers.size(), file.size()});
    for (const std::uint64_t number : numbers) {
      file.resize(file.size() + 4);
      format::store(file.data() + file.size() - 4,
                    static_cast<std::uint32_t>(number - numbers.front()));
    }
  }
  /// Numbers without gaps, which have no column.
  void add_range(std::uint64_t segment, std::uint64_t first, std::uint64_t count) {
    runs.push_back({{segment}, runs.size(), first, first + (count - 1), count, 0});
  }
  /// The numbers of the runs found.
  [[nodiscard]] Result<std::set<std::uint64_t>> shared(const VerifyOptions& options = {}) const {
    const auto storage = open_memory_storage(make_memory_file(file), OpenMode::kRead);
    container::Verification verification{*storage, options, container::all_kinds()};
    const auto found = drum::find_shared_sequences(verification, runs);
    if (!found) return tl::unexpected<Error>(found.error());
    std::set<std::uint64_t> places;
    for (const SequenceRun& run : *found) EXPECT_TRUE(places.insert(run.offset_bytes).second);
    return places;
  }
};

std::set<std::uint64_t> shared(const Columns& columns) {
  return must(columns.shared());
}

// spec: drum.md#drum rule 13
TEST(VerifySequences, FindsANumberOfTwoLogs) {
  Columns columns;
  columns.add(1, {5, 8, 20});
  columns.add(2, {6, 7, 9, 21});
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{});
  columns.add(3, {10, 20, 30});
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{2});
}

TEST(VerifySequences, FindsNumbersInRunsWithoutAColumn) {
  Columns columns;
  columns.add_range(1, 100, 50);
  columns.add_range(2, 150, 50);
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{});
  columns.add_range(3, 199, 2);
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{2});
}

TEST(VerifySequences, FindsNumbersInEveryWindow) {
  for (const std::uint64_t number : {kWindow - 1, kWindow, kWindow + 1, 31 * kWindow}) {
    Columns columns;
    columns.add(1, {0, number, 32 * kWindow - 1});
    columns.add(2, {number});
    EXPECT_EQ(shared(columns), std::set<std::uint64_t>{1}) << number;
    columns.runs[1].lowest = columns.runs[1].highest = number + 2;
    EXPECT_EQ(shared(columns), std::set<std::uint64_t>{}) << number;
  }
}

TEST(VerifySequences, FindsTheHighestNumber) {
  Columns columns;
  columns.add(1, {0});
  columns.add(2, {kMost - 3 * kWindow, kMost - 1, kMost});
  columns.add_range(3, kMost - 4, 3);
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{});
  columns.add_range(3, kMost, 1);
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{3});
}

/// Distinct numbers, crowded around a few places that windows and offsets end at.
Numbers crowded(Random& random) {
  std::set<std::uint64_t> numbers;
  const std::uint64_t base = random.below(4) == 0 ? kMost - (std::uint64_t{1} << 33) : 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    numbers.insert(base + random.below(8) * (kWindow / 2) + random.below(60));
  }
  return {numbers.begin(), numbers.end()};
}

TEST(VerifySequences, FindsWhatAMapFinds) {
  Random random(13);
  for (int round = 0; round < 200; ++round) {
    Columns columns;
    std::vector<Numbers> all;
    for (std::uint64_t segment = 1; segment <= 3; ++segment) {
      const Numbers numbers = crowded(random);
      for (std::size_t begin = 0; begin < numbers.size();) {
        const std::size_t end = std::min(numbers.size(), begin + 1 + random.below(20));
        all.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                         numbers.begin() + static_cast<std::ptrdiff_t>(end));
        columns.add(segment, all.back());
        begin = end;
      }
    }
    std::multimap<std::uint64_t, std::uint64_t> by_lowest;  // equal ones in their order
    for (std::size_t i = 0; i < all.size(); ++i) by_lowest.emplace(all[i].front(), i);
    std::set<std::uint64_t> seen;
    std::set<std::uint64_t> expected;
    for (const auto& [lowest, i] : by_lowest) {
      for (const std::uint64_t number : all[i]) {
        if (!seen.insert(number).second) expected.insert(i);
      }
    }
    ASSERT_EQ(shared(columns), expected) << round;
  }
}

TEST(VerifySequences, ReadsColumnsLongerThanItsBuffer) {
  Numbers even;
  for (std::uint64_t i = 0; i < 50'000; ++i) even.push_back(2 * i);
  Columns columns;
  columns.add(1, even);
  columns.add(2, {1, 99'997});
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{});
  columns.add(3, {3, 99'998});
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{2});
}

TEST(VerifySequences, ReportsAColumnThatIsCutOff) {
  Columns columns;
  columns.add(1, {1, 2, 3});
  columns.add(2, {4, 5, 6});
  columns.file.resize(columns.file.size() - 4);
  const auto found = columns.shared();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kTruncated);
  EXPECT_EQ(found.error().offset, columns.file.size());
}

TEST(VerifySequences, StopsWhenTold) {
  Columns columns;
  columns.add(1, {1, 3});
  columns.add(2, {2});
  VerifyOptions options;
  options.progress = [](std::uint64_t, std::uint64_t) { return false; };
  const auto found = columns.shared(options);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kCancelled);
}

TEST(VerifySequences, ReadsNothingOfOneLog) {
  Columns columns;
  columns.add(1, {1, 3});
  columns.add(1, {4, 9});
  columns.file.clear();
  EXPECT_EQ(shared(columns), std::set<std::uint64_t>{});
}

}  // namespace
}  // namespace crawlstore::testing
