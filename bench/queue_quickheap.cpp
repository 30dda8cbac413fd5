// SPDX-License-Identifier: Apache-2.0
//
// A quickheap in RAM (Navarro and Paredes): quicksort that goes on only where pages are about to
// leave. The array ascends from pivot to pivot towards its end, and is not sorted between them.
// Nothing survives, nothing is committed.

#include <algorithm>
#include <utility>

#include "queue_run.h"

namespace crawlstore::bench {
namespace {

class Quickheap {
 public:
  [[nodiscard]] bool empty() const { return pages_.empty(); }

  /// Moves the first page of each segment behind which `page` belongs to the segment's other end.
  void push(const QueuedPage& page) {
    std::size_t hole = pages_.size();
    pages_.push_back(page);
    for (auto pivot = pivots_.rbegin(); pivot != pivots_.rend(); ++pivot) {
      if (!after_(page, pages_[*pivot])) break;
      pages_[hole] = pages_[*pivot + 1];
      pages_[*pivot + 1] = pages_[*pivot];
      hole = (*pivot)++;
    }
    pages_[hole] = page;
  }

  const QueuedPage& top() {
    while (pivots_.empty() || pivots_.back() + 1 < pages_.size()) split_last();
    return pages_.back();
  }

  /// Only after top().
  void pop() {
    pages_.pop_back();
    pivots_.pop_back();
  }

 private:
  /// Splits what is behind the last pivot by one of its pages.
  void split_last() {
    const auto begin =
        pages_.begin() + static_cast<std::ptrdiff_t>(pivots_.empty() ? 0 : pivots_.back() + 1);
    const auto last = pages_.end() - 1;
    state_ += 0x9E3779B97F4A7C15U;
    const auto size = static_cast<std::uint64_t>(pages_.end() - begin);
    std::iter_swap(begin + static_cast<std::ptrdiff_t>(mix(state_) % size), last);
    const auto middle =
        std::partition(begin, last, [&](const QueuedPage& page) { return after_(page, *last); });
    std::iter_swap(middle, last);
    pivots_.push_back(static_cast<std::size_t>(middle - pages_.begin()));
  }

  std::vector<QueuedPage> pages_;
  std::vector<std::size_t> pivots_;  ///< their places, ascending
  std::uint64_t state_ = 1;
  LeavesAfter after_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return queue_main(argc, argv, [](const QueueOptions&) {
    return std::make_unique<HeapQueue<Quickheap>>("quickheap");
  });
}
