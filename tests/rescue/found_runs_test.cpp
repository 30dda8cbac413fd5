// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/queue.h>

#include "base/inside.h"
#include "container/reader.h"
#include "drum/memory_store.h"
#include "rescue/run_search.h"

namespace crawlstore::testing {
namespace {

using rescue::find_runs;
using rescue::FoundRun;
using rescue::kIdsMax;

const rescue::Advance kGoOn = [](std::uint64_t) -> Result<void> { return {}; };

/// A store with a segment of nearly every kind.
class FullStore {
 public:
  FullStore() {
    PageDb pages = must(PageDb::open(*store_));
    for (int i = 0; i < 300; ++i) add_page(pages, i);
    must(pages.merge());
    add_page(pages, 300);
    Queue queue = must(Queue::open(*store_, "queue"));
    const std::vector<QueuedPage> waiting{{1, 0.5}, {2, 0.25}};
    must(queue.insert(waiting));
    must(store_->commit());
  }
  [[nodiscard]] std::unique_ptr<Storage> storage() const {
    return open_memory_storage(store_.file(), OpenMode::kRead);
  }
  [[nodiscard]] Snapshot snapshot() { return must(store_->snapshot()); }

 private:
  static void add_page(PageDb& pages, int number) {
    const std::string url = "https://host.example/" + std::to_string(number);
    const std::string link = "https://other.example/" + std::to_string(number % 7);
    const std::vector<EventLink> links{{link, 0, 0}};
    CrawlEvent event;
    event.url = url;
    event.time_us = 1;
    event.links = links;
    must(pages.add(event));
  }
  MemoryStore store_;
};

TEST(RunSearch, FindsTheRunsOfADirectory) {
  FullStore store;
  const Snapshot snapshot = store.snapshot();
  const auto& reader = Inside::of(snapshot);
  const auto found = must(find_runs(*store.storage(), reader.identity().uuid, {}, kIdsMax, kGoOn));
  std::set<SegmentKind> kinds;
  reader.directory().for_each_segment([&](const format::SegmentEntry& entry) {
    for (auto run : entry.runs) {
      kinds.insert(entry.kind);
      run.born = {};
      const auto same = std::ranges::find(found, run, &FoundRun::run);
      ASSERT_NE(same, found.end()) << name_of(entry.kind);
      EXPECT_TRUE(same->is_whole);
      EXPECT_EQ(same->label.segment, entry.id);
      EXPECT_EQ(same->label.owner, entry.owner);
      EXPECT_EQ(same->label.kind, entry.kind);
    }
  });
  EXPECT_GE(kinds.size(), 8U);
}

TEST(RunSearch, LeavesOutWhatTheDirectoryHas) {
  FullStore store;
  const Snapshot snapshot = store.snapshot();
  const auto& directory = Inside::of(snapshot).directory();
  const auto found = must(find_runs(*store.storage(), Inside::of(snapshot).identity().uuid,
                                    directory.live_extents(), kIdsMax, kGoOn));
  for (const FoundRun& run : found) {
    const auto* entry = directory.find(run.label.segment);
    EXPECT_TRUE(entry == nullptr || entry->find_run(run.run.run_id) == nullptr);
  }
}

}  // namespace
}  // namespace crawlstore::testing
