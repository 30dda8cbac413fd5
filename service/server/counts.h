// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace crawlstore::service {

using Count = std::atomic<std::uint64_t>;

/// Durations, in microseconds. Threads: one adds, any read.
struct Durations {
  Count count{0};
  Count sum_us{0};
  Count longest_us{0};

  void add(std::uint64_t us) {
    ++count;
    sum_us += us;
    if (us > longest_us) longest_us = us;
  }
};

/// Calls and URLs since the service began. Threads: any.
struct ServiceCounts {
  Count get_calls{0};
  Count urls_given{0};
  Durations get_time{};  ///< from a call to its answer's begin
  Count put_calls{0};
  Count put_streams{0};  ///< of URLs, that have not ended
  Count batch_calls{0};
  Count put_discovered{0};  ///< URLs that were discovered, known ones among them
  Count put_known{0};       ///< others
  Count ignored{0};         ///< URLs that were discovered, and known before
  Count skipped{0};         ///< URLs that can never be kept
  Count completed{0};       ///< URLs that shall not be fetched again
  Count failed{0};          ///< URLs whose commit failed
};

/// The loop's commits since it began.
struct LoopCounts {
  Durations commits{};
  Count failed_commits{0};
  Durations merges{};
};

}  // namespace crawlstore::service
