// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The best of many scored pages, in memory for these alone. Threads: one.

#include <cstddef>
#include <queue>
#include <vector>

#include <crawlstore/scores.h>

namespace crawlstore::model {

/// The best of the pages that are added, as ScoreView::top() orders them; so many at most.
class BestPages {
 public:
  explicit BestPages(std::size_t count) : count_(count) {}
  static bool is_better(const ScoredPage& a, const ScoredPage& b) {
    return a.score != b.score ? a.score > b.score : a.index < b.index;
  }
  void add(const ScoredPage& page) {
    if (best_.size() == count_ && (best_.empty() || !is_better(page, best_.top()))) return;
    best_.push(page);
    if (best_.size() > count_) best_.pop();
  }
  /// Best first.
  [[nodiscard]] std::vector<ScoredPage> take() {
    std::vector<ScoredPage> pages(best_.size());
    for (auto page = pages.rbegin(); page != pages.rend(); ++page, best_.pop()) *page = best_.top();
    return pages;
  }

 private:
  struct Better {
    bool operator()(const ScoredPage& a, const ScoredPage& b) const { return is_better(a, b); }
  };
  std::size_t count_ = 0;
  std::priority_queue<ScoredPage, std::vector<ScoredPage>, Better> best_;  // the worst on top
};

}  // namespace crawlstore::model
