// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of all drivers of queues: the pages, the clock, the sum that shows which pages
/// left in which order, and the one line of JSON.
///
/// ENTRIES pages, in random order, are inserted in batches. Then cycles: the BATCH first are taken,
/// in order, and come back with new priorities, until TAKE were taken. The clock runs while the
/// queue works, not while priorities are made; of the cycles the processor's time, of all threads,
/// is taken as well, since the clock tells little on a machine that is shared.
///
///   random      24 random bits; a page comes back lower by as many: by up to all of the range
///   equal       all the same, so those that were taken are the first again
///   ascending   each higher than all before it: the last comes first
///   descending  each lower than all before it: the first comes first
///   above       built as random; then each above all before it
///   ties        1/k with k from 1 to 64; a page comes back with a k that is higher by as much
///   crawl       no page comes back; for each that was taken ten new ones are inserted, and for
///   each
///               100,000 taken 1 % of those that wait are inserted again, spread over the cycles.
///               Pages are numbered as they are first inserted. A link to a page of host k adds
///               Pareto(1.1) / sqrt(k) to its priority, a float as scores are: its first link, and
///               one each time that it is inserted again. Hosts are 1 to 65,536, and k has 1/k of
///               the pages of host 1. The choice of pages to insert again is uniform, so by hosts
///               it is as skewed. crawlstore's queue is a set; on top of the others, whose pages
///               cannot be changed, there is LazyQueue (queue_crawl.h), whose time counts.
///
/// COMMIT says when a queue commits that can: `million`, each 2^20 pages that were inserted, or
/// `cycle`, each cycle as well; and at the end.
///
/// Errors: fail(), which guarded_main() prints. Threads: one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/queue.h>

#include "seen_run.h"

namespace crawlstore::bench {

struct QueueOptions {
  std::string path;
  std::uint64_t entry_count = 0;
  std::uint64_t take_count = 0;
  std::uint64_t batch = 0;
  std::string input;
  std::uint64_t memory_bytes = 0;  ///< what the queue is tuned for; 0 = all the memory it likes
  bool commits_each_cycle = false;
};

/// The order of all queues, as a comparison for heaps: the greatest element leaves first.
struct LeavesAfter {
  bool operator()(const QueuedPage& a, const QueuedPage& b) const {
    return a.priority < b.priority || (a.priority == b.priority && a.page > b.page);
  }
};

class BenchQueue {
 public:
  BenchQueue() = default;
  BenchQueue(const BenchQueue&) = delete;
  BenchQueue& operator=(const BenchQueue&) = delete;
  virtual ~BenchQueue() = default;

  [[nodiscard]] virtual std::string name() const = 0;  ///< with its version
  virtual void insert(std::span<const QueuedPage> pages) = 0;
  virtual std::vector<QueuedPage> take(std::size_t count) = 0;
  virtual void commit() {}
  /// A page that is inserted again has only the new priority.
  [[nodiscard]] virtual bool is_set() const { return false; }
};

/// The driver of something that is used like std::priority_queue.
template <class Heap>
class HeapQueue final : public BenchQueue {
 public:
  explicit HeapQueue(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  void insert(std::span<const QueuedPage> pages) override {
    for (const QueuedPage& page : pages) heap_.push(page);
  }
  std::vector<QueuedPage> take(std::size_t count) override {
    std::vector<QueuedPage> taken;
    taken.reserve(count);
    for (; taken.size() < count && !heap_.empty(); heap_.pop()) taken.push_back(heap_.top());
    return taken;
  }

 private:
  std::string name_;
  Heap heap_;
};

/// Runs a driver with PATH ENTRIES TAKE BATCH INPUT MEMORY COMMIT, and prints its line.
int queue_main(int argc, char** argv,
               const std::function<std::unique_ptr<BenchQueue>(const QueueOptions& options)>& open);

}  // namespace crawlstore::bench
