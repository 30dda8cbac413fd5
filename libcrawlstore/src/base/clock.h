// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The time of the system's clock.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace crawlstore {

/// Microseconds since 1970, UTC, and at least 1: a clock before 1970 is wrong, and neither records
/// nor events hold a negative time. Any thread.
inline std::int64_t now_us() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
}

}  // namespace crawlstore
