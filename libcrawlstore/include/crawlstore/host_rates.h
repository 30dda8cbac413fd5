// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rates at which the busiest hosts are crawled just now: a table of fixed size, in memory.
///
/// Each host has a temperature: a crawl adds 1, and it cools as e^(-t/T), so that temperature / T
/// is the rate of its crawls a second. A host that is not in a full table takes the place of the
/// coldest one, if that is colder than 1; else it is not tracked.
/// Ownership: as in crawlstore.hpp. Threads: one at a time.
/// Source: Aduana's DomainTemp; its linear step is replaced by what it approximates:
/// spec/features.md, E3.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <crawlstore/error.h>

#pragma GCC visibility push(default)
namespace crawlstore {

class HostRates {
 public:
  /// Follows `host_count` hosts, at least 1; T = `window_s`, seconds.
  ///   errors  kInvalidArgument: no host, or a window that is not finite and above 0
  [[nodiscard]] static Result<HostRates> make(std::size_t host_count, double window_s);

  /// A page of the host was crawled.
  ///   host    any number that names it, as host_key() (page_key.h)
  ///   time_s  seconds, on any clock; one before the last call's counts as that
  ///   cost    O(host_count)
  void add(std::uint64_t host, double time_s);
  /// Lets all hosts cool until then.
  void cool(double time_s);
  /// 0 for a host that is not tracked. As of the last call of add() or cool().
  [[nodiscard]] double temperature(std::uint64_t host) const;
  /// Crawls a second.
  [[nodiscard]] double rate(std::uint64_t host) const { return temperature(host) / window_s_; }

 private:
  HostRates(std::size_t host_count, double window_s)
      : slot_count_(host_count), window_s_(window_s) {}

  struct Slot {
    std::uint64_t host = 0;
    double temperature = 0;
  };
  std::vector<Slot> slots_;
  std::size_t slot_count_;
  double window_s_;
  double now_s_ = 0;
  bool has_begun_ = false;
};

}  // namespace crawlstore
#pragma GCC visibility pop
