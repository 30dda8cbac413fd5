// SPDX-License-Identifier: Apache-2.0
#include "base/this_thread.h"

#include <atomic>

namespace crawlstore {

std::uint64_t this_thread_number() {
  // tidy: mutable state, a number is given once in a process
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t kNumber = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return kNumber;
}

}  // namespace crawlstore
