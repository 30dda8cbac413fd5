// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The words that tests of queues in stores say often.

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/queue.h>
#include <crawlstore/tools/verify.h>

#include "base/inside.h"
#include "container/crash_store.h"
#include "container/store_impl.h"
#include "drum/memory_store.h"
#include "support/random.h"

namespace crawlstore::testing {

using QueuedPages = std::vector<QueuedPage>;

/// A DRUM beside the queue.
using Seen = Drum<std::uint64_t>;

inline DrumOptions seen_options() {
  DrumOptions options;
  options.bucket_count = 4;
  options.auto_merge = false;
  return options;
}

struct LeavesBefore {
  bool operator()(const QueuedPage& a, const QueuedPage& b) const {
    return a.priority != b.priority ? a.priority > b.priority : a.page < b.page;
  }
};

/// The model of a queue: the pages that wait, the first to leave first.
class QueueModel {
 public:
  void insert(const QueuedPages& pages) {
    for (const QueuedPage& page : pages) {
      remove(page.page);
      priorities_[page.page] = page.priority;
      pages_.insert(page);
    }
  }
  void update(const QueuedPages& pages) {
    for (const QueuedPage& page : pages) {
      if (priorities_.contains(page.page)) insert({page});
    }
  }
  void remove(std::uint64_t page) {
    const auto at = priorities_.find(page);
    if (at == priorities_.end()) return;
    pages_.erase({page, at->second});
    priorities_.erase(at);
  }
  QueuedPages take(std::size_t count) {
    QueuedPages taken = first(count);
    for (const QueuedPage& page : taken) remove(page.page);
    return taken;
  }
  [[nodiscard]] QueuedPages first(std::size_t count) const {
    QueuedPages found;
    for (auto at = pages_.begin(); at != pages_.end() && found.size() < count; ++at) {
      found.push_back(*at);
    }
    return found;
  }
  [[nodiscard]] QueuedPages all() const { return {pages_.begin(), pages_.end()}; }
  [[nodiscard]] std::size_t count() const { return pages_.size(); }
  [[nodiscard]] bool contains(std::uint64_t page) const { return priorities_.contains(page); }

 private:
  std::set<QueuedPage, LeavesBefore> pages_;
  std::map<std::uint64_t, double> priorities_;
};

/// Pages with priorities of which some are equal. Some pages come again sooner or later, and a few
/// at once.
inline QueuedPages random_pages(Random& random, std::size_t count) {
  constexpr std::uint64_t kPriorities = 5000;
  QueuedPages pages;
  while (pages.size() < count) {
    pages.push_back({random.below(std::uint64_t{1} << (random.below(4) == 0 ? 15U : 30U)),
                     static_cast<double>(random.below(kPriorities)) / kPriorities});
    if (random.below(50) == 0 && pages.size() < count) pages.push_back(pages.back());
  }
  return pages;
}

inline constexpr std::size_t kAllPages = ~std::size_t{0};

/// All that the newest generation has in a queue.
inline QueuedPages stored_pages(const Store& store, std::string_view name = Queue::kDefaultName) {
  return must(must(QueueView::open(must(store.snapshot()), name)).peek(kAllPages));
}

/// A queue of some runs, from which pages have left.
inline void fill_queue(Store& store, Queue& queue, Random& random, QueueModel& model) {
  for (const std::size_t count : {30'000U, 9000U, 4000U, 100U}) {
    const QueuedPages pages = random_pages(random, count);
    model.insert(pages);
    must(queue.insert(pages));
    EXPECT_EQ(must(queue.take(count / 3)), model.take(count / 3));
    must(store.commit());
  }
}

/// After a commit of all that waits: no run was forgotten.
inline void expect_nothing_reserved(Store& store) {
  if (const Fault fault = check_space(*Inside::of(store).writer, {})) ADD_FAILURE() << *fault;
}

/// Deep verification finds nothing.
inline void expect_whole(const std::shared_ptr<MemoryFile>& file) {
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  const auto report = must(verify(*open_memory_storage(file, OpenMode::kRead), options));
  for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding.error);
}

}  // namespace crawlstore::testing
