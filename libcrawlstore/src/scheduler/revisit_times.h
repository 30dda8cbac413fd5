// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include <crawlstore/schedule.h>

namespace crawlstore::scheduler {

/// Intervals between visits by a rule. By gain they depend on all pages, which are counted first.
/// Threads: one at a time. Memory: some kilobytes.
class RevisitTimes {
 public:
  /// `rule` lives as long as this.
  explicit RevisitTimes(const RevisitRule& rule) : rule_(&rule) {}

  /// errors  kInvalidArgument: numbers that are none, or contradict
  [[nodiscard]] Result<void> check() const;
  /// Counts a page that is to be visited again.
  void add(const PageInfo& page);
  /// Behind the last add().
  void balance();
  /// The time at which a page that was fetched is visited again; RevisitRule::kNever: never.
  [[nodiscard]] std::uint64_t next_visit(const PageInfo& page, std::uint64_t now_ms) const;

 private:
  /// Pages whose change rates are about the same.
  struct Class {
    std::uint64_t page_count = 0;
    std::uint64_t interval_ms = 0;
  };

  [[nodiscard]] double visits_per_ms(double gain_ms) const;
  [[nodiscard]] std::uint64_t bounded(double interval_ms) const;
  [[nodiscard]] std::uint64_t interval_by_gain(int rate_class, double gain_ms) const;
  [[nodiscard]] std::uint64_t interval(const PageInfo& page) const;

  const RevisitRule* rule_;
  std::map<int, Class> classes_;
  std::uint64_t first_count_ = 0;  // pages whose change rate is not known
};

}  // namespace crawlstore::scheduler
