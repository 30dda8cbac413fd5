// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Measures the steps of a store, counts them, and tells the program of them: crawlstore/report.h.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include <crawlstore/report.h>

namespace crawlstore::container {

/// The costs of a step.
struct StepCost {
  std::uint64_t duration_us = 0;
  StorageCounters storage;
};

/// Measures from its construction on. Threads: any. The storage outlives it.
class StepMeter {
 public:
  explicit StepMeter(const Storage& storage) : storage_(storage), before_(storage.counters()) {}
  [[nodiscard]] StepCost cost() const;

 private:
  const Storage& storage_;
  const StorageCounters before_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Threads: counters() any, the others one at a time.
class Reporter {
 public:
  /// From now on `function` is told; it may be empty.
  void start(ReportFunction function) { function_ = std::move(function); }
  void report(const Report& report) noexcept;
  [[nodiscard]] StoreCounters counters(const StorageCounters& storage) const;

 private:
  struct Totals {
    std::atomic<std::uint64_t> count = 0;
    std::atomic<std::uint64_t> failed_count = 0;
    std::atomic<std::uint64_t> duration_us = 0;
  };
  template <class Step>
  [[nodiscard]] StepTotals totals() const;

  ReportFunction function_;
  std::array<Totals, std::variant_size_v<decltype(Report::step)>> totals_;  // by kind of step
};

}  // namespace crawlstore::container
