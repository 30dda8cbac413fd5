// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "service/server/commit_loop.h"

namespace crawlstore::service {

/// Lets a few jobs at a time go into the loop that read a whole crawl: each has a thread, a
/// snapshot and a crawl's state in memory until it ends. Others wait, each for a call that has not
/// ended. Threads: any.
class Listings {
 public:
  static constexpr std::size_t kAtOnce = 4;

  /// The loop must outlive all calls.
  explicit Listings(CommitLoop& loop) : loop_(loop) {}

  /// Adds a job, after which end() is called once.
  void add(std::unique_ptr<Job> job) {
    {
      const std::lock_guard lock(mutex_);
      if (running_ == kAtOnce) return waiting_.push_back(std::move(job));
      ++running_;
    }
    loop_.add(std::move(job));
  }
  void end() {
    std::unique_ptr<Job> next;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        --running_;
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    loop_.add(std::move(next));
  }

 private:
  CommitLoop& loop_;
  std::mutex mutex_;  // guards the rest
  std::size_t running_ = 0;
  std::deque<std::unique_ptr<Job>> waiting_;
};

}  // namespace crawlstore::service
