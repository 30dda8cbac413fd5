// SPDX-License-Identifier: Apache-2.0
//
// Supersteps on a thread of their own, while further edits come in.
// covers: A5, A14
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"
#include "pages/page_model.h"
#include "support/bytes.h"
#include "support/child_process.h"
#include "support/recording_storage.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

/// Some forty edits fill the memory.
constexpr std::size_t kPadding = 5000;

PagesOptions options_of(bool parallel) {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 4;
  options.bucket_keys_max = 40;
  options.parallel = parallel;
  return options;
}

PageView view_of(const Store& store) {
  return must(PageView::open(must(store.snapshot())));
}

Result<void> add(PageDb& pages, const Edit& edit) {
  return edit.as_event([&](const CrawlEvent& event) { return pages.add(event); });
}

/// Adds edits of a crawl to a database and to a model.
struct Filling {
  explicit Filling(std::uint64_t seed) : crawl(seed) {}
  void add_to(PageDb& pages, std::uint64_t count) {
    for (; count > 0; --count) {
      const Edit edit = padded(crawl.next(), kPadding);
      model.apply(edit);
      must(add(pages, edit));
    }
  }
  RandomCrawl crawl;
  PageModel model;
};

void expect_whole(const std::shared_ptr<MemoryFile>& file) {
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  const auto report = must(verify(*open_memory_storage(file, OpenMode::kRead), options));
  for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding.error);
}

class PageFlights : public ::testing::TestWithParam<bool> {};

TEST_P(PageFlights, HoldWhatTheModelHolds) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    MemoryStore store;
    Filling filling(seed);
    Random when(seed * 55);
    std::optional<PageDb> pages(must(PageDb::open(*store, "pages", options_of(GetParam()))));
    std::uint64_t merges = 0;
    for (int step = 0; step < 12; ++step) {
      filling.add_to(*pages, when.below(120));
      if (when.below(3) == 0) must(store->commit());
      if (when.below(4) == 0) {
        pages.reset();
        store.reopen();
        pages.emplace(must(PageDb::open(*store, "pages", options_of(GetParam()))));
      }
      if (when.below(2) == 0) continue;
      must(pages->merge());
      ++merges;
      ASSERT_NO_FATAL_FAILURE(expect_same(view_of(*store), filling.model)) << seed << ' ' << step;
      expect_whole(store.file());
    }
    must(pages->merge());
    expect_same(view_of(*store), filling.model);
    EXPECT_GT(pages->status().superstep_count, merges + 1);  // memory called for some
  }
}

/// Crawls of a page without links, then one with them; memory is full after any of these.
TEST_P(PageFlights, BeginBetweenEditsOfTwoPages) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", options_of(GetParam())));
  constexpr std::int64_t kCrawls = 7;
  std::uint64_t superstep_count = 0;
  for (int page = 0; page < 1000; ++page) {
    Edit edit;
    edit.url = "http://a.example/" + std::to_string(page) + std::string(kPadding, 'p');
    for (edit.time_us = 1; edit.time_us <= kCrawls; ++edit.time_us) {
      if (edit.time_us == kCrawls) edit.links.emplace_back("http://b.example/", 0);
      must(add(pages, edit));
    }
    if (pages.status().superstep_count == superstep_count) continue;
    superstep_count = pages.status().superstep_count;
    must(view_of(*store).for_each_page([](const PageInfo& found) {
      EXPECT_EQ(found.crawl_count, found.url == "http://b.example/" ? 0 : kCrawls) << found.url;
      return true;
    }));
  }
  EXPECT_GT(superstep_count, 3U);
}

/// However many edits of one page come.
TEST_P(PageFlights, BeginAmongTheEditsOfAPageThatFillMoreThanTheMemory) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", options_of(GetParam())));
  Edit edit;
  edit.kind = CrawlEventKind::kLinkAdded;
  edit.url = "http://a.example/";
  for (int link = 0; link < 500; ++link) {
    edit.links = {{"http://b.example/" + std::to_string(link) + std::string(kPadding, 'p'), 0}};
    must(add(pages, edit));
    EXPECT_LT(pages.status().memory_bytes, std::uint64_t{5} << 19);
  }
  EXPECT_GT(pages.status().superstep_count, 0U);
}
INSTANTIATE_TEST_SUITE_P(Parallel, PageFlights, ::testing::Bool());

/// The bytes of a file after a crawl, in which memory calls for most of the supersteps.
std::vector<std::byte> bytes_of_a_crawl(std::uint64_t seed, bool parallel) {
  MemoryStore store;
  RandomCrawl crawl(seed);
  const auto add_some = [&crawl](PageDb& pages, int count, std::size_t padding) {
    for (; count > 0; --count) must(add(pages, padded(crawl.next(), padding)));
    must(pages.merge());
  };
  {
    auto pages = must(PageDb::open(*store, "pages", options_of(parallel)));
    add_some(pages, 700, 0);  // many pages, so that a batch that is used again has many slots
    add_some(pages, 300, kPadding);
    EXPECT_GT(pages.status().superstep_count, 5U);
    must(pages.close());
  }
  auto again = must(PageDb::open(*store, "pages", options_of(parallel)));
  add_some(again, 200, kPadding);
  must(again.compact());
  must(store->close());
  return store.image();
}

TEST(PageFlight, WritesTheSameBytesWhateverTheThreads) {
  for (std::uint64_t seed = 21; seed <= 22; ++seed) {
    EXPECT_TRUE(bytes_of_a_crawl(seed, false) == bytes_of_a_crawl(seed, true)) << seed;
  }
}

/// Fills the memory, so that a superstep is on its way.
void launch(PageDb& pages, Filling& filling) {
  while (pages.status().memory_bytes < std::uint64_t{5} << 17) filling.add_to(pages, 1);
  filling.add_to(pages, 10);
}

TEST(PageFlight, IsPublishedByACommitWithTheEditsThatCameSince) {
  MemoryStore store;
  Filling filling(5);
  auto pages = must(PageDb::open(*store, "pages", options_of(true)));
  launch(pages, filling);
  EXPECT_EQ(pages.status().superstep_count, 0U);
  const std::uint64_t waiting = pages.status().edit_count;
  must(store->commit());
  EXPECT_EQ(pages.status().superstep_count, 1U);
  EXPECT_LT(pages.status().edit_count, waiting);
  EXPECT_GT(pages.status().edit_count, 0U);
  EXPECT_EQ(view_of(*store).info().event_count, pages.status().edit_count);
  MemoryStore after_a_crash(store.image());
  auto again = must(PageDb::open(*after_a_crash, "pages", options_of(true)));
  must(again.merge());
  expect_same(view_of(*after_a_crash), filling.model);
}

TEST(PageFlight, IsNotRolledBackUnderWay) {
  MemoryStore store;
  Filling filling(5);
  auto pages = must(PageDb::open(*store, "pages", options_of(true)));
  launch(pages, filling);
  EXPECT_EQ(code_of(store->rollback()), Errc::kInvalidArgument);
  EXPECT_EQ(pages.status().superstep_count, 0U);
  must(pages.close());  // it lands
  EXPECT_EQ(view_of(*store).info().superstep_count, 1U);
  must(store->rollback());
  EXPECT_TRUE(PageView::names(must(store->snapshot())).empty());
  expect_whole(store.file());
}

TEST(PageFlight, LeavesEditsWaitingWhenItFails) {
  const auto file = make_empty_store_file(std::uint64_t{1} << 28);
  Recorder recorder(file);
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  Filling filling(6);
  auto pages = must(PageDb::open(store, "pages", options_of(true)));
  launch(pages, filling);
  must(pages.merge());
  FailurePlan full{.calls = calls(CallKind::kAllocate), .forever = true, .system_errno = ENOSPC};
  recorder.inject(full);
  launch(pages, filling);
  const auto before = pages.status();
  EXPECT_EQ(pages.merge().error().code, Errc::kNoSpace);
  EXPECT_EQ(pages.status().edit_count, before.edit_count);
  EXPECT_EQ(pages.status().page_count, before.page_count);
  EXPECT_EQ(store.commit().error().code, Errc::kNoSpace);
  const Edit edit = padded(filling.crawl.next(), std::size_t{1} << 20);
  filling.model.apply(edit);
  EXPECT_EQ(add(pages, edit).error().code, Errc::kNoSpace);  // memory is full, the edit was taken
  recorder.stop_injecting();
  must(pages.merge());
  expect_same(view_of(store), filling.model);
  must(pages.close());
  must(store.close());
  expect_whole(file);
}

/// Not what an ordinary commit published before.
TEST(PageFlight, IsReportedByTheMergeThatPublishesIt) {
  const auto file = make_empty_store_file(std::uint64_t{1} << 28);
  Recorder recorder(file);
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto pages = must(PageDb::open(store, "pages", options_of(true)));
  Filling filling(11);
  launch(pages, filling);
  must(store.commit());
  must(pages.merge());
  launch(pages, filling);
  must(store.commit());  // leaves a report that nobody asked for
  recorder.inject({.calls = calls(CallKind::kWrite)});
  launch(pages, filling);  // fails once, so that the merge makes it good
  const std::uint64_t waiting = pages.status().edit_count;
  const auto report = must(pages.merge());
  ASSERT_TRUE(recorder.has_injected());
  EXPECT_EQ(report.edit_count, waiting);
  EXPECT_EQ(must(pages.merge()).edit_count, 0U);
  expect_same(view_of(store), filling.model);
}

/// A commit of something else waits for the superstep, and a dispatcher may add meanwhile.
TEST(PageFlight, GoesTogetherWithDispatchers) {
  using Seen = Drum<std::uint64_t, NoValue, std::string>;
  struct Adding {
    PageDb& pages;
    Filling& filling;
    void unique_key_update(const Seen::AnswerType& /*answer*/) { filling.add_to(pages, 30); }
  };
  MemoryStore store;
  Filling filling(7);
  auto pages = must(PageDb::open(*store, "pages", options_of(true)));
  auto seen = must(Seen::open(*store, "seen"));
  for (std::uint64_t round = 0; round < 4; ++round) {
    launch(pages, filling);
    must(seen.check_update(round, {}, "x"));
    Adding adding{pages, filling};
    must(seen.merge(adding));
  }
  must(pages.merge());
  expect_same(view_of(*store), filling.model);
  must(pages.close());
  must(seen.close());
  must(store->close());
  expect_whole(store.file());
}

/// Holds all writes of threads but the one that makes it, until it is told otherwise.
class Holding {
 public:
  explicit Holding(Recorder& recorder) {
    recorder.set_hook([this](CallKind kind, Extent) {
      if (kind != CallKind::kWrite || std::this_thread::get_id() == own_) return;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !is_held_; });
    });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    changed_.notify_all();
  }

 private:
  const std::thread::id own_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = true;
};

TEST(PageFlight, StopsWhenItIsToldTo) {
  const auto file = make_empty_store_file(std::uint64_t{1} << 28);
  Recorder recorder(file);
  Holding holding(recorder);
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto pages = must(PageDb::open(store, "pages", options_of(true)));
  Filling filling(9);
  launch(pages, filling);
  const std::uint64_t edit_count = pages.status().edit_count;
  const auto merged = pages.merge([&](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    holding.let_go();
    return false;
  });
  EXPECT_EQ(merged.error().code, Errc::kCancelled);
  EXPECT_EQ(pages.status().edit_count, edit_count);
  must(pages.merge());
  expect_same(view_of(store), filling.model);
}

/// Its edits wait in the file, and the caller gets what its function threw.
TEST(PageFlight, IsTakenBackWhenClosingAsksAFunctionThatThrows) {
  const auto file = make_empty_store_file(std::uint64_t{1} << 28);
  Recorder recorder(file);
  Holding holding(recorder);
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto options = options_of(true);
  options.progress = [&holding](std::uint64_t, std::uint64_t) -> bool {
    holding.let_go();
    throw std::out_of_range("mine");
  };
  auto pages = must(PageDb::open(store, "pages", options));
  Filling filling(12);
  launch(pages, filling);
  const std::uint64_t edit_count = pages.status().edit_count;
  EXPECT_THROW((void)pages.close(), std::out_of_range);
  auto again = must(PageDb::open(store, "pages", options_of(true)));
  EXPECT_EQ(again.status().edit_count, edit_count);
  EXPECT_EQ(again.status().superstep_count, 0U);
  must(again.merge());
  must(store.commit());
  expect_same(view_of(store), filling.model);
  expect_whole(file);
}

/// The superstep is held in the middle, and the store closes: nothing is lost, nothing hangs.
TEST(PageFlight, LandsWhenItsStoreCloses) {
  const auto file = make_empty_store_file(std::uint64_t{1} << 28);
  Recorder recorder(file);
  Holding holding(recorder);
  Filling filling(8);
  {
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    auto pages = must(PageDb::open(store, "pages", options_of(true)));
    launch(pages, filling);
    EXPECT_GT(pages.status().edit_count, 40U);  // those in flight among them
    std::thread releases([&] { holding.let_go(); });
    must(store.close());
    releases.join();
  }
  recorder.set_hook({});
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto pages = must(PageDb::open(store, "pages", options_of(true)));
  must(pages.merge());
  expect_same(view_of(store), filling.model);
}

/// A child that was forked meanwhile ends its copies without waiting for a thread that it has not.
TEST(PageFlight, IsNotWaitedForByAForkedChild) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.crawl";
  must(must(Store::create(path)).close());
  Recorder recorder(std::vector<std::byte>{});
  Holding holding(recorder);
  auto store = must(Store::open(recorder.wrap(must(open_storage(path, OpenMode::kWrite)))));
  auto options = options_of(true);
  options.progress = [](std::uint64_t, std::uint64_t) { return true; };
  auto pages = must(PageDb::open(store, "pages", options));
  Filling filling(10);
  launch(pages, filling);
  const auto ends = [&] {
    const auto closed = pages.close();
    const auto store_closed = store.close();
    const bool is_refused = !closed && closed.error().code == Errc::kForked && !store_closed &&
                            store_closed.error().code == Errc::kForked;
    return is_refused ? 0 : 1;
  };
  EXPECT_EQ(run_in_child(ends), 0);
  holding.let_go();
  must(pages.merge());
  expect_same(view_of(store), filling.model);
}

}  // namespace
}  // namespace crawlstore::testing
