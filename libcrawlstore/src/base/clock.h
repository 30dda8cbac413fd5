// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The time of the system's clock.

#include <chrono>
#include <cstdint>

namespace crawlstore {

/// Microseconds since 1970, UTC. Any thread.
inline std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace crawlstore
