// SPDX-License-Identifier: Apache-2.0
//
// A forgotten page is never handed out.
#include <cerrno>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "queue/queue_words.h"
#include "support/bytes.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kPages = 20;

bool is_even(std::string_view url) {
  return (url.back() - '0') % 2 == 0;
}

/// Pages 0 to 19, of which each waits with its index as the priority.
void fill(Store& store, PageDb& pages, Queue& queue) {
  QueuedPages queued;
  for (std::uint64_t page = 0; page < kPages; ++page) {
    must(pages.add(CrawledPage("http://a.test/" + std::to_string(page), 1'000'000)));
    queued.push_back({page, static_cast<double>(page)});
  }
  must(queue.insert(queued));
  must(pages.merge());
  must(store.commit());
}

/// The rest of `queued` when pages with an even URL are forgotten. Indexes of new pages are not in
/// the order of their additions.
QueuedPages without_even(const Store& store, const QueuedPages& queued) {
  const auto view = must(PageView::open(must(store.snapshot())));
  QueuedPages left;
  for (const QueuedPage& page : queued) {
    if (!is_even(must(view.url(page.page)))) left.push_back(page);
  }
  return left;
}

TEST(QueueForget, TakesPagesFromTheQueueThatIsOpen) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  auto queue = must(Queue::open(*store));
  fill(*store, pages, queue);
  const QueuedPages left = without_even(*store, stored_pages(*store));
  const Generation before = store->generation();
  const auto report = must(pages.forget(is_even));
  EXPECT_EQ(report.page_count, kPages / 2);
  EXPECT_EQ(report.queued_count, kPages / 2);
  EXPECT_EQ(store->generation().value, before.value + 1);
  EXPECT_EQ(stored_pages(*store), left);
  EXPECT_EQ(must(queue.take(kAllPages)), left);
  expect_whole(store.file());
}

TEST(QueueForget, TakesPagesFromQueuesThatAreNot) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  {
    auto queue = must(Queue::open(*store, "other"));
    fill(*store, pages, queue);
  }
  const QueuedPages all = stored_pages(*store, "other");
  const QueuedPages left = without_even(*store, all);
  must(must(Queue::open(*store)).insert(QueuedPages{all.front(), all.back()}));
  ForgetOptions options;
  options.queues = {"queue", "other", "none"};
  EXPECT_GE(must(pages.forget(is_even, options)).queued_count, kPages / 2);
  EXPECT_EQ(stored_pages(*store, "other"), left);
  EXPECT_LE(stored_pages(*store).size(), 2U);
  expect_nothing_reserved(*store);
  expect_whole(store.file());
  auto queue = must(Queue::open(*store, "other"));
  EXPECT_EQ(must(queue.take(kAllPages)), left);
}

/// Both or none, wherever the disk is full.
TEST(QueueForget, LeavesTheQueueWhenTheDiskIsFull) {
  for (const bool is_open : {true, false}) {
    for (std::uint64_t nth = 1;; ++nth) {
      Recorder recorder(make_empty_store_file(std::uint64_t{1} << 26));
      auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
      auto pages = must(PageDb::open(store));
      std::optional<Queue> queue(must(Queue::open(store)));
      fill(store, pages, *queue);
      if (!is_open) queue.reset();
      const QueuedPages all = stored_pages(store);
      const QueuedPages left = without_even(store, all);
      recorder.inject({.calls = calls(CallKind::kWrite, CallKind::kAllocate),
                       .nth = nth,
                       .forever = true,
                       .system_errno = ENOSPC});
      const auto report = pages.forget(is_even);
      const bool has_injected = recorder.has_injected();
      recorder.stop_injecting();
      if (code_of(store.commit()) != Errc::kPoisoned) {
        EXPECT_EQ(stored_pages(store), report ? left : all) << nth;
        if (!queue) queue.emplace(must(Queue::open(store)));
        EXPECT_EQ(must(queue->take(kAllPages)), report ? left : all) << nth;
        must(store.commit());
        expect_nothing_reserved(store);
      }
      if (!has_injected) {
        EXPECT_TRUE(report);
        break;
      }
      ASSERT_LT(nth, 200U);
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
