// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/this_thread.h"

namespace crawlstore {

/// The turn to change a store: a recursive lock that another thread may end.
class Turn {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    const std::uint64_t self = this_thread_number();
    if (holder_ != self) {
      ended_.wait(guard, [this] { return depth_ == 0; });
      holder_ = self;
    }
    ++depth_;
  }
  bool try_lock() {
    const std::lock_guard guard(mutex_);
    const std::uint64_t self = this_thread_number();
    if (holder_ != self && depth_ != 0) return false;
    holder_ = self;
    ++depth_;
    return true;
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    if (--depth_ != 0) return;
    holder_ = 0;
    ended_.notify_one();
  }
  /// Makes this thread the holder, and returns the one before, which has given the turn up.
  std::uint64_t take_over() { return pass_to(this_thread_number()); }
  /// Makes another thread the holder, as this_thread_number() names it; returns the one before.
  std::uint64_t pass_to(std::uint64_t thread) {
    const std::lock_guard guard(mutex_);
    return std::exchange(holder_, thread);
  }

 private:
  std::mutex mutex_;  // guards the rest
  std::condition_variable ended_;
  std::uint64_t holder_ = 0;  // this_thread_number()
  unsigned depth_ = 0;
};

}  // namespace crawlstore
