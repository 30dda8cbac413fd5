// SPDX-License-Identifier: Apache-2.0
// covers: W25
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <crawlstore/external_sort.h>

#include "support/bytes.h"
#include "support/child_process.h"
#include "support/random.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Row = std::pair<std::string, std::string>;

constexpr std::uint64_t kMemoryMin = ExternalSort::kMemoryBytesMin;

ExternalSort sort_in(const TemporaryFolder& folder, std::uint64_t memory_bytes,
                     std::uint32_t fan_in = 64) {
  return std::move(*ExternalSort::make(
      {.memory_bytes = memory_bytes, .folder = folder.path(), .fan_in = fan_in}));
}

/// Adds all rows and returns them as they come out; nothing after an error.
std::vector<Row> sorted_by(ExternalSort& sort, const std::vector<Row>& rows) {
  std::vector<Row> out;
  for (const auto& [record, payload] : rows) {
    if (!sort.add(record, payload)) return {};
  }
  if (!sort.finish()) return {};
  for (auto more = sort.next(); more && *more; more = sort.next()) {
    out.emplace_back(sort.record(), sort.payload());
  }
  return out;
}

std::vector<Row> sorted_by_std(std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.first < b.first; });
  return rows;
}

/// Records that are empty, equal, long, of few letters, and URLs; the payload is their number.
std::vector<Row> random_rows(std::size_t count, std::uint64_t seed, std::size_t long_bytes) {
  Random random(seed);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    std::string record;
    switch (random.below(8)) {
      case 0:
        break;
      case 1:
        record = std::string(random.below(20), '\0');
        break;
      case 2:
        record = std::string(random.below(40), static_cast<char>(random.below(256)));
        break;
      case 3:
        record = "https://example.org/" + std::to_string(random.below(count / 4 + 1));
        break;
      default:
        for (std::size_t left = random.below(30); left > 0; --left) {
          record += static_cast<char>(random.below(3) - 1);
        }
    }
    if (long_bytes != 0 && random.below(50) == 0)
      record += std::string(random.below(long_bytes), 'x');
    rows.emplace_back(std::move(record), random.below(4) == 0 ? "" : std::to_string(i));
  }
  return rows;
}

TEST(ExternalSort, OrdersInMemoryAsAStableSort) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto rows = random_rows(seed * 100, seed, 500);
    auto sort = sort_in(folder, std::uint64_t{1} << 20);
    EXPECT_EQ(sorted_by(sort, rows), sorted_by_std(rows)) << seed;
    EXPECT_EQ(sort.status().record_count, rows.size());
    EXPECT_EQ(sort.status().level_count, 0U);
  }
}

TEST(ExternalSort, OrdersThroughTheFileAsAStableSort) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto rows = random_rows(4000, seed, seed % 2 == 0 ? 0 : 60'000);
    auto sort = sort_in(folder, kMemoryMin, 2 + static_cast<std::uint32_t>(seed % 3));
    EXPECT_EQ(sorted_by(sort, rows), sorted_by_std(rows)) << seed;
    const auto status = sort.status();
    EXPECT_GE(status.level_count, 3U);
    EXPECT_GT(status.merge_count, 2U);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(ExternalSort, KeepsEqualRecordsInTheOrderOfAdding) {
  const TemporaryFolder folder;
  std::vector<Row> rows;
  for (int i = 0; i < 5000; ++i) rows.emplace_back("the same", std::to_string(i));
  auto sort = sort_in(folder, kMemoryMin, 3);
  EXPECT_EQ(sorted_by(sort, rows), rows);
  EXPECT_GE(sort.status().level_count, 3U);
}

/// A tree of merges merges no more than it must: 5 runs with a fan-in of 4 need one merge of two.
TEST(ExternalSort, MergesAsFewRunsAsItMust) {
  const TemporaryFolder folder;
  auto sort = sort_in(folder, std::uint64_t{64} << 10, 4);
  const std::string block(30'000, 'b');
  for (char letter = '0'; sort.status().run_count < 4; ++letter) {
    ASSERT_TRUE(sort.add(std::string(1, letter) + block));
  }
  ASSERT_TRUE(sort.finish());
  EXPECT_EQ(sort.status().run_count, 5U);
  EXPECT_EQ(sort.status().merge_count, 1U);
  EXPECT_EQ(sort.status().level_count, 2U);
}

TEST(ExternalSort, IsEmptyWithoutRecordsAndSaysSoAgain) {
  auto sort = *ExternalSort::make();
  EXPECT_EQ(code_of(sort.next()), Errc::kInvalidArgument);
  ASSERT_TRUE(sort.finish());
  ASSERT_TRUE(sort.finish());
  EXPECT_FALSE(*sort.next());
  EXPECT_FALSE(*sort.next());
  EXPECT_EQ(code_of(sort.add("too late")), Errc::kInvalidArgument);
}

TEST(ExternalSort, RefusesOptionsOutsideTheirBounds) {
  EXPECT_EQ(code_of(ExternalSort::make({.memory_bytes = kMemoryMin - 1})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(ExternalSort::make({.fan_in = 1})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(ExternalSort::make({.fan_in = 4097})), Errc::kInvalidArgument);
}

TEST(ExternalSort, RefusesWhatIsTooLongAndGoesOn) {
  auto sort = *ExternalSort::make({.memory_bytes = kMemoryMin});
  // No byte of it is read.
  const std::string_view too_long("", ExternalSort::kRecordBytesMax + 1);
  EXPECT_EQ(code_of(sort.add(too_long)), Errc::kTooLarge);
  EXPECT_EQ(code_of(sort.add("a", too_long)), Errc::kTooLarge);
  EXPECT_EQ(sorted_by(sort, {{"b", "1"}}), (std::vector<Row>{{"b", "1"}}));
}

std::size_t open_file_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST(ExternalSort, LeavesNoFileAndNoDescriptor) {
  const TemporaryFolder folder;
  const std::size_t before = open_file_count();
  {
    auto sort = sort_in(folder, kMemoryMin);
    for (const auto& [record, payload] : random_rows(3000, 1, 0)) ASSERT_TRUE(sort.add(record));
    EXPECT_EQ(open_file_count(), before + 1);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    auto moved = std::move(sort);
    ASSERT_TRUE(moved.finish());
  }
  EXPECT_EQ(open_file_count(), before);
}

TEST(ExternalSort, LeavesNoFileWhenItsProcessIsKilled) {
  const TemporaryFolder folder;
  {
    WaitingChild child([&] {
      static auto sort = sort_in(folder, kMemoryMin);  // lives as long as the child
      for (const auto& [record, payload] : random_rows(3000, 1, 0)) {
        if (!sort.add(record)) return false;
      }
      return sort.status().run_count > 2;
    });
    ASSERT_TRUE(child.is_ready());
    child.kill();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// Adds rows until that fails, and checks that the error stays.
Errc error_that_stays(ExternalSort& sort) {
  const std::string record(1000, 'r');
  Errc code{};
  for (int i = 0; i < 10'000 && code == Errc{}; ++i) code = code_of(sort.add(record));
  const bool stays = code_of(sort.add("small")) == code && code_of(sort.finish()) == code &&
                     code_of(sort.next()) == code;
  return stays ? code : Errc{};
}

TEST(ExternalSort, ReportsAFullDiskAndKeepsTheError) {
  const TemporaryMount mount("size=1m");
  if (!mount.is_mounted()) GTEST_SKIP() << "needs the right to mount";
  auto sort = *ExternalSort::make({.memory_bytes = kMemoryMin, .folder = mount / ""});
  EXPECT_EQ(error_that_stays(sort), Errc::kNoSpace);
}

/// The disk is full in the middle of a merge.
TEST(ExternalSort, ReportsAFullDiskInFinish) {
  const TemporaryMount mount("size=1m");
  if (!mount.is_mounted()) GTEST_SKIP() << "needs the right to mount";
  auto sort = *ExternalSort::make({.memory_bytes = kMemoryMin, .folder = mount / "", .fan_in = 3});
  for (int i = 0; i < 900; ++i) ASSERT_TRUE(sort.add(std::string(1000, 'r')));
  put_file(mount / "filler", filled(std::size_t{1} << 20, 1));
  EXPECT_EQ(code_of(sort.finish()), Errc::kNoSpace);
  EXPECT_EQ(code_of(sort.finish()), Errc::kNoSpace);
  EXPECT_EQ(code_of(sort.next()), Errc::kNoSpace);
}

TEST(ExternalSort, ReportsALimitOfFilesWithoutASignal) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_in_child([&] {
              const rlimit limit = {100'000, RLIM_INFINITY};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              auto sort = sort_in(folder, kMemoryMin);
              return error_that_stays(sort) == Errc::kFileSizeLimit ? 0 : 2;
            }),
            0);
}

TEST(ExternalSort, ReportsAFolderThatIsNotThere) {
  auto sort = *ExternalSort::make({.memory_bytes = kMemoryMin, .folder = "/nonexistent/folder"});
  EXPECT_EQ(error_that_stays(sort), Errc::kNotFound);
}

TEST(ExternalSort, TakesTheFolderThatTmpdirNames) {
  EXPECT_EQ(run_in_child([] {
              ::setenv("TMPDIR", "/nonexistent/folder", 1);
              auto sort = *ExternalSort::make({.memory_bytes = kMemoryMin});
              return error_that_stays(sort) == Errc::kNotFound ? 0 : 1;
            }),
            0);
}

TEST(ExternalSort, StopsWhenProgressSaysNo) {
  const TemporaryFolder folder;
  std::uint64_t call_count = 0;
  auto sort = *ExternalSort::make({.memory_bytes = kMemoryMin,
                                   .folder = folder.path(),
                                   .fan_in = 2,
                                   .progress = [&](std::uint64_t done, std::uint64_t total) {
                                     EXPECT_LE(done, total);
                                     return ++call_count < 3;
                                   }});
  for (const auto& [record, payload] : random_rows(3000, 1, 0)) ASSERT_TRUE(sort.add(record));
  EXPECT_EQ(code_of(sort.finish()), Errc::kCancelled);
  EXPECT_EQ(code_of(sort.next()), Errc::kCancelled);
  EXPECT_EQ(call_count, 3U);
}

TEST(ExternalSort, IsPoisonedByWhatProgressThrows) {
  const TemporaryFolder folder;
  auto sort = *ExternalSort::make(
      {.memory_bytes = kMemoryMin,
       .folder = folder.path(),
       .fan_in = 2,
       .progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("no"); }});
  for (const auto& [record, payload] : random_rows(3000, 1, 0)) ASSERT_TRUE(sort.add(record));
  EXPECT_THROW((void)sort.finish(), std::runtime_error);
  EXPECT_EQ(code_of(sort.finish()), Errc::kPoisoned);
}

TEST(ExternalSort, IsItsOwnersAfterAFork) {
  const TemporaryFolder folder;
  auto sort = sort_in(folder, kMemoryMin);
  for (const auto& [record, payload] : random_rows(3000, 1, 0)) ASSERT_TRUE(sort.add(record));
  EXPECT_EQ(run_in_child([&] { return code_of(sort.finish()) == Errc::kForked ? 0 : 1; }), 0);
  ASSERT_TRUE(sort.finish());
  EXPECT_TRUE(*sort.next());
}

}  // namespace
}  // namespace crawlstore::testing
