// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/queue_trend.h"

#include <string>

#include <gtest/gtest.h>

namespace crawlstore::inspector {
namespace {

constexpr std::int64_t kNoonUs = 1'767'268'800'000'000;  // 2026-01-01, 12:00
constexpr std::int64_t kSecondUs = 1'000'000;

class Trends : public ::testing::Test {
 protected:
  void see(std::int64_t seconds, std::uint64_t page_count, bool is_followed = true) {
    now_us_ = kNoonUs + seconds * kSecondUs;
    trends_.see(now_us_, {++generation_}, {{.id = {}, .name = "q", .page_count = page_count}},
                is_followed);
  }
  [[nodiscard]] std::string text() const { return describe(trends_.of("q"), true, now_us_); }

  QueueTrends trends_;
  std::uint64_t generation_ = 0;
  std::int64_t now_us_ = kNoonUs;
};

TEST_F(Trends, AreNotKnownBeforeACommitWasSeen) {
  EXPECT_EQ(text(), "rate and end: not known yet, no commit was seen since you looked");
  see(0, 1000);
  EXPECT_EQ(text(), "rate and end: not known yet, no commit was seen since you looked");
  EXPECT_EQ(trends_.of("q")->rate(), std::nullopt);
  EXPECT_EQ(trends_.of("other"), std::nullopt);
  EXPECT_EQ(describe(trends_.of("q"), false, now_us_),
            "rate and end: not known yet, F6 follows the writer");
}

TEST_F(Trends, ProjectTheEnd) {
  see(0, 1000);
  see(50, 990);
  see(100, 800);
  EXPECT_EQ(trends_.of("q")->rate(), 2.0);
  EXPECT_EQ(trends_.of("q")->empty_at_us(), kNoonUs + 500 * kSecondUs);
  EXPECT_EQ(
      text(),
      "200 pages fewer than at 2026-01-01T12:00:00Z, in 2 commits, 2 a second; empty at about "
      "2026-01-01T12:08:20Z if that goes on");
  see(200, 0);
  EXPECT_EQ(
      text(),
      "990 pages fewer than at 2026-01-01T12:00:50Z, in 2 commits, 6.6 a second: it is empty");
}

TEST_F(Trends, ForgetWhatIsLongAgo) {
  see(0, 1000);
  for (int second = 1; second <= 600; ++second) see(second, 6000);
  EXPECT_LE(trends_.of("q")->looks.size(), 15U) << "also of 10 commits a second";
  for (int second = 601; second <= 721; ++second)
    see(second, static_cast<std::uint64_t>(6000 - 30 * (second - 600)));
  EXPECT_NEAR(trends_.of("q")->rate().value_or(0), 30, 3);
  EXPECT_NE(text().find(" fewer than at "), std::string::npos) << text();
  now_us_ += 121 * kSecondUs;
  EXPECT_EQ(text(), "rate and end: not known, no commit was seen since 2026-01-01T12:12:01Z");
}

TEST_F(Trends, SayThatThereIsNoEnd) {
  see(0, 1000);
  see(10, 1001);
  EXPECT_EQ(trends_.of("q")->empty_at_us(), std::nullopt);
  EXPECT_EQ(text(),
            "1 page more than at 2026-01-01T12:00:00Z, in 1 commit, 0.1 a second: it grows");
  see(20, 1000);
  EXPECT_EQ(text(), "as many pages wait as at 2026-01-01T12:00:00Z");
  see(30, 1'000'000'000'000);
  see(40, 999);
  EXPECT_EQ(trends_.of("q")->empty_at_us(), kNoonUs + 40 * kSecondUs + 39'960 * kSecondUs);
}

TEST_F(Trends, EndNowhereWhereTheEndIsFarAway) {
  see(0, 1'000'000'000'000);
  see(10, 999'999'999'999);
  EXPECT_EQ(trends_.of("q")->empty_at_us(), std::nullopt);
  EXPECT_TRUE(text().ends_with(": empty in more than 10 years"));
}

TEST_F(Trends, BeginAnewWhereCommitsMayHaveBeenMissed) {
  see(0, 1000);
  see(10, 500);
  see(20, 300, false);
  EXPECT_EQ(trends_.of("q")->rate(), std::nullopt);
  see(30, 200);
  EXPECT_EQ(trends_.of("q")->rate(), 10.0);
  trends_.see(kNoonUs, {9}, {}, true);
  EXPECT_EQ(trends_.of("q"), std::nullopt) << "the queue is gone";
}

TEST_F(Trends, SurviveAClockThatGoesBack) {
  see(10, 1000);
  see(0, 500);
  EXPECT_EQ(trends_.of("q")->rate(), std::nullopt);
}

}  // namespace
}  // namespace crawlstore::inspector
