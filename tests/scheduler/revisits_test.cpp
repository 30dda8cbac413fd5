// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "scheduler/revisit_times.h"

namespace crawlstore::testing {
namespace {

using scheduler::RevisitTimes;

constexpr std::uint64_t kDayMs = 86'400'000;
constexpr std::int64_t kDayUs = 86'400'000'000;
constexpr std::uint64_t kNow = 20'000 * kDayMs;
constexpr std::uint64_t kYearLater = kNow + 366 * kDayMs;

/// A page that was crawled once a day up to kNow.
PageInfo crawled_page(std::uint32_t crawls, std::uint32_t changes) {
  PageInfo page;
  page.state = PageState::kCrawled;
  page.crawl_count = crawls;
  page.change_count = changes;
  page.last_crawl_us = static_cast<std::int64_t>(kNow) * 1000;
  page.first_crawl_us = page.last_crawl_us - kDayUs * (crawls - 1);
  return page;
}

double days_until_visit(const RevisitTimes& times, const PageInfo& page) {
  return static_cast<double>(times.next_visit(page, kNow) - kNow) / kDayMs;
}

TEST(RevisitTimes, GiveAsManyVisitsAsThereMayBe) {
  std::vector<PageInfo> pages;
  for (std::uint32_t i = 0; i < 3000; ++i) pages.push_back(crawled_page(2 + i % 50, i % 50));
  for (const double wanted : {30.0, 300.0, 1500.0}) {
    RevisitRule rule;
    rule.fetches_per_day = wanted;
    rule.max_ms = 10'000 * kDayMs;
    RevisitTimes times(rule);
    for (const PageInfo& page : pages) times.add(page);
    times.balance();
    double visits = 0;
    for (const PageInfo& page : pages) visits += 1 / days_until_visit(times, page);
    EXPECT_NEAR(visits / wanted, 1, 0.03) << wanted;
  }
}

TEST(RevisitTimes, VisitPagesThatChangeMoreOftenUnlessTooOften) {
  RevisitRule rule;
  rule.fetches_per_day = 400;
  RevisitTimes times(rule);
  const PageInfo seldom = crawled_page(40, 0);
  const PageInfo often = crawled_page(40, 8);
  const PageInfo always = crawled_page(2000, 1999);
  for (int i = 0; i < 1000; ++i) {
    for (const PageInfo* page : {&seldom, &often, &always}) times.add(*page);
  }
  times.balance();
  EXPECT_LT(days_until_visit(times, often), days_until_visit(times, seldom) / 2);
  EXPECT_DOUBLE_EQ(days_until_visit(times, always), 365);
}

/// covers: A44
TEST(RevisitTimes, KeepBoundsAndOtherRules) {
  RevisitRule rule;
  rule.kind = RevisitKind::kAdaptive;
  const RevisitTimes times(rule);
  EXPECT_DOUBLE_EQ(days_until_visit(times, crawled_page(1, 0)), 7);
  EXPECT_NEAR(days_until_visit(times, crawled_page(4, 1)), 7 * 1.4 * 1.4 * 0.8, 1e-6);
  EXPECT_DOUBLE_EQ(days_until_visit(times, crawled_page(40, 0)), 365);
  EXPECT_DOUBLE_EQ(days_until_visit(times, crawled_page(90, 89)) * 24, 1);
  PageInfo denied;
  denied.state = PageState::kDenied;
  EXPECT_DOUBLE_EQ(days_until_visit(times, denied), 90);
  rule.interval_of = [](const PageInfo& page, std::uint64_t interval_ms) {
    return page.crawl_count == 3 ? RevisitRule::kNever : interval_ms * 2;
  };
  EXPECT_DOUBLE_EQ(days_until_visit(times, crawled_page(40, 0)), 730);
  EXPECT_EQ(times.next_visit(crawled_page(3, 0), kNow), RevisitRule::kNever);
  rule.min_ms = 2 * rule.max_ms;
  EXPECT_EQ(times.check().error().code, Errc::kInvalidArgument);
}

/// Pages that change by Poisson processes, fetched day by day.
class Web {
 public:
  explicit Web(std::size_t page_count) {
    std::normal_distribution<double> spread(0, 1.6);
    for (std::size_t i = 0; i < page_count; ++i) {
      Page page;
      page.days_a_change = 20 * std::exp(spread(random_));
      page.next_change = time_to_change(page);
      pages_.push_back(page);
    }
  }

  /// Fetches a seventh of the pages a day, those first whose time by a rule came first. Returns the
  /// part of pages that were as they were fetched, over the second half of the year.
  ///   next_day  by what is known of a page; rebalanced() is called each week before
  double freshness(const std::function<void(const std::vector<PageInfo>&)>& rebalanced,
                   const std::function<double(const PageInfo&)>& next_day) {
    std::vector<PageInfo> known(pages_.size());
    for (std::size_t i = 0; i < known.size(); ++i) fetch(known[i], pages_[i], 0);
    double sum = 0;
    for (int day = 1; day <= kDays; ++day) {
      for (Page& page : pages_) change_until(page, day);
      if (day % 7 == 1) rebalanced(known);
      std::vector<std::pair<double, std::size_t>> due;
      for (std::size_t i = 0; i < known.size(); ++i) due.emplace_back(next_day(known[i]), i);
      std::ranges::sort(due);
      for (std::size_t i = 0; i < due.size() / 7 && due[i].first <= day; ++i) {
        fetch(known[due[i].second], pages_[due[i].second], day);
      }
      if (day > kDays / 2) {
        sum += static_cast<double>(std::ranges::count(pages_, true, &Page::is_fresh));
      }
    }
    return sum / static_cast<double>(pages_.size()) / (kDays / 2.0);
  }

 private:
  static constexpr int kDays = 364;
  struct Page {
    double days_a_change = 0;
    double next_change = 0;
    bool is_fresh = false;
  };

  double time_to_change(const Page& page) {
    return std::exponential_distribution<double>(1 / page.days_a_change)(random_);
  }
  void change_until(Page& page, int day) {
    for (; page.next_change < day; page.next_change += time_to_change(page)) page.is_fresh = false;
  }
  static void fetch(PageInfo& known, Page& page, int day) {
    known.state = PageState::kCrawled;
    known.last_crawl_us = static_cast<std::int64_t>(kNow) * 1000 + day * kDayUs;
    if (known.crawl_count++ == 0) {
      known.first_crawl_us = known.last_crawl_us;
    } else if (!page.is_fresh) {
      ++known.change_count;
    }
    page.is_fresh = true;
  }

  std::mt19937_64 random_{7};
  std::vector<Page> pages_;
};

double day_of(std::uint64_t time_ms) {
  return (static_cast<double>(time_ms) - static_cast<double>(kNow)) / kDayMs;
}

/// Keeps more pages fresh than equal visits, and these more than Nutch's rule, with equally many.
TEST(RevisitTimes, KeepMorePagesFresh) {
  constexpr std::size_t kPages = 4000;
  RevisitRule by_gain;
  by_gain.fetches_per_day = kPages / 7.0;
  RevisitTimes times(by_gain);
  const double gain = Web(kPages).freshness(
      [&](const std::vector<PageInfo>& known) {
        times = RevisitTimes(by_gain);
        for (const PageInfo& page : known) times.add(page);
        times.balance();
      },
      [&](const PageInfo& page) { return day_of(times.next_visit(page, kYearLater)); });
  const auto nothing = [](const std::vector<PageInfo>&) {};
  const double equal = Web(kPages).freshness(nothing, [](const PageInfo& page) {
    return day_of(static_cast<std::uint64_t>(page.last_crawl_us) / 1000);
  });
  RevisitRule by_adapting;
  by_adapting.kind = RevisitKind::kAdaptive;
  const RevisitTimes adaptive(by_adapting);
  const double nutch = Web(kPages).freshness(
      nothing, [&](const PageInfo& page) { return day_of(adaptive.next_visit(page, kYearLater)); });
  std::printf("fresh: by gain %.3f, equal %.3f, adaptive %.3f\n", gain, equal, nutch);
  EXPECT_GT(gain, equal + 0.01);
  EXPECT_GT(equal, nutch);
}

}  // namespace
}  // namespace crawlstore::testing
