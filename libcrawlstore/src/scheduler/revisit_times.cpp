// SPDX-License-Identifier: Apache-2.0
#include "scheduler/revisit_times.h"

#include <algorithm>
#include <cmath>

namespace crawlstore::scheduler {
namespace {

constexpr double kDayMs = 86'400'000;
constexpr double kSecondMs = 1000;
/// Classes in which rates differ by a factor of e.
constexpr double kClassesAnE = 32;
/// Steps of a bisection, with which a number is known to a millionth of its bounds.
constexpr int kSteps = 40;
/// 1 - (1 + x) exp(-x) is 1 there as far as a double knows.
constexpr double kChangesMax = 50;
/// Nutch's AdaptiveFetchSchedule.
constexpr double kUnchangedFactor = 1.4;
constexpr double kChangedFactor = 0.8;

/// The lowest number below which `is_enough` says no, between bounds.
template <class IsEnough>
double bisect(double low, double high, const IsEnough& is_enough) {
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

int rate_class_of(double changes_per_second) {
  return static_cast<int>(std::floor(std::log(changes_per_second / kSecondMs) * kClassesAnE));
}

/// Changes a millisecond in the middle of a class.
double rate_of(int rate_class) {
  return std::exp((rate_class + 0.5) / kClassesAnE);
}

}  // namespace

Result<void> RevisitTimes::check() const {
  const bool is_right = rule_->fetches_per_day > 0 && std::isfinite(rule_->fetches_per_day) &&
                        rule_->min_ms > 0 && rule_->min_ms <= rule_->max_ms;
  if (is_right) return {};
  return fail(Errc::kInvalidArgument,
              "a rule of revisits has no fetches a day, or bounds that contradict");
}

void RevisitTimes::add(const PageInfo& page) {
  if (page.state != PageState::kCrawled) return;
  if (const auto rate = page.change_rate()) {
    ++classes_[rate_class_of(*rate)].page_count;
  } else {
    ++first_count_;
  }
}

std::uint64_t RevisitTimes::bounded(double interval_ms) const {
  if (!(interval_ms < static_cast<double>(rule_->max_ms))) return rule_->max_ms;
  return std::max(static_cast<std::uint64_t>(interval_ms), rule_->min_ms);
}

std::uint64_t RevisitTimes::interval_by_gain(int rate_class, double gain_ms) const {
  const double rate = rate_of(rate_class);
  const double wanted = gain_ms * rate;
  if (wanted >= 1) return rule_->max_ms;
  const auto gains = [wanted](double changes) {
    return 1 - (1 + changes) * std::exp(-changes) >= wanted;
  };
  return bounded(bisect(0, kChangesMax, gains) / rate);
}

double RevisitTimes::visits_per_ms(double gain_ms) const {
  double visits = 0;
  for (const auto& [rate_class, of] : classes_) {
    visits += static_cast<double>(of.page_count) /
              static_cast<double>(interval_by_gain(rate_class, gain_ms));
  }
  return visits;
}

void RevisitTimes::balance() {
  const auto first_ms = static_cast<double>(bounded(static_cast<double>(rule_->first_ms)));
  const double wanted =
      rule_->fetches_per_day / kDayMs - static_cast<double>(first_count_) / first_ms;
  // By its logarithm, for it may be a nanosecond or a thousand years.
  const double gain_ms =
      std::exp(bisect(std::log(1e-6), std::log(kDayMs * 365 * 1000), [&](double log_gain) {
        return visits_per_ms(std::exp(log_gain)) <= wanted;
      }));
  for (auto& [rate_class, of] : classes_) of.interval_ms = interval_by_gain(rate_class, gain_ms);
}

std::uint64_t RevisitTimes::interval(const PageInfo& page) const {
  const auto first = static_cast<double>(rule_->first_ms);
  if (rule_->kind == RevisitKind::kAdaptive) {
    const double unchanged = page.crawl_count - 1 - page.change_count;
    return bounded(first * std::pow(kUnchangedFactor, unchanged) *
                   std::pow(kChangedFactor, page.change_count));
  }
  const auto rate = page.change_rate();
  const auto found = rate ? classes_.find(rate_class_of(*rate)) : classes_.end();
  return found == classes_.end() ? bounded(first) : found->second.interval_ms;
}

std::uint64_t RevisitTimes::next_visit(const PageInfo& page, std::uint64_t now_ms) const {
  constexpr std::uint64_t kMicroseconds = 1000;
  const bool is_crawled = page.state == PageState::kCrawled;
  std::uint64_t interval_ms = is_crawled ? interval(page) : rule_->other_ms;
  if (rule_->interval_of) interval_ms = rule_->interval_of(page, interval_ms);
  // A crawl ahead of the clock was now.
  const std::uint64_t begin =
      is_crawled ? std::min(static_cast<std::uint64_t>(page.last_crawl_us) / kMicroseconds, now_ms)
                 : now_ms;
  return interval_ms > RevisitRule::kNever - begin ? RevisitRule::kNever : begin + interval_ms;
}

}  // namespace crawlstore::scheduler
