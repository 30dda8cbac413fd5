// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/queue_trend.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr double kSecondUs = 1e6;
constexpr std::int64_t kSpacingUs = QueueTrend::kWindowUs / 12;  // between the looks that are kept
/// A projection further away than this says no more than that the queue hardly shrinks.
constexpr double kProjectedSecondsMax = 10.0 * 365 * 86'400;

std::string whole_seconds(std::int64_t time_us) {
  return model::format_time(time_us - time_us % 1'000'000);
}

}  // namespace

void QueueTrend::add(const Look& look) {
  const bool is_dense =
      looks.size() > 1 && look.time_us - looks[looks.size() - 2].time_us < kSpacingUs;
  if (is_dense) looks.pop_back();
  looks.push_back(look);
  const auto first = std::ranges::find_if(
      looks, [&look](const Look& old) { return old.time_us > look.time_us - kWindowUs; });
  if (first - looks.begin() > 1) looks.erase(looks.begin(), first - 1);
}

std::optional<double> QueueTrend::rate() const {
  const Look& first = looks.front();
  const Look& last = looks.back();
  if (last.time_us <= first.time_us) return std::nullopt;
  return (static_cast<double>(first.page_count) - static_cast<double>(last.page_count)) *
         kSecondUs / static_cast<double>(last.time_us - first.time_us);
}

std::optional<std::int64_t> QueueTrend::empty_at_us() const {
  const auto fewer = rate();
  if (!fewer || *fewer <= 0) return std::nullopt;
  const double seconds = static_cast<double>(looks.back().page_count) / *fewer;
  if (seconds > kProjectedSecondsMax) return std::nullopt;
  return looks.back().time_us + static_cast<std::int64_t>(std::llround(seconds * kSecondUs));
}

void QueueTrends::see(std::int64_t now_us, Generation generation,
                      const std::vector<QueueInfo>& queues, bool is_followed) {
  std::map<std::string, QueueTrend, std::less<>> trends;
  for (const QueueInfo& queue : queues) {
    QueueTrend trend;
    const auto before = trends_.find(queue.name);
    if (is_followed && before != trends_.end()) trend = std::move(before->second);
    trend.add({now_us, generation, queue.page_count});
    trends.emplace(queue.name, std::move(trend));
  }
  trends_ = std::move(trends);
}

std::optional<QueueTrend> QueueTrends::of(std::string_view name) const {
  const auto found = trends_.find(name);
  if (found == trends_.end()) return std::nullopt;
  return found->second;
}

std::string describe(const std::optional<QueueTrend>& trend, bool is_following,
                     std::int64_t now_us) {
  const auto rate = trend ? trend->rate() : std::nullopt;
  if (!rate) {
    return is_following ? "rate and end: not known yet, no commit was seen since you looked"
                        : "rate and end: not known yet, F6 follows the writer";
  }
  const QueueTrend::Look& first = trend->looks.front();
  const QueueTrend::Look& last = trend->looks.back();
  if (now_us - last.time_us > QueueTrend::kWindowUs) {
    return "rate and end: not known, no commit was seen since " + whole_seconds(last.time_us);
  }
  const bool is_less = last.page_count < first.page_count;
  const std::uint64_t difference =
      is_less ? first.page_count - last.page_count : last.page_count - first.page_count;
  if (difference == 0) return "as many pages wait as at " + whole_seconds(first.time_us);
  const std::string text = model::format_counted(difference, "page") +
                           (is_less ? " fewer" : " more") + " than at " +
                           whole_seconds(first.time_us) + ", in " +
                           model::format_counted(trend->commit_count(), "commit") + ", " +
                           model::format_cell(std::abs(*rate), model::Unit::kScore) + " a second";
  if (!is_less) return text + ": it grows";
  if (last.page_count == 0) return text + ": it is empty";
  const auto empty_at_us = trend->empty_at_us();
  if (!empty_at_us) return text + ": empty in more than 10 years";
  return text + "; empty at about " + whole_seconds(*empty_at_us) + " if that goes on";
}

}  // namespace crawlstore::inspector
