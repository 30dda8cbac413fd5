// SPDX-License-Identifier: Apache-2.0
//
// Compaction of the container while DRUMs and page databases of the store are open and used.
#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/scores.h>

#include "drum/memory_store.h"
#include "pages/page_model.h"
#include "pages/page_words.h"
#include "support/another_thread.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Numbers = Drum<std::uint64_t, std::uint64_t, std::string>;
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
/// Some forty edits fill the memory of a batch.
constexpr std::size_t kPadding = 5000;

PagesOptions pages_options(bool parallel) {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 4;
  options.bucket_keys_max = 40;
  options.parallel = parallel;
  return options;
}

/// Arrays that are merged from memory, in flights of some hundred requests; or logs.
DrumOptions drum_options(bool from_memory) {
  DrumOptions options;
  options.bucket_count = 4;
  if (from_memory) options.memory_bytes = 16 << 10;
  if (!from_memory) options.array_elements = 16;
  options.partition_keys_max = 100;
  return options;
}

/// A crawl, and what it must have stored.
class Crawl {
 public:
  Crawl(Store& store, std::uint64_t seed, bool parallel, bool from_memory)
      : store_(store),
        events_(seed),
        pages_(must(PageDb::open(store, "pages", pages_options(parallel)))),
        numbers_(must(Numbers::open(store, "numbers", drum_options(from_memory)))) {}

  void add_pages(std::uint64_t count) {
    for (; count > 0; --count) {
      const Edit edit = padded(events_.next(), kPadding);
      model_.apply(edit);
      must(edit.as_event([&](const CrawlEvent& event) { return pages_.add(event); }));
    }
  }
  void add_numbers(std::uint64_t count) {
    for (; count > 0; --count) {
      must(numbers_.check_update(next_ * kSpread, next_, std::to_string(next_)));
      ++next_;
    }
  }
  void look(std::uint64_t number) {
    EXPECT_EQ(must(numbers_.contains(number * kSpread)), number < next_) << number;
  }
  void merge_pages() { must(pages_.merge()); }
  void join_pages() { must(pages_.compact()); }
  void merge_numbers() { must(numbers_.merge()); }
  void commit() { must(store_.commit()); }
  [[nodiscard]] std::uint64_t number_count() const { return next_; }

  void expect_stored() {
    merge_pages();
    merge_numbers();
    commit();
    expect_same(must(PageView::open(must(store_.snapshot()))), model_);
    EXPECT_EQ(numbers_.status().key_count, next_);
    for (std::uint64_t number = 0; number < next_ + 20; ++number) look(number);
  }

 private:
  Store& store_;
  RandomCrawl events_;
  PageModel model_;
  PageDb pages_;
  Numbers numbers_;
  std::uint64_t next_ = 0;
};

/// Whatever a crawl may do between two steps of compaction.
void do_something(Crawl& crawl, SeededRandom& random) {
  switch (random.below(8)) {
    case 0:
      return crawl.add_pages(random.below(60));
    case 1:
      return crawl.merge_pages();
    case 2:
      return crawl.commit();
    case 3:
      return crawl.add_numbers(random.below(200));
    case 4:
      return crawl.merge_numbers();
    case 5:
      return random.one_in(4) ? crawl.join_pages() : crawl.add_numbers(1);
    default:
      return crawl.look(random.below(crawl.number_count() + 10));
  }
}

class CompactBeside : public ::testing::TestWithParam<bool> {};

TEST_P(CompactBeside, KeepsWhatOthersDoBetweenItsSteps) {
  SeededRandom random;
  for (int round = 0; round < 3; ++round) {
    MemoryStore store;
    int actions = 0;
    {
      Crawl crawl(*store, random.next(), GetParam(), random.one_in(2));
      while (actions < 12) {
        crawl.add_pages(80);
        crawl.add_numbers(300);
        crawl.merge_pages();
        crawl.merge_numbers();
        must(store->compact([&](std::uint64_t done, std::uint64_t total) {
          EXPECT_LE(done, total);
          if (!random.one_in(8)) return true;
          on_another_thread([&] { do_something(crawl, random); });
          ++actions;
          return true;
        }));
        expect_whole(store);
      }
      crawl.expect_stored();
    }
    must(store->close());
    expect_whole(store);
  }
}

TEST_P(CompactBeside, GivesSpaceBackWhileAllIsOpen) {
  MemoryStore store;
  Crawl crawl(*store, 3, GetParam(), true);
  for (int part = 0; part < 4; ++part) {
    crawl.add_pages(200);
    crawl.add_numbers(500);
    crawl.merge_pages();
    crawl.merge_numbers();
  }
  const auto report = must(store->compact());
  EXPECT_LT(report.file_bytes_after, report.file_bytes_before);
  EXPECT_LE(store->free_bytes(), report.file_bytes_after / 64 + 256 * 1024);
  crawl.expect_stored();
  expect_whole(store);
}

TEST_P(CompactBeside, EndsThoughOthersNeverDo) {
  MemoryStore store;
  Crawl crawl(*store, test_seed(), GetParam(), true);
  for (int part = 0; part < 4; ++part) {
    crawl.add_numbers(300);
    crawl.merge_numbers();
  }
  int calls = 0;
  must(store->compact([&](auto, auto) {
    on_another_thread([&] {
      crawl.add_numbers(60);
      crawl.merge_numbers();
    });
    return ++calls < 200;
  }));
  crawl.expect_stored();
}

TEST_P(CompactBeside, LetsOtherThreadsCrawl) {
  MemoryStore store;
  Crawl crawl(*store, test_seed(), GetParam(), true);
  std::atomic<bool> ends{false};
  std::thread crawler([&] {
    for (std::uint64_t i = 0; i < 40; ++i) {
      crawl.add_pages(20);
      crawl.add_numbers(80);
      crawl.look(i * 7);
      crawl.look(i * 100 + 5000);
      if (i % 5 == 1) crawl.commit();
      if (i % 7 == 3) crawl.merge_numbers();
      if (i % 9 == 5) crawl.merge_pages();
      if (i % 16 == 15) crawl.join_pages();
    }
    ends = true;
  });
  std::uint64_t moved = 0;
  while (!ends) moved += must(store->compact()).moved_bytes;
  crawler.join();
  EXPECT_GT(moved, 0U);
  crawl.expect_stored();
  expect_whole(store);
}
INSTANTIATE_TEST_SUITE_P(Parallel, CompactBeside, ::testing::Bool());

/// The file needs room for one log beside, not for all of them, nor for what URLs take
/// uncompressed.
TEST(CompactBesideOthers, JoinsLogsInLittleRoom) {
  MemoryStore store;
  PagesOptions options;
  options.memory_bytes = 8 << 20;
  auto pages = must(PageDb::open(*store, "pages", options));
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    CrawledPage page("http://host.test/" + std::string(200, 'x') + std::to_string(i), 1);
    for (std::uint64_t j = 1; j < 20; ++j) {
      page.add_link("http://host.test/" + std::string(200, 'x') + std::to_string(i * j % 20'000));
    }
    must(pages.add(page));
    if (i % 5'000 == 4'999) must(pages.merge());
  }
  must(store->compact());
  std::uint64_t longest = 0;
  for (const SegmentInfo& segment : must(store->snapshot()).segments()) {
    longest = std::max(longest, segment.payload_bytes());
  }
  const std::uint64_t before = store->file_bytes();
  std::uint64_t peak = before;
  must(pages.compact([&](auto, auto) {
    peak = std::max(peak, store->file_bytes());
    return true;
  }));
  EXPECT_LE(peak, before + 3 * longest);
  EXPECT_GT(peak, before) << longest;
  RecordProperty("peak", std::to_string(peak - before));
  RecordProperty("longest", std::to_string(longest));
  expect_whole(store);
}

TEST(CompactBesideOthers, IsDoneByOneThreadAtATime) {
  MemoryStore store;
  Crawl crawl(*store, 1, false, false);
  crawl.add_pages(100);
  crawl.merge_pages();
  Errc code{};
  must(store->compact([&](auto, auto) {
    const auto second = on_another_thread([&] { return store->compact(); });
    if (!second) code = second.error().code;
    return true;
  }));
  EXPECT_EQ(code, Errc::kInvalidArgument);
  must(store->compact());
}

/// A store whose file has gaps, so that compaction has something to do.
void fill_with_gaps(Store& store) {
  auto numbers = must(Drum<std::uint64_t>::open(store, "numbers", drum_options(false)));
  for (std::uint64_t key = 0; key < 3000; ++key) {
    must(numbers.check_update(key * kSpread));
    if (key % 500 == 499) must(numbers.merge());
  }
  must(numbers.close());
}

/// Lets `change` commit beside a page database that is new, and expects a whole file of it.
template <class Change>
void expect_whole_beside_new_pages(const Change& change) {
  MemoryStore store;
  fill_with_gaps(*store);
  auto other = must(PageDb::open(*store, "other"));
  must(other.add(CrawledPage("http://a.test/")));
  must(other.merge());
  auto pages = must(PageDb::open(*store, "pages"));
  change(*store);
  expect_whole(MemoryStore(store.image()));
  must(pages.add(CrawledPage("http://b.test/")));
  must(pages.merge());
  expect_whole(store);
  EXPECT_EQ(view_of(*store).info().page_count, 1U);
}

TEST(NewPages, AreLeftOutOfCommitsOfOthers) {
  expect_whole_beside_new_pages([](Store& store) { must(store.compact()); });
  expect_whole_beside_new_pages([](Store& store) {
    const auto other = must(PageView::open(must(store.snapshot()), "other"));
    must(store_scores(store, "own", other, std::vector<float>{1}));
    must(remove_scores(store, "own", "other"));
  });
}

}  // namespace
}  // namespace crawlstore::testing
