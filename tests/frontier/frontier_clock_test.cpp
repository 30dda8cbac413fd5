// SPDX-License-Identifier: Apache-2.0
//
// Frontiers whose time is ahead of the wall clock, as after one that was ahead.
#include "frontier/frontier_clock.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>

#include "base/clock.h"
#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kYearMs = std::uint64_t{365} * 86'400'000;
constexpr std::uint64_t kHourMs = 3'600'000;

std::uint64_t wall_ms() {
  return static_cast<std::uint64_t>(now_us()) / 1000;
}

/// A frontier with a time in a year, of which one item is leased, and one waits.
class AheadFrontier : public ::testing::Test {
 protected:
  /// The last commit was made when the wall clock showed `commit_ms`.
  void make(std::uint64_t commit_ms) {
    open(commit_ms);
    must(frontier_->put(std::vector<FrontierItem>{{"a", 2}, {"a", 1}}));
    must(frontier_->take({.lease_ms = 0, .now_ms = begin_ms_}));
    close();
  }
  void open(std::optional<std::uint64_t> commit_ms = {}) {
    OpenOptions options;
    if (commit_ms) options.time_us = static_cast<std::int64_t>(*commit_ms * 1000);
    store_.emplace(must(Store::open(open_memory_storage(file_, OpenMode::kWrite), options)));
    FrontierOptions made;
    made.default_rule = {.delay_ms = kHourMs / 2, .hard_ms = kHourMs / 2, .in_flight_max = 9};
    frontier_.emplace(must(Frontier::open(*store_, "f", made)));
  }
  void close() {
    must(frontier_->close());
    frontier_.reset();
    must(store_->close());
    store_.reset();
  }
  FrontierInfo info() {
    const auto snapshot = must(Snapshot::open(open_memory_storage(file_, OpenMode::kRead)));
    return must(FrontierView::list(snapshot)).at(0);
  }
  /// A slow test may take a minute.
  static void expect_about(std::uint64_t time_ms, std::uint64_t expected_ms) {
    EXPECT_GE(time_ms, expected_ms);
    EXPECT_LT(time_ms, expected_ms + 60'000);
  }

  std::shared_ptr<MemoryFile> file_ = make_empty_store_file(std::uint64_t{1} << 24);
  std::uint64_t begin_ms_ = wall_ms() + kYearMs;
  std::optional<Store> store_;
  std::optional<Frontier> frontier_;
};

TEST_F(AheadFrontier, GoesOnSinceTheLastCommit) {
  make(wall_ms() - kHourMs);
  expect_about(info().time_at_ms(now_us()), begin_ms_ + kHourMs);
  open();
  expect_about(frontier_->now_ms(), begin_ms_ + kHourMs);
  EXPECT_EQ(must(frontier_->take()).size(), 1U);
}

/// The wall clock was ahead when the file got its last commit: time goes on from the next one.
TEST_F(AheadFrontier, GoesOnOnceTheWallClockIsSetBack) {
  make(begin_ms_);
  open();
  EXPECT_TRUE(must(frontier_->take()).empty());
  expect_about(frontier_->now_ms(), begin_ms_);
  close();
  EXPECT_LE(info().commit_time_us, now_us());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  open();
  EXPECT_GE(frontier_->now_ms(), begin_ms_ + 30);
  const Generation before = store_->generation();
  close();
  open();
  EXPECT_EQ(store_->generation(), before);
}

/// Lines that come each second would hold up time.
TEST_F(AheadFrontier, LosesNoTimeByACommitOfPuts) {
  make(wall_ms() - kHourMs);
  open();
  must(frontier_->put(std::vector<FrontierItem>{{"b", 1}}));
  close();
  expect_about(info().clock_ms, begin_ms_ + kHourMs);
}

TEST_F(AheadFrontier, HasTheTimeOfItsCaller) {
  make(wall_ms() - kHourMs);
  open();
  EXPECT_TRUE(must(frontier_->take({.now_ms = begin_ms_ + 5})).empty());
  must(frontier_->put(std::vector<FrontierItem>{{"b", 1}}));
  EXPECT_EQ(must(frontier_->take({.now_ms = begin_ms_ + 5})).size(), 1U);
  close();
  EXPECT_EQ(info().clock_ms, begin_ms_ + 5);
}

TEST(FrontierTime, IsTheWallClockUnlessThatIsBehind) {
  constexpr std::uint64_t kClock = 5'000;
  EXPECT_EQ(frontier::time_at(kClock, 9'000'000, 5'000'999), 5'000U);
  EXPECT_EQ(frontier::time_at(kClock, 1'000'000, 7'000'000), 7'000U);
  EXPECT_EQ(frontier::time_at(kClock, 1'000'000, 4'000'000), 8'000U);
  EXPECT_EQ(frontier::time_at(kClock, 4'000'000, 1'000'000), kClock);
  EXPECT_EQ(frontier::time_at(kClock, -1, -1), kClock);
  EXPECT_EQ(frontier::time_at(0, 0, -1), 0U);
}

}  // namespace
}  // namespace crawlstore::testing
