// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The input `crawl` of queue_run.h, and the set of pages that it needs on top of a heap.
/// Ownership: values, and the queue below. Threads: one.

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench_queue.h"
#include "seen_run.h"

namespace crawlstore::bench {

/// The pages that are inserted, and their priorities.
class QueueInput {
 public:
  QueueInput() = default;
  QueueInput(const QueueInput&) = delete;
  QueueInput& operator=(const QueueInput&) = delete;
  virtual ~QueueInput() = default;

  /// The i-th page of the build.
  virtual QueuedPage first(std::uint64_t i) = 0;
  /// Makes of the pages that a cycle took those that it inserts.
  virtual void follow(std::vector<QueuedPage>& pages) = 0;

 protected:
  std::uint64_t random() { return mix(state_ += 0x9E3779B97F4A7C15U); }
  double fraction() { return static_cast<double>(random() >> 40) * 0x1p-24; }

 private:
  std::uint64_t state_ = 1;
};

class CrawlInput final : public QueueInput {
 public:
  explicit CrawlInput(const QueueOptions& options) {
    priorities_.reserve(options.entry_count + kNewForOne * options.take_count);
  }

  QueuedPage first(std::uint64_t) override {
    priorities_.push_back(0);
    ++waiting_count_;
    return link(priorities_.size() - 1);
  }
  void follow(std::vector<QueuedPage>& pages) override {
    const std::uint64_t known_count = priorities_.size();
    for (const QueuedPage& page : pages) priorities_[page.page] = kTaken;
    waiting_count_ -= pages.size();
    owed_ += waiting_count_ * pages.size();
    const std::uint64_t new_count = kNewForOne * pages.size();
    pages.clear();
    pages.reserve(new_count + owed_ / kTakenForAll);
    for (std::uint64_t i = 0; i < new_count; ++i) pages.push_back(first(i));
    for (; owed_ >= kTakenForAll; owed_ -= kTakenForAll) {
      std::uint64_t page = 0;
      do page = random() % known_count;
      while (priorities_[page] == kTaken);
      pages.push_back(link(page));
    }
  }

 private:
  static constexpr std::uint64_t kNewForOne = 10;
  static constexpr std::uint64_t kTakenForAll = 10'000'000;  ///< as many links as pages wait
  static constexpr double kTaken = -1;
  static constexpr double kHostCountLog2 = 16;

  /// One more link to a page that waits.
  QueuedPage link(std::uint64_t page) {
    const double host_log2 = static_cast<double>(mix(page) >> 40) * 0x1p-24 * kHostCountLog2;
    const double pareto = std::pow(1 - fraction(), -1 / 1.1);
    double& priority = priorities_[page];
    priority = static_cast<float>(priority + pareto * std::exp2(-host_log2 / 2));
    return {.page = page, .priority = priority};
  }

  std::vector<double> priorities_;  ///< of pages that wait
  std::uint64_t waiting_count_ = 0;
  std::uint64_t owed_ = 0;  ///< links to pages that wait, times kTakenForAll
};

/// A set of pages on top of a queue in which one may be more than once: the priority of each page
/// that waits is in an array, and an entry that has another one is left out as it comes up.
class LazyQueue final : public BenchQueue {
 public:
  explicit LazyQueue(std::unique_ptr<BenchQueue> below) : below_(std::move(below)) {}

  [[nodiscard]] std::string name() const override { return below_->name(); }
  void insert(std::span<const QueuedPage> pages) override {
    changed_.clear();
    changed_.reserve(pages.size());
    for (const QueuedPage& page : pages) {
      if (page.page >= priorities_.size()) priorities_.resize(page.page + 1, kTaken);
      if (std::exchange(priorities_[page.page], page.priority) != page.priority) {
        changed_.push_back(page);
      }
    }
    if (!changed_.empty()) below_->insert(changed_);
  }
  std::vector<QueuedPage> take(std::size_t count) override {
    std::vector<QueuedPage> taken = below_->take(count);
    bool is_end = taken.size() < count;
    drop_stale(taken, 0);
    while (taken.size() < count && !is_end) {
      const std::vector<QueuedPage> more = below_->take(count - taken.size());
      is_end = more.size() < count - taken.size();
      const std::size_t begin = taken.size();
      taken.insert(taken.end(), more.begin(), more.end());
      drop_stale(taken, begin);
    }
    return taken;
  }
  void commit() override { below_->commit(); }

 private:
  static constexpr double kTaken = -std::numeric_limits<double>::infinity();

  void drop_stale(std::vector<QueuedPage>& pages, std::size_t begin) {
    std::size_t end = begin;
    for (std::size_t i = begin; i < pages.size(); ++i) {
      double& priority = priorities_[pages[i].page];
      if (priority != pages[i].priority) continue;
      priority = kTaken;
      pages[end++] = pages[i];
    }
    pages.resize(end);
  }

  std::unique_ptr<BenchQueue> below_;
  std::vector<double> priorities_;
  std::vector<QueuedPage> changed_;
};

}  // namespace crawlstore::bench
