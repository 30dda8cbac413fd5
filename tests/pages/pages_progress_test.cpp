// SPDX-License-Identifier: Apache-2.0
//
// Supersteps, compaction and forgetting tell how far they are, and stop when they are told to, or
// when a function of the caller throws, with nothing changed.
#include <array>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>

#include "pages/page_words.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kPages = 9000;
constexpr std::uint64_t kLinks = 40;  // of a page

std::string url_of(std::uint64_t i) {
  return "http://host" + std::to_string(i % 5) + ".example/" + std::to_string(i);
}

/// Pages [first, end), each with links to the `link_count` before it: so each has its number as
/// index.
void add_pages(PageDb& pages, std::uint64_t first, std::uint64_t end, std::uint64_t link_count) {
  for (std::uint64_t i = first; i < end; ++i) {
    CrawledPage page(url_of(i), static_cast<std::int64_t>(1 + i));
    for (std::uint64_t j = 1; j <= std::min(i, link_count); ++j) page.add_link(url_of(i - j));
    must(pages.add(page));
  }
}

/// The state that a stopped call must leave as it was.
struct State {
  Generation generation;
  std::uint64_t used_bytes = 0;
  std::uint64_t edit_count = 0;
  std::uint64_t page_count = 0;
  std::uint64_t link_count = 0;
  std::uint64_t superstep_count = 0;
  friend bool operator==(const State&, const State&) = default;
};

State state_of(MemoryStore& store, const PageDb& pages) {
  const PagesStatus status = pages.status();
  return {store->generation(), store->file_bytes() - store->free_bytes(),
          status.edit_count,   status.page_count,
          status.link_count,   status.superstep_count};
}

/// Calls `work` with a Progress that says stop at its first call, at its second one, and so on,
/// until it is not stopped any more; returns how often it looks. Each time nothing has changed. The
/// long run stops at every look, others at one in three, by seed.
template <class Work>
std::uint64_t stop_at_each_look(MemoryStore& store, const PageDb& pages, const Work& work) {
  const State before = state_of(store, pages);
  const std::uint64_t stride = is_long() ? 1 : 3;
  for (std::uint64_t stop_at = 1 + test_seed() % stride;; stop_at += stride) {
    std::uint64_t look_count = 0;
    std::uint64_t last = 0;
    const auto done = work([&](std::uint64_t steps, std::uint64_t total) {
      EXPECT_LE(steps, total);
      EXPECT_GE(steps, last);
      last = steps;
      return ++look_count < stop_at;
    });
    if (done) {
      EXPECT_LT(look_count, stop_at);
      return look_count;
    }
    EXPECT_EQ(done.error().code, Errc::kCancelled);
    EXPECT_EQ(look_count, stop_at);
    EXPECT_EQ(state_of(store, pages), before) << stop_at;
    if (stop_at % 4 == 0) expect_whole(store);
  }
}

/// Some supersteps, so that there are runs to join.
void run_supersteps(PageDb& pages, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    add_pages(pages, i * kPages / count, (i + 1) * kPages / count, kLinks);
    must(pages.merge());
  }
}

TEST(PagesProgress, StopsASuperstepAnywhereAndChangesNothing) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  run_supersteps(pages, 9);  // the tenth joins runs
  add_pages(pages, 0, kPages, kLinks / 2);
  add_pages(pages, kPages, 2 * kPages, 1);
  must(store->commit());
  const auto merge = [&](const Progress& progress) { return pages.merge(progress); };
  EXPECT_GT(stop_at_each_look(store, pages, merge), 10U);
  expect_whole(store);
  const PageView view = view_of(*store);
  EXPECT_EQ(view.info().link_count,
            kPages * (kLinks / 2) - (kLinks / 2) * (kLinks / 2 + 1) / 2 + kPages);
  EXPECT_EQ(must(view.find(url_of(2 * kPages - 1))), 2 * kPages - 1);
  EXPECT_EQ(must(view.page(7)).crawl_count, 2U);
}

TEST(PagesProgress, KeepsWaitingEditsForTheNextProcess) {
  MemoryStore store;
  {
    auto pages = must(PageDb::open(*store));
    run_supersteps(pages, 2);
    add_pages(pages, kPages, 2 * kPages, 2);
    const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
    EXPECT_EQ(pages.merge(stop).error().code, Errc::kCancelled);
    must(pages.close());
  }
  store.reopen();
  auto pages = must(PageDb::open(*store));
  EXPECT_EQ(pages.status().edit_count, kPages);
  EXPECT_EQ(must(pages.merge()).new_page_count, kPages);
  expect_whole(store);
}

constexpr std::array kJoined{SegmentKind::kOutLinks, SegmentKind::kInLinks,
                             SegmentKind::kPageOrigins};

std::uint64_t run_count(const Store& store, SegmentKind kind) {
  std::uint64_t count = 0;
  const Snapshot snapshot = must(store.snapshot());
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind == kind) count += segment.runs.size();
  }
  return count;
}

std::vector<std::byte> store_with_runs() {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  run_supersteps(pages, 6);
  for (const SegmentKind kind : kJoined) EXPECT_EQ(run_count(*store, kind), 6U);
  return store.image();
}

TEST(PagesProgress, StopsCompactionAnywhereAndJoinsEachLogOrNot) {
  const auto image = store_with_runs();
  std::set<std::uint64_t> joined_counts;  // of the logs, when it was stopped
  bool is_done = false;
  for (std::uint64_t stop_at = 1; !is_done; ++stop_at) {
    MemoryStore store(image);
    auto pages = must(PageDb::open(*store));
    std::uint64_t look_count = 0;
    const auto done = pages.compact([&](std::uint64_t steps, std::uint64_t total) {
      EXPECT_LE(steps, total);
      return ++look_count < stop_at;
    });
    is_done = done.has_value();
    EXPECT_TRUE(is_done || done.error().code == Errc::kCancelled);
    std::uint64_t joined_count = 0;
    for (const SegmentKind kind : kJoined) {
      const std::uint64_t runs = run_count(*store, kind);
      EXPECT_TRUE(runs == 1 || runs == 6) << runs;
      if (runs == 1) ++joined_count;
    }
    if (!is_done) joined_counts.insert(joined_count);
    EXPECT_EQ(pages.status().page_count, kPages);
    if (is_done || stop_at % 4 == 0) expect_whole(store);
    EXPECT_EQ(joined_count == kJoined.size(), is_done);
  }
  EXPECT_EQ(joined_counts, (std::set<std::uint64_t>{0, 1, 2}));
}

/// The URLs of the first pages are seen, in a DRUM that is closed.
void see_urls(Store& store) {
  auto seen = must(UrlSeen::open(store));
  for (std::uint64_t i = 0; i < kPages; ++i) must(seen.check_update(url_of(i)));
  must(seen.drum().merge());
}

bool is_of_host_3(std::string_view url) {
  return url.starts_with("http://host3.");
}

/// Each stop leaves whole pages; a second call forgets what is left.
TEST(PagesProgress, StopsForgettingAnywhereAndGoesOn) {
  MemoryStore made;
  {
    auto pages = must(PageDb::open(*made));
    run_supersteps(pages, 4);
    see_urls(*made);
  }
  must(made->close());
  std::uint64_t stop_count = 0;
  for (bool is_done = false; !is_done;) {
    MemoryStore store(made.image());
    auto pages = must(PageDb::open(*store));
    const std::uint64_t stride = is_long() ? 1 : 97;  // each takes a whole forgetting
    std::uint64_t looks_left = 1 + test_seed() % stride + stride * stop_count;
    const Progress stop = [&](auto, auto) { return --looks_left != 0; };
    const auto done = pages.forget(is_of_host_3, {.seen = {{"urls"}}, .progress = stop});
    is_done = done.has_value();
    if (!is_done) {
      ++stop_count;
      EXPECT_EQ(done.error().code, Errc::kCancelled);
      if (stop_count % 4 == 0) expect_whole(store);
      (void)must(pages.forget(is_of_host_3, {.seen = {{"urls"}}}));
    }
    if (stop_count % 4 == 0 || is_done) expect_whole(store);
    const PageView view = view_of(*store);
    EXPECT_EQ(must(view.find(url_of(3))), std::nullopt);
    EXPECT_EQ(must(view.find(url_of(4))), 4U);
  }
  EXPECT_GT(stop_count, 2U);
}

/// Pages with long URLs, which are 60 MB as events, and a thousandth of that as edits.
void add_long_events(PageDb& pages) {
  const std::string prefix = "http://host.example/" + std::string(2000, 'x');
  for (int i = 0; i < 300; ++i) {
    CrawledPage page(prefix + std::to_string(i), 1);
    for (int j = 0; j < 100; ++j) page.add_link(prefix + std::to_string(j));
    must(pages.add(page));
  }
}

/// Events name each URL where it is linked to, edits only once: so they are written piece by piece.
TEST(PagesProgress, WritesManyWaitingEditsInPieces) {
  MemoryStore store;
  {
    auto pages = must(PageDb::open(*store));
    add_long_events(pages);
    must(pages.close());
  }
  EXPECT_EQ(run_count(*store, SegmentKind::kPageEvents), 4U);
  expect_whole(store);
  store.reopen();
  auto pages = must(PageDb::open(*store));
  EXPECT_EQ(pages.status().edit_count, 300U);
  EXPECT_EQ(must(pages.merge()).added_link_count, 30'000U);
  EXPECT_EQ(run_count(*store, SegmentKind::kPageEvents), 0U);
}

TEST(PagesProgress, GivesTheFirstPiecesBackWhenTheNextDoesNotFit) {
  MemoryStore store(std::uint64_t{40} << 20);
  auto pages = must(PageDb::open(*store));
  must(store->commit());
  const State empty = state_of(store, pages);
  add_long_events(pages);
  EXPECT_EQ(store->commit().error().code, Errc::kNoSpace);
  State now = state_of(store, pages);
  EXPECT_EQ(std::exchange(now.edit_count, 0), 300U);
  EXPECT_EQ(now, empty);
  must(pages.merge());  // the superstep needs less
  expect_whole(store);
}

/// The edit is taken all the same, and the next one tries again.
TEST(PagesProgress, StopsTheSuperstepOfAnAddAndTakesTheEdit) {
  MemoryStore store;
  bool goes_on = false;
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.parallel = false;  // or it is asked only where it waits
  options.progress = [&goes_on](std::uint64_t, std::uint64_t) { return goes_on; };
  auto pages = must(PageDb::open(*store, "pages", options));
  std::uint64_t count = 0;
  std::uint64_t stop_count = 0;
  while (stop_count < 3) {
    const auto added = pages.add(CrawledPage(url_of(count++), 1));
    if (added) continue;
    EXPECT_EQ(added.error().code, Errc::kCancelled);
    ++stop_count;
    EXPECT_EQ(pages.status().edit_count, count);
  }
  goes_on = true;
  must(pages.add(CrawledPage(url_of(count), 1)));
  EXPECT_EQ(pages.status().edit_count, 1U);
  EXPECT_EQ(pages.status().page_count, count);
}

/// The store goes on: a further page is merged and committed, and all is whole.
void expect_usable(MemoryStore& store, PageDb& pages) {
  must(pages.add(CrawledPage("http://one.more.example/", 1)));
  must(pages.merge());
  must(store->commit());
  EXPECT_NE(must(view_of(*store).find("http://one.more.example/")), std::nullopt);
  expect_whole(store);
}

/// Calls `work` with a function that throws at its call 1, 2, 4, 8 and so on, until it is not
/// called so often; returns how often it threw. `check` looks at what each left.
template <class Work, class Check>
int throw_at_some_calls(const Work& work, const Check& check) {
  for (int throw_count = 0;; ++throw_count) {
    std::uint64_t call_count = 0;
    bool has_thrown = false;
    try {
      must(work([&] {
        if (++call_count == std::uint64_t{1} << throw_count) throw std::out_of_range("mine");
      }));
    } catch (const std::out_of_range& thrown) {
      EXPECT_STREQ(thrown.what(), "mine");
      has_thrown = true;
    }
    check();
    if (!has_thrown) return throw_count;
  }
}

TEST(PagesProgress, LeavesNothingOfASuperstepWhenItThrows) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  run_supersteps(pages, 2);
  add_pages(pages, kPages, 2 * kPages, kLinks);
  must(store->commit());
  const State before = state_of(store, pages);
  const auto merge = [&](const auto& call) {
    return pages.merge([&](std::uint64_t, std::uint64_t) {
      call();
      return true;
    });
  };
  const auto check = [&] {
    expect_whole(store);
    EXPECT_TRUE(pages.status().edit_count == 0 || state_of(store, pages) == before);
  };
  EXPECT_GE(throw_at_some_calls(merge, check), 3);
  EXPECT_EQ(pages.status().page_count, 2 * kPages);
  expect_usable(store, pages);
}

TEST(PagesProgress, LeavesEachLogJoinedOrNotWhenItThrows) {
  MemoryStore store(store_with_runs());
  auto pages = must(PageDb::open(*store));
  const auto compact = [&](const auto& call) {
    return pages.compact([&](std::uint64_t, std::uint64_t) {
      call();
      return true;
    });
  };
  const auto check = [&] {
    expect_whole(store);
    for (const SegmentKind kind : kJoined) {
      const std::uint64_t runs = run_count(*store, kind);
      EXPECT_TRUE(runs == 1 || runs == 6) << runs;
    }
  };
  EXPECT_GE(throw_at_some_calls(compact, check), 2);
  for (const SegmentKind kind : kJoined) EXPECT_EQ(run_count(*store, kind), 1U);
  expect_usable(store, pages);
}

/// Whichever of its functions throws.
TEST(PagesProgress, ForgetsWholePagesWhenItThrows) {
  for (const bool in_progress : {false, true}) {
    MemoryStore store;
    auto pages = must(PageDb::open(*store));
    run_supersteps(pages, 2);
    see_urls(*store);
    const State before = state_of(store, pages);
    const auto forget = [&](const auto& call) {
      ForgetOptions options{.seen = {{"urls"}}};
      options.progress = [&](std::uint64_t, std::uint64_t) {
        if (in_progress) call();
        return true;
      };
      const auto is_meant = [&](std::string_view url) {
        if (!in_progress) call();
        return is_of_host_3(url);
      };
      return pages.forget(is_meant, options);
    };
    const auto check = [&] {
      expect_whole(store);
      const bool is_forgotten = !must(view_of(*store).find(url_of(3)));
      EXPECT_TRUE(in_progress || is_forgotten || state_of(store, pages) == before);
    };
    EXPECT_GE(throw_at_some_calls(forget, check), 3) << in_progress;
    EXPECT_EQ(must(view_of(*store).find(url_of(3))), std::nullopt);
    expect_usable(store, pages);
  }
}

}  // namespace
}  // namespace crawlstore::testing
