// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The number of pages that waited in each queue when new generations were seen, and its
/// consequences. Values; any thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/queue.h>

namespace crawlstore::inspector {

/// One queue, as it was seen of late. Times are those of the looks, since a commit that was there
/// at the first look may be old.
struct QueueTrend {
  static constexpr std::int64_t kWindowUs = 120'000'000;  ///< a rate is that of so long, or longer

  struct Look {
    std::int64_t time_us = 0;
    Generation generation;
    std::uint64_t page_count = 0;  ///< pages that waited
    bool operator==(const Look&) const = default;
  };
  /// From the last one that is older than the window on, oldest first; few.
  std::vector<Look> looks;
  bool operator==(const QueueTrend&) const = default;

  void add(const Look& look);
  /// Commits between the first look and the last.
  [[nodiscard]] std::uint64_t commit_count() const {
    return looks.back().generation.value - looks.front().generation.value;
  }
  /// Pages that became fewer in a second, less those that were inserted; nullopt = not known yet.
  [[nodiscard]] std::optional<double> rate() const;
  /// When none waits if that goes on; nullopt = not known, or never.
  [[nodiscard]] std::optional<std::int64_t> empty_at_us() const;
};

class QueueTrends {
 public:
  /// Takes note of a generation.
  ///   is_followed  false: commits before it may have been missed, so all begins anew
  void see(std::int64_t now_us, Generation generation, const std::vector<QueueInfo>& queues,
           bool is_followed);
  void clear() { trends_.clear(); }
  /// nullopt = the queue was never seen.
  [[nodiscard]] std::optional<QueueTrend> of(std::string_view name) const;

 private:
  std::map<std::string, QueueTrend, std::less<>> trends_;
};

/// Says in a sentence how the queue changed of late, and when it is empty.
std::string describe(const std::optional<QueueTrend>& trend, bool is_following,
                     std::int64_t now_us);

}  // namespace crawlstore::inspector
