// SPDX-License-Identifier: Apache-2.0
#include "queue/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace crawlstore::queue {

namespace {

constexpr double kFar = std::numeric_limits<double>::max() / 2;

double near_priority(std::uint64_t order) {
  return std::clamp(format::queue_priority(order), -kFar, kFar);
}

/// Returns the place of an order between two others: by its bits, which are about a logarithm; or
/// evenly, if 0 is between these.
double share_of(std::uint64_t order, std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t kZero = format::queue_order(0);
  if (first <= kZero && kZero <= last) {
    const double from = near_priority(first);
    const double width = from - near_priority(last);
    return width > 0 ? (from - near_priority(order)) / width : 0;  // kQueueGone is like 0
  }
  return static_cast<double>(order - first) / static_cast<double>(last - first);
}

/// Returns the number of entries of a fragment that are below `entry`.
std::uint64_t count_below(const format::QueueIndex& index, std::size_t number, const Entry& entry) {
  const std::uint64_t count = index.fragments[number].entry_count;
  const Entry first = format::lowest_of(index.fragments[number]);
  const Entry last = index.limit(number);
  if (entry <= first) return 0;
  if (entry >= last) return count;
  const double share = first.order == last.order ? static_cast<double>(entry.page - first.page) /
                                                       static_cast<double>(last.page - first.page)
                                                 : share_of(entry.order, first.order, last.order);
  return static_cast<std::uint64_t>(static_cast<double>(count) * share);
}

/// Priorities that cut the axis of all that there are into equal pieces, descending, both ends
/// included.
std::vector<double> edges_of(std::span<const LiveRun> runs, std::size_t bin_count) {
  double first = -std::numeric_limits<double>::infinity();
  double last = -first;
  double least_above_0 = last;
  const auto look = [&](std::uint64_t order) {
    const double priority = format::queue_priority(order);
    first = std::max(first, priority);
    last = std::min(last, priority);
    if (priority > 0) least_above_0 = std::min(least_above_0, priority);
  };
  for (const LiveRun& run : runs) {
    for (const format::QueueFragment& fragment : run.stored->index.fragments) {
      look(fragment.lowest_order);
    }
    look(run.stored->index.highest.order);
  }
  // 0 and what is endless have no place on such an axis: they are in the bins at its ends.
  const bool is_logarithmic = last >= 0;
  const auto place = [&](double priority) {
    if (!is_logarithmic) return std::clamp(priority, -kFar, kFar);
    return std::log(std::clamp(priority, std::min(least_above_0, kFar), kFar));
  };
  const double from = place(first);
  const double to = place(last);
  std::vector<double> edges{first};
  for (std::size_t i = 1; i < bin_count && first > last; ++i) {
    const double at =
        from + (to - from) * (static_cast<double>(i) / static_cast<double>(bin_count));
    edges.push_back(std::clamp(is_logarithmic ? std::exp(at) : at, last, edges.back()));
  }
  edges.push_back(last);
  return edges;
}

}  // namespace

std::uint64_t remaining_count(const LiveRun& run) {
  const format::QueueIndex& index = run.stored->index;
  std::uint64_t count = index.entry_count;
  for (std::size_t i = 0; i < index.fragments.size(); ++i) count -= count_below(index, i, run.cut);
  return count;
}

std::vector<QueueBin> distribution(std::span<const LiveRun> runs, std::size_t bin_count) {
  if (runs.empty() || bin_count == 0) return {};
  const std::vector<double> edges = edges_of(runs, bin_count);
  std::vector<QueueBin> bins;
  std::vector<Entry> ends;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    bins.push_back({.first_priority = edges[i],
                    .last_priority = edges[i + 1],
                    .entry_count = 0,
                    .remaining_count = 0});
    ends.push_back({format::queue_order(edges[i + 1]), 0});
  }
  ends.back() = kBehindAll;
  for (const LiveRun& run : runs) {
    const format::QueueIndex& index = run.stored->index;
    for (std::size_t number = 0; number < index.fragments.size(); ++number) {
      const std::uint64_t left_count = count_below(index, number, run.cut);
      std::uint64_t begin = 0;
      for (std::size_t i = 0; i < bins.size(); ++i) {
        const std::uint64_t end = count_below(index, number, ends[i]);
        bins[i].entry_count += end - begin;
        bins[i].remaining_count += std::max(end, left_count) - std::max(begin, left_count);
        begin = end;
      }
    }
  }
  return bins;
}

}  // namespace crawlstore::queue
