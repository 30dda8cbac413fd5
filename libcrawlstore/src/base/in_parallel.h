// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tasks on several threads. The assignment of tasks to threads, and their order, are open and must
/// not reach a result: each task writes places of its own.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <system_error>
#include <vector>

#include <crawlstore/error.h>

namespace crawlstore {

/// Calls work(task, worker), which returns Result<void>, once for each task below `task_count`, on
/// at most `threads` threads. Worker 0 is the calling thread; each worker has one task at a time.
/// Where the system has no more threads, fewer work.
///   errors  what a task returned or threw; tasks that have not begun are left out
template <class Work>
Result<void> in_parallel(unsigned threads, std::uint64_t task_count, const Work& work) {
  std::atomic<std::uint64_t> next{0};
  const auto take_tasks = [&](unsigned worker) -> Result<void> {
    try {
      for (;;) {
        const std::uint64_t task = next.fetch_add(1, std::memory_order_relaxed);
        if (task >= task_count) return {};
        Result<void> done = work(task, worker);
        if (done) continue;
        next = task_count;
        return done;
      }
    } catch (...) {
      next = task_count;
      throw;
    }
  };
  std::vector<std::future<Result<void>>> others;
  const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(threads, task_count));
  if (workers > 1) others.reserve(workers - 1);
  try {
    for (unsigned worker = 1; worker < workers; ++worker) {
      others.push_back(std::async(std::launch::async, take_tasks, worker));
    }
  } catch (const std::system_error&) {
    // The threads that there are do it.
  }
  Result<void> first = take_tasks(0);
  for (auto& other : others) {
    const Result<void> done = other.get();
    if (first && !done) first = done;
  }
  return first;
}

}  // namespace crawlstore
