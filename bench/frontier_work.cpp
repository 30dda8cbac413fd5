// SPDX-License-Identifier: Apache-2.0
#include "frontier_work.h"

#include <algorithm>
#include <bit>
#include <ctime>
#include <numeric>
#include <stdexcept>

#include "seen_stream.h"

namespace crawlstore::bench {
namespace {

[[noreturn]] void wrong(const std::string& text) {
  throw std::runtime_error(text);
}

double sum_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

}  // namespace

double cpu_now() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double Calls::total() const {
  return sum_of(seconds);
}

double Calls::cpu_total() const {
  return sum_of(cpu_seconds);
}

double Calls::quantile(double share) const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

double Calls::worst_cpu() const {
  return cpu_seconds.empty() ? 0 : *std::max_element(cpu_seconds.begin(), cpu_seconds.end());
}

FrontierWork::FrontierWork(const WorkOptions& options, BenchFrontier& frontier)
    : options_(options),
      frontier_(frontier),
      stream_(options.group_count, options.body_bytes),
      next_visit_(options.group_count),
      was_taken_(options.item_count + 2 * options.cycle_count * options.take_count) {}

void FrontierWork::load() {
  while (put_count_ < options_.item_count) {
    put(std::min(options_.put_batch, options_.item_count - put_count_), loads_);
  }
}

void FrontierWork::run_cycles() {
  std::vector<std::uint64_t> leased;
  for (std::uint64_t cycle = 0; cycle < options_.cycle_count; ++cycle) {
    const std::uint64_t now = clock_after(cycle);
    const auto taken = timed(takes_, [&] { return frontier_.take(options_.take_count, now); });
    check(taken, now);
    if (!leased.empty()) timed(finishes_, [&] { frontier_.finish(leased, now); });
    finished_count_ += leased.size();
    leased.clear();
    for (const WorkTaken& item : taken) leased.push_back(item.id);
    put(2 * options_.take_count, puts_);
  }
}

void FrontierWork::put(std::uint64_t count, Calls& calls) {
  std::vector<std::string> groups(count);
  std::vector<std::string> bodies(count);
  std::vector<WorkItem> items(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t id = put_count_ + i;
    groups[i] = FrontierStream::group_key(stream_.group(id));
    stream_.write_body(id, bodies[i]);
    items[i] = {id, groups[i], FrontierStream::priority(id), bodies[i]};
  }
  timed(calls, [&] { frontier_.put(items); });
  put_count_ += count;
}

void FrontierWork::check(std::span<const WorkTaken> taken, std::uint64_t now_ms) {
  if (taken.size() != options_.take_count) {
    wrong(std::to_string(taken.size()) + " items were taken, not " +
          std::to_string(options_.take_count));
  }
  std::string body;
  for (const WorkTaken& item : taken) {
    if (item.id >= put_count_ || was_taken_[item.id]) wrong("an item was taken twice");
    was_taken_[item.id] = true;
    const std::uint32_t group = stream_.group(item.id);
    stream_.write_body(item.id, body);
    if (item.group != FrontierStream::group_key(group) || item.body != body ||
        item.priority != FrontierStream::priority(item.id)) {
      wrong("a taken item is another one than was put");
    }
    if (now_ms < next_visit_[group]) wrong("a group was visited early");
    next_visit_[group] = now_ms + kHardDelayMs;
    sum_ = mix(sum_ ^ mix(item.id));
  }
}

}  // namespace crawlstore::bench
