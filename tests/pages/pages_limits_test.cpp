// SPDX-License-Identifier: Apache-2.0
//
// Page databases at their edges: large, odd, many at once.
#include <cerrno>
#include <limits>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "container/tile_writer.h"
#include "drum/key_table.h"
#include "format/endian.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "pages/page_model.h"
#include "pages/page_words.h"
#include "pages/pages_state.h"
#include "support/bytes.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

PagesOptions small_options() {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 4;
  return options;
}

std::string url_of(std::uint64_t i) {
  return "http://one.example/" + std::to_string(i);
}

/// The bytes of a store after a commit that no page database makes. Closes the store.
template <class Change>
std::vector<std::byte> after(MemoryStore& store, const Change& change) {
  must(store->close());
  container::WriterOptions options;
  options.fixed_time_us = kFixedTimeUs;
  const auto writer =
      must(container::Writer::open(open_memory_storage(store.file(), OpenMode::kWrite), options));
  change(*writer);
  must(writer->commit());
  return store.image();
}

pages::PagesState state_of(container::Writer& writer) {
  return must(
      pages::load_state(writer, *writer.directory()->find_named(SegmentKind::kPages, "pages")));
}

/// Twenty thousand edits in a megabyte: supersteps come by themselves, and change nothing.
TEST(PagesLimits, TakeMoreThanFitsTheMemory) {
  MemoryStore store;
  PageModel model;
  RandomCrawl crawl(11);
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  for (int i = 0; i < 20'000; ++i) {
    const Edit edit = crawl.next();
    model.apply(edit);
    must(edit.as_event([&](const CrawlEvent& event) { return pages.add(event); }));
  }
  EXPECT_GT(pages.status().superstep_count, 3U);
  must(pages.merge());
  const PageView view = view_of(*store);
  EXPECT_EQ(view.info().link_count, model.link_count());
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t index = random.below(model.pages().size());
    const auto& expected = model.pages()[index];
    EXPECT_EQ(must(view.find(expected.url)), index);
    EXPECT_EQ(must(view.out_links(index)), as_vector(expected.out));
    EXPECT_EQ(must(view.in_links(index)), as_vector(expected.in));
    EXPECT_EQ(must(view.page(index)).crawl_count, expected.crawl_count);
  }
  expect_whole(store);
}

/// A page with so many links that they fill many events, written and read again before the
/// superstep.
TEST(PagesLimits, TakeAPageWithAMillionLinks) {
  MemoryStore store(std::uint64_t{1} << 30);
  auto options = small_options();
  options.memory_bytes = std::uint64_t{1} << 30;
  constexpr std::uint64_t kLinks = 1'000'000;
  {
    auto pages = must(PageDb::open(*store, "pages", options));
    CrawledPage page(url_of(0), 1);
    for (std::uint64_t i = 0; i < kLinks; ++i) page.add_link(url_of(i));
    must(pages.add(page));
    must(pages.close());
  }
  EXPECT_GT(view_of(*store).info().event_count, 10U);
  auto pages = must(PageDb::open(*store, "pages", options));
  must(pages.merge());
  const PageView view = view_of(*store);
  EXPECT_EQ(view.info().page_count, kLinks);
  EXPECT_EQ(view.info().link_count, kLinks);
  EXPECT_EQ(must(view.page(0)).crawl_count, 1U);
  const auto links = must(view.out_links(0));
  ASSERT_EQ(links.size(), kLinks);
  EXPECT_EQ(links.front(), 0U);  // to itself
  EXPECT_EQ(links.back(), kLinks - 1);
  EXPECT_EQ(must(view.in_links(777'777)), std::vector<std::uint64_t>{0});
  EXPECT_EQ(must(view.url(777'777)), url_of(777'777));
}

/// Keys that share their head lie in one bucket, however many there are.
TEST(PagesLimits, TakeManyPagesOfOneHost) {
  MemoryStore store;
  auto options = small_options();
  options.bucket_keys_max = 100;
  auto pages = must(PageDb::open(*store, "pages", options));
  for (std::uint64_t i = 0; i < 20'000; ++i) must(pages.add(CrawledPage(url_of(i), 1)));
  must(pages.merge());
  const PageView view = view_of(*store);
  std::uint64_t count = 0;
  must(view.for_each_page_of("one.example", [&](const PageInfo& page) {
    EXPECT_EQ(page.url, url_of(page.index));
    ++count;
    return true;
  }));
  EXPECT_EQ(count, 20'000U);
  expect_whole(store);
}

/// One wild number would make a page of each index below it.
TEST(PagesLimits, RefuseAnIndexFarAboveAllOthers) {
  MemoryStore store;
  auto options = small_options();
  options.has_urls = false;
  options.index_gap_max = 1000;
  std::optional<PageDb> pages(must(PageDb::open(*store, "pages", options)));
  const auto link = [&](std::uint64_t from, std::uint64_t to) {
    const std::array links{EventLink{{}, 0, 0}, EventLink{{}, to, 0}};
    CrawlEvent event;
    event.kind = CrawlEventKind::kLinkAdded;
    event.index = from;
    event.links = links;
    const auto added = pages->add(event);
    EXPECT_TRUE(added || added.error().code == Errc::kInvalidArgument);
    return added.has_value();
  };
  EXPECT_EQ(pages->status().index_end, 1000U);
  EXPECT_FALSE(link(1000, 0));
  EXPECT_FALSE(link(0, 1000));
  EXPECT_FALSE(link(999, 1998)) << "as the database was before the edit";
  EXPECT_TRUE(link(0, 999));
  EXPECT_EQ(pages->status().index_end, 2000U) << "edits that wait count";
  must(store->commit());
  EXPECT_TRUE(link(1999, 3));
  pages.reset();
  store.reopen();
  options.index_gap_max = 1;  // what waits was allowed when it came
  pages.emplace(must(PageDb::open(*store, "pages", options)));
  EXPECT_EQ(pages->status().index_end, 2001U);
  must(pages->merge());
  EXPECT_FALSE(link(0, 2001));
  EXPECT_TRUE(link(0, 2000));
  must(pages->merge());
  EXPECT_EQ(pages->status().page_count, 2001U);
  expect_whole(store);
  for (const std::uint64_t gap : {std::uint64_t{0}, (std::uint64_t{1} << 40) + 1}) {
    options.index_gap_max = gap;
    EXPECT_EQ(PageDb::open(*store, "other", options).error().code, Errc::kInvalidArgument);
  }
}

TEST(PagesLimits, KeepUrlsOfAnyBytes) {
  MemoryStore store(std::uint64_t{1} << 28);
  auto options = small_options();
  options.memory_bytes = std::uint64_t{1} << 26;
  options.normalizer = UrlNormalizer::raw();
  auto pages = must(PageDb::open(*store, "pages", options));
  std::vector<std::string> urls{"",  std::string(1, '\0'),        "\xFF\xFE", " ", "\t\n",
                                "a", "http://h.test/\xE4\xB8\xAD"};
  urls.push_back("http://h.test/" + std::string(2 << 20, 'x'));
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  urls.push_back(all_bytes);
  for (const std::string& url : urls) must(pages.add(CrawledPage(url, 1)));
  must(pages.merge());
  const PageView view = view_of(*store);
  ASSERT_EQ(view.info().page_count, urls.size());
  for (std::size_t i = 0; i < urls.size(); ++i) {
    EXPECT_EQ(must(view.find(urls[i])), i);
    EXPECT_EQ(must(view.url(i)), urls[i]);
  }
  expect_whole(store);
  const std::string too_long(kEventUrlBytesMax + 1, 'x');
  EXPECT_FALSE(pages.add(CrawledPage(too_long, 1)));
}

/// A URL whose normal form would be too long is kept as it is, which is what counts then.
TEST(PagesLimits, CountTheBytesOfTheNormalFormOfAUrl) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  const std::string url = "http://a.example/";
  must(pages.add(CrawledPage(url + '#' + std::string(kEventUrlBytesMax, 'x'), 1)));
  const std::string too_long = url + std::string(kEventUrlBytesMax, 'x');
  EXPECT_EQ(pages.add(CrawledPage(too_long, 1)).error().code, Errc::kTooLarge);
  CrawledPage linker(url + '2', 1);
  linker.add_link(too_long);
  EXPECT_EQ(pages.add(linker).error().code, Errc::kTooLarge);
  must(pages.merge());
  EXPECT_EQ(must(view_of(*store).url(0)), url);
  EXPECT_EQ(pages.status().page_count, 1U);
}

/// Also those whose links fill several events.
TEST(PagesLimits, CountEditsAlikeWhenTheyAreReadAgain) {
  MemoryStore store;
  for (const std::size_t link_count : {0U, 1U, 9000U, 20'000U}) {
    auto pages = must(PageDb::open(*store));
    CrawledPage page(url_of(link_count), 1);
    for (std::size_t i = 0; i < link_count; ++i) page.add_link(url_of(i));
    must(pages.add(page));
    const std::uint64_t count = pages.status().edit_count;
    must(pages.close());
    EXPECT_EQ(view_of(*store).info().event_count, count);
    EXPECT_EQ(must(PageDb::open(*store)).status().edit_count, count);
  }
}

/// Spellings of one URL are one page.
TEST(PagesLimits, NormaliseUrls) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  CrawledPage page("HTTP://Example.ORG:80/a/../b#part", 1);
  page.add_link("http://example.org/b");
  page.add_link("http://EXAMPLE.org/%7e");
  must(pages.add(page));
  must(pages.merge());
  const PageView view = view_of(*store);
  EXPECT_EQ(view.info().page_count, 2U);
  EXPECT_EQ(must(view.url(0)), "http://example.org/b");
  EXPECT_EQ(must(view.find("http://example.org/x/../b")), 0U);
  EXPECT_EQ(must(view.out_links(0)), (std::vector<std::uint64_t>{0, 1}));
}

TEST(PagesLimits, TakeEditsFromSeveralThreads) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kPages = 3000;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&pages, thread] {
      for (std::uint64_t i = 0; i < kPages; ++i) {
        CrawledPage page(url_of(thread * kPages + i), 1);
        page.add_link(url_of((thread * kPages + i) * 7 % (kThreads * kPages)));
        must(pages.add(page));
      }
    });
  }
  for (int i = 0; i < 5; ++i) {
    must(store->commit());
    must(pages.merge());
  }
  for (std::thread& thread : threads) thread.join();
  must(pages.merge());
  const PageView view = view_of(*store);
  EXPECT_EQ(view.info().page_count, kThreads * kPages);
  EXPECT_EQ(view.info().crawled_count, kThreads * kPages);
  EXPECT_EQ(view.info().link_count, kThreads * kPages);
  expect_whole(store);
}

/// Nobody can make two URLs with one key, so the key of one is put there for another.
TEST(PagesLimits, LeaveOutUrlsWhoseKeyAnotherHas) {
  MemoryStore store;
  must(must(PageDb::open(*store, "pages", small_options())).add(CrawledPage(url_of(0), 1)));
  {
    auto pages = must(PageDb::open(*store, "pages", small_options()));
    must(pages.merge());
  }
  const PageKey stolen = page_key(url_of(1), kFixedKeySeed);
  std::optional<drum::KeyTable> keys;  // until the commit
  MemoryStore again(after(store, [&](container::Writer& writer) {
    keys = must(drum::KeyTable::open(writer, "pages", {format::kPageValueBytes, 1, 100}));
    std::array<std::byte, format::kPageValueBytes> value{};
    format::store(value.data() + 5, stolen.witness ^ 1);
    const drum::KeyEdit edit{stolen.key, false, value};
    must(keys->apply(writer, std::span(&edit, 1)));
  }));
  auto pages = must(PageDb::open(*again, "pages", small_options()));
  CrawledPage page(url_of(2), 1);
  page.add_link(url_of(1));
  page.add_link(url_of(3));
  must(pages.add(page));
  must(pages.add(CrawledPage(url_of(1), 1)));
  EXPECT_EQ(must(pages.merge()).collision_count, 1U);
  const PageView view = view_of(*again);
  EXPECT_EQ(view.info().collision_count, 1U);
  EXPECT_EQ(view.info().page_count, 3U);
  EXPECT_EQ(must(view.find(url_of(1))), std::nullopt);
  EXPECT_EQ(must(view.out_links(1)), std::vector<std::uint64_t>{2});
  EXPECT_EQ(must(view.url(2)), url_of(3));
}

/// Nobody makes so many crawls: a count of changes stays below one of crawls that stopped.
TEST(PagesLimits, StopToCountWhereNumbersEnd) {
  constexpr auto kMax = std::numeric_limits<std::uint32_t>::max();
  MemoryStore store;
  {
    auto pages = must(PageDb::open(*store, "pages", small_options()));
    must(pages.add(CrawledPage(url_of(0), 1)));
    must(pages.merge());
  }
  MemoryStore again(after(store, [](container::Writer& writer) {
    auto tiles = must(container::TileWriter::open(writer, state_of(writer).table.records));
    format::PageRecord record;
    record.state = PageState::kCrawled;
    record.crawl_count = kMax;
    record.change_count = kMax - 1;
    std::vector<std::byte> payload;
    format::encode_record_tile(std::span(&record, 1), payload);
    must(tiles.write(0, payload, 1));
    must(tiles.finish());
  }));
  auto pages = must(PageDb::open(*again, "pages", small_options()));
  CrawledPage page(url_of(0), 1);
  page.set_content_hash(7);
  must(pages.add(page));
  must(pages.merge());
  const PageInfo info = must(view_of(*again).page(0));
  EXPECT_EQ(info.crawl_count, kMax);
  EXPECT_EQ(info.change_count, kMax - 1);
  expect_whole(again);
}

/// A log of links that went is not needed before one goes.
TEST(PagesLimits, ForgetWhereNoLinkHasGone) {
  MemoryStore store;
  {
    auto pages = must(PageDb::open(*store, "pages", small_options()));
    CrawledPage page(url_of(0), 1);
    page.add_link(url_of(1));
    must(pages.add(page));
    must(pages.merge());
  }
  MemoryStore again(after(store, [](container::Writer& writer) {
    auto state = state_of(writer);
    writer.remove(std::exchange(state.table.gone_links, {}));
    must(pages::put_state(writer, state));
  }));
  expect_whole(again);
  auto pages = must(PageDb::open(*again, "pages", small_options()));
  const auto report = must(pages.forget([](std::string_view url) { return url == url_of(1); }));
  EXPECT_EQ(report.link_count, 1U);
  EXPECT_TRUE(must(view_of(*again).out_links(0)).empty());
  expect_whole(again);
}

/// The contents for readers do not depend on buckets, memory and supersteps.
TEST(PagesLimits, GiveTheSameIndexesWhateverTheSupersteps) {
  std::vector<std::string> expected;
  for (const std::uint32_t bucket_count : {1U, 16U, 256U}) {
    for (const int per_step : {7, 100, 5000}) {
      MemoryStore store;
      auto options = small_options();
      options.bucket_count = bucket_count;
      auto pages = must(PageDb::open(*store, "pages", options));
      RandomCrawl crawl(3);
      for (int i = 0; i < 400; ++i) {
        must(crawl.next().as_event([&](const CrawlEvent& event) { return pages.add(event); }));
        if (i % per_step == per_step - 1) must(pages.merge());
      }
      must(pages.merge());
      const PageView view = view_of(*store);
      std::vector<std::string> urls;
      for (std::uint64_t i = 0; i < view.info().page_count; ++i) urls.push_back(must(view.url(i)));
      if (expected.empty()) expected = urls;
      EXPECT_EQ(urls, expected) << bucket_count << ' ' << per_step;
    }
  }
}

/// Neither those that are in the file nor new ones: the store has to be opened again.
TEST(PagesLimits, DoNotOpenOnAPoisonedStoreNorDoesADrum) {
  using Seen = Drum<std::uint64_t>;
  Recorder recorder(make_empty_store_file(std::uint64_t{1} << 26));
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  must(must(PageDb::open(store, "old")).close());
  must(must(Seen::open(store, "old seen")).close());
  auto pages = must(PageDb::open(store));
  must(pages.add(CrawledPage(url_of(1), 1)));
  recorder.inject({.calls = calls(CallKind::kSync), .system_errno = EIO});
  ASSERT_FALSE(pages.merge());
  recorder.stop_injecting();
  ASSERT_EQ(code_of(store.commit()), Errc::kPoisoned);
  for (const std::string name : {"old", "new"}) {
    EXPECT_EQ(code_of(PageDb::open(store, name)), Errc::kPoisoned) << name;
    EXPECT_EQ(code_of(Seen::open(store, name + " seen")), Errc::kPoisoned) << name;
  }
}

/// A machine without a battery for its clock may begin in 1969.
TEST(CrawlTimes, AreNotNegativeBefore1970) {
  const auto file = make_empty_store_file(std::uint64_t{1} << 28);
  OpenOptions before_1970;
  before_1970.time_us = -5;
  auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite), before_1970));
  auto pages = must(PageDb::open(store));
  must(pages.add(CrawledPage("http://a.org/")));
  must(pages.merge());
  EXPECT_EQ(must(view_of(store).page(0)).last_crawl_us, 1);
}

TEST(CrawlTimes, AheadOfNowAreReplaced) {
  using Times = std::pair<std::int64_t, std::int64_t>;
  constexpr std::int64_t kIn2106 = 4'300'000'000'000'000;
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  const auto times_after = [&](std::int64_t time_us) {
    must(pages.add(CrawledPage("http://a.org/", time_us)));
    must(pages.merge());
    const PageInfo page = must(view_of(*store).page(0));
    return Times(page.first_crawl_us, page.last_crawl_us);
  };
  EXPECT_EQ(times_after(kIn2106), Times(kIn2106, kIn2106));
  EXPECT_EQ(times_after(2000), Times(2000, 2000));
  EXPECT_EQ(times_after(kIn2106), Times(2000, kIn2106));
  EXPECT_EQ(times_after(1000), Times(1000, 2000));
  EXPECT_EQ(times_after(3000), Times(1000, 3000));
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
