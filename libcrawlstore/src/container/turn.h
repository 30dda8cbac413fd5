// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace crawlstore {

/// Whose turn it is to change a store: a recursive lock that another thread may end.
class Turn {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    const auto self = std::this_thread::get_id();
    if (holder_ != self) {
      ended_.wait(guard, [this] { return depth_ == 0; });
      holder_ = self;
    }
    ++depth_;
  }
  bool try_lock() {
    const std::lock_guard guard(mutex_);
    const auto self = std::this_thread::get_id();
    if (holder_ != self && depth_ != 0) return false;
    holder_ = self;
    ++depth_;
    return true;
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    if (--depth_ != 0) return;
    holder_ = {};
    ended_.notify_one();
  }
  /// The turn goes on as this thread's. The thread that held it until now has given it up.
  void take_over() {
    const std::lock_guard guard(mutex_);
    holder_ = std::this_thread::get_id();
  }

 private:
  std::mutex mutex_;  // guards the rest
  std::condition_variable ended_;
  std::thread::id holder_;
  unsigned depth_ = 0;
};

}  // namespace crawlstore
