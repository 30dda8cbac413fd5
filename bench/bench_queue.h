// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The interface of queues that queue_run.h drives.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/queue.h>

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

}  // namespace crawlstore::bench
