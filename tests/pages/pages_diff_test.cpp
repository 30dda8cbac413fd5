// SPDX-License-Identifier: Apache-2.0
//
// Page databases of two states compared as a program would that reads all of both.
#include <deque>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/tools/pages_diff.h>

#include "drum/memory_store.h"
#include "pages/page_model.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Link = std::pair<std::string, std::string>;

/// The result of a comparison of one database, in terms that mean the same in any store.
struct Changes {
  std::map<std::string, std::string> pages;  // by name: what became of it
  std::set<Link> added_links;
  std::set<Link> gone_links;
  bool operator==(const Changes&) const = default;
};

/// A page as it was and as it is, in words.
std::string words(const PageInfo* older, const PageInfo* newer, const PageFields& fields) {
  const auto said = [](const PageInfo* page) {
    if (page == nullptr) return std::string("-");
    return page->url + " " + std::string(name_of(page->state)) + " " +
           std::to_string(page->crawl_count) + " " + std::to_string(page->score);
  };
  return said(older) + " > " + said(newer) + " " + fields.text();
}

/// The names by which pages are known. In one store a URL that was forgotten and came up again is
/// another page.
class Names {
 public:
  Names(const PageView& view, bool by_url) : view_(view), by_url_(by_url) {}
  const std::string& operator()(std::uint64_t index) const {
    auto& name = names_[index];
    if (name.empty()) name = must(view_.url(index)) + (by_url_ ? "" : "#" + std::to_string(index));
    return name;
  }

 private:
  const PageView& view_;
  bool by_url_;
  mutable std::map<std::uint64_t, std::string> names_;  // those that were asked for
};

/// All that a view shows, by name; of pages that were forgotten nothing.
struct Content {
  Content(const PageView& view, const Names& name_of) {
    must(view.for_each_page([&](const PageInfo& page) {
      if (view.info().has_urls && page.url.empty()) return true;
      const std::string& name = name_of(page.index);
      pages.emplace(name, page);
      for (const std::uint64_t target : must(view.out_links(page.index))) {
        links.emplace(name, name_of(target));
      }
      return true;
    }));
  }
  std::map<std::string, PageInfo> pages;
  std::set<Link> links;
};

/// A state and all that it holds, which is read once.
struct State {
  explicit State(Snapshot taken, bool by_url = false)
      : snapshot(std::move(taken)), names(view, by_url) {}
  Snapshot snapshot;
  PageView view = must(PageView::open(snapshot));
  Names names;
  Content content{view, names};
};

Changes expected_changes(const Content& older, const Content& newer) {
  Changes changes;
  for (const auto& [name, page] : older.pages) {
    const auto other = newer.pages.find(name);
    if (other == newer.pages.end()) {
      changes.pages[name] = words(&page, nullptr, {});
      continue;
    }
    const PageInfo& now = other->second;
    const PageFields fields{page.state != now.state,
                            page.crawl_count != now.crawl_count,
                            page.change_count != now.change_count,
                            page.first_crawl_us != now.first_crawl_us,
                            page.last_crawl_us != now.last_crawl_us,
                            page.score != now.score,
                            page.content_hash != now.content_hash,
                            page.http_status != now.http_status,
                            page.failure_count != now.failure_count};
    if (fields.any()) changes.pages[name] = words(&page, &now, fields);
  }
  for (const auto& [name, page] : newer.pages) {
    if (!older.pages.contains(name)) changes.pages[name] = words(nullptr, &page, {});
  }
  std::set_difference(newer.links.begin(), newer.links.end(), older.links.begin(),
                      older.links.end(),
                      std::inserter(changes.added_links, changes.added_links.end()));
  std::set_difference(older.links.begin(), older.links.end(), newer.links.begin(),
                      newer.links.end(),
                      std::inserter(changes.gone_links, changes.gone_links.end()));
  return changes;
}

/// Collects what is told of pages and links, and that it is told once and under the right name.
void collect(const Names& old_name, const Names& new_name, Changes& told, PagesDiffSink& sink) {
  sink.page = [&](const PageDiff& page) {
    const PageInfo* const a = page.older ? &*page.older : nullptr;
    const PageInfo* const b = page.newer ? &*page.newer : nullptr;
    const bool is_gone =
        b == nullptr || (a != nullptr && a->state != b->state && b->state == PageState::kGone);
    EXPECT_EQ(page.change, a == nullptr ? Change::kAdded
                           : is_gone    ? Change::kGone
                                        : Change::kChanged);
    const std::string name = a != nullptr ? old_name(a->index) : new_name(b->index);
    EXPECT_TRUE(told.pages.emplace(name, words(a, b, page.fields)).second) << name;
  };
  sink.links = [&](const PageLinksDiff& links) {
    for (const std::uint64_t target : links.gone) {
      const Link link{old_name(links.old_index.value()), old_name(target)};
      EXPECT_TRUE(told.gone_links.insert(link).second);
    }
    for (const std::uint64_t target : links.added) {
      const Link link{new_name(links.new_index.value()), new_name(target)};
      EXPECT_TRUE(told.added_links.insert(link).second);
    }
  };
}

/// diff_pages() tells what reading everything tells; returns what it reported.
PagesDiff expect_right(const State& older, const State& newer, bool by_url = false) {
  Changes told;
  PagesDiffSink sink;
  collect(older.names, newer.names, told, sink);
  std::uint64_t fetched_count = 0;
  std::uint64_t failed_count = 0;
  sink.page = [&, collected = sink.page](const PageDiff& page) {
    collected(page);
    const PageInfo none;
    const PageInfo& a = page.older ? *page.older : none;
    const PageInfo& b = page.newer ? *page.newer : none;
    fetched_count += b.crawl_count > a.crawl_count ? 1U : 0U;
    failed_count += b.failure_count > a.failure_count ? 1U : 0U;
  };
  const auto databases = must(diff_pages(older.snapshot, newer.snapshot, sink));
  EXPECT_EQ(databases.size(), 1U);
  const PagesDiff& found = databases.at(0);
  EXPECT_EQ(found.fetched_page_count, fetched_count);
  EXPECT_EQ(found.failed_page_count, failed_count);
  const Changes expected = expected_changes(older.content, newer.content);
  EXPECT_EQ(told.pages, expected.pages);
  EXPECT_EQ(told.added_links, expected.added_links);
  EXPECT_EQ(told.gone_links, expected.gone_links);
  EXPECT_EQ(found.added_page_count + found.gone_page_count + found.changed_page_count,
            expected.pages.size());
  EXPECT_EQ(found.added_link_count, expected.added_links.size());
  EXPECT_EQ(found.gone_link_count, expected.gone_links.size());
  EXPECT_EQ(found.by_url, by_url);
  EXPECT_EQ(found.old_page_count, older.view.info().page_count);
  EXPECT_EQ(found.new_link_count, newer.view.info().link_count);
  EXPECT_EQ(found.differs(),
            expected != Changes{} || found.added_edit_count + found.gone_edit_count != 0);
  return found;
}

PagesDiff expect_right(const Snapshot& older, const Snapshot& newer, bool by_url = false) {
  return expect_right(State(older, by_url), State(newer, by_url), by_url);
}

PagesOptions small_options() {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 4;
  options.bucket_keys_max = 40;
  return options;
}

void add(PageDb& pages, const Edit& edit) {
  must(edit.as_event([&](const CrawlEvent& event) { return pages.add(event); }));
}

void add_random(PageDb& pages, RandomCrawl& crawl, std::uint64_t count) {
  for (; count > 0; --count) add(pages, crawl.next());
}

bool is_of_host(std::string_view url, std::uint64_t host) {
  return url.starts_with("http://host" + std::to_string(host) + ".example/");
}

/// Another store than MemoryStore makes: with its own uuid, and another seed of keys.
std::vector<std::byte> other_store_image() {
  const auto file = make_memory_file({}, std::uint64_t{1} << 28);
  format::Identity identity = must(container::make_identity(kFixedTimeUs));
  identity.key_seed = kFixedKeySeed + 1;
  must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), identity,
                                    kFixedTimeUs));
  return contents(*file);
}

/// Random supersteps, joins of runs, and forgetting; any two states are compared.
TEST(PagesDiff, TellsOfGenerationsWhatReadingEverythingTells) {
  for (std::uint64_t i = 0; i < (is_long() ? 20 : 1); ++i) {
    const std::uint64_t seed = test_seed() + i;
    MemoryStore store;
    RandomCrawl crawl(seed);
    Random dice(seed * 77);
    auto pages = must(PageDb::open(*store, "pages", small_options()));
    std::deque<State> states;
    for (std::uint64_t step = 0; step < 50; ++step) {
      add_random(pages, crawl, 1 + dice.below(30));
      must(pages.merge());
      if (dice.below(12) == 0) {
        must(pages.forget(
            [&](std::string_view url) { return is_of_host(url, step % 5) && dice.below(2) == 0; }));
      }
      if (dice.below(10) == 0) must(pages.compact());
      states.emplace_back(must(store->snapshot()));
      const auto& other = states[dice.below(states.size())];
      SCOPED_TRACE(::testing::Message() << "CRAWLSTORE_TEST_SEED=" << seed << ", step " << step);
      expect_right(other, states.back());
      expect_right(states.back(), other);
      if (::testing::Test::HasFailure()) return;
      if (states.size() > 20) states.pop_front();
    }
  }
}

TEST(PagesDiff, GoesByUrlInTwoStores) {
  MemoryStore one;
  MemoryStore two(other_store_image());
  auto first = must(PageDb::open(*one, "pages", small_options()));
  auto second = must(PageDb::open(*two, "pages", small_options()));
  // The same URLs, in another order and with other edits of them.
  RandomCrawl crawl(3);
  RandomCrawl other_crawl(4);
  for (int step = 0; step < 8; ++step) {
    add_random(first, crawl, 60);
    add_random(second, other_crawl, 60);
    must(first.merge());
    must(second.merge());
    if (step == 4) must(second.forget([](std::string_view url) { return is_of_host(url, 1); }));
    const auto a = must(one->snapshot());
    const auto b = must(two->snapshot());
    ASSERT_NE(a.uuid(), b.uuid());
    expect_right(a, b, true);
    expect_right(b, a, true);
  }
}

TEST(PagesDiff, FindsNoneInTwoStoresWithTheSameContent) {
  MemoryStore one;
  MemoryStore two(other_store_image());
  auto first = must(PageDb::open(*one, "pages", small_options()));
  auto second = must(PageDb::open(*two, "pages", small_options()));
  RandomCrawl crawl(9);
  for (int i = 0; i < 300; ++i) {
    const Edit edit = crawl.next();
    add(first, edit);
    add(second, edit);
    if (i % 50 == 0) must(first.merge());
  }
  must(first.merge());
  must(second.merge());
  EXPECT_FALSE(expect_right(must(one->snapshot()), must(two->snapshot()), true).differs());
}

/// Same uuid, same indexes, other pages: what two copies of one file become.
TEST(PagesDiff, GoesByUrlInCopiesThatWentOnApart) {
  MemoryStore one;
  {
    auto pages = must(PageDb::open(*one, "pages", small_options()));
    RandomCrawl crawl(3);
    add_random(pages, crawl, 100);
    must(pages.merge());
  }
  MemoryStore two(one.image());
  auto first = must(PageDb::open(*one, "pages", small_options()));
  auto second = must(PageDb::open(*two, "pages", small_options()));
  for (int i = 0; i < 30; ++i) {
    must(first.add(CrawledPage("http://one.example/" + std::to_string(i), 1)));
    must(second.add(CrawledPage("http://two.example/" + std::to_string(i), 1)));
  }
  must(first.merge());
  must(second.merge());
  const auto found = expect_right(must(one->snapshot()), must(two->snapshot()), true);
  EXPECT_EQ(found.added_page_count, 30U);
  EXPECT_EQ(found.gone_page_count, 30U);
}

TEST(PagesDiff, SeesNoDifferenceInHowADatabaseIsLaidOut) {
  MemoryStore store;
  RandomCrawl crawl(6);
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  for (int step = 0; step < 12; ++step) {
    add_random(pages, crawl, 40);
    must(pages.merge());
  }
  const auto before = must(store->snapshot());
  must(pages.compact());
  EXPECT_FALSE(expect_right(before, must(store->snapshot())).differs());
  // A superstep without news: a page is known that is known already.
  const PageView view = must(PageView::open(before));
  std::uint64_t index = 0;
  while (must(view.page(index)).crawl_count == 0) ++index;
  const std::string url = must(view.url(index));
  CrawlEvent event;
  event.kind = CrawlEventKind::kDenied;
  event.url = url;
  must(pages.add(event));
  must(pages.merge());
  const auto denied = must(store->snapshot());
  must(pages.add(event));
  EXPECT_EQ(must(pages.merge()).edit_count, 1U);
  EXPECT_FALSE(expect_right(denied, must(store->snapshot())).differs());
}

TEST(PagesDiff, TellsEditsThatWait) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  const auto wait = [&](const std::string& url) {
    CrawledPage page(url, 5);
    page.add_link("http://a.org/target");
    must(pages.add(page));
    must(store->commit());
    return must(store->snapshot());
  };
  const auto first = wait("http://a.org/1");
  const auto second = wait("http://a.org/2");
  std::vector<std::pair<Change, std::string>> told;
  PagesDiffSink sink;
  sink.edit = [&](const EditDiff& edit) {
    EXPECT_EQ(edit.event.links.size(), 1U);
    told.emplace_back(edit.change, edit.event.url);
  };
  const auto found = must(diff_pages(first, second, sink)).at(0);
  EXPECT_EQ(told, (decltype(told){{Change::kAdded, "http://a.org/2"}}));
  EXPECT_EQ(std::pair(found.old_edit_count, found.new_edit_count), std::pair(1UL, 2UL));
  must(pages.merge());
  const auto merged = expect_right(second, must(store->snapshot()));
  EXPECT_EQ(merged.gone_edit_count, 2U);
  EXPECT_EQ(merged.added_page_count, 3U);
  EXPECT_FALSE(must(diff_pages(second, second)).at(0).differs());
}

/// A log of many runs is written anew as one: the edits are the same.
TEST(PagesDiff, FindsEditsAgainInALogThatWasWrittenAnew) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  std::optional<Snapshot> before;
  for (int i = 0; i < 70; ++i) {
    must(pages.add(CrawledPage("http://a.org/" + std::to_string(i), 5)));
    must(store->commit());
    if (i == 60) before = must(store->snapshot());
  }
  const auto found = must(diff_pages(*before, must(store->snapshot()))).at(0);
  EXPECT_EQ(found.added_edit_count, 9U);
  EXPECT_EQ(found.gone_edit_count, 0U);
}

TEST(PagesDiff, GoesByIndexWithoutUrls) {
  auto options = small_options();
  options.has_urls = false;
  MemoryStore one;
  MemoryStore two(other_store_image());
  Random random(8);
  std::deque<State> states;
  for (MemoryStore* store : {&one, &two}) {
    auto pages = must(PageDb::open(**store, "pages", options));
    for (int step = 0; step < 4; ++step) {
      for (int i = 0; i < 40; ++i) {
        const std::array links{EventLink{{}, random.below(90), 0}, EventLink{{}, 90, 0}};
        CrawlEvent event;
        event.kind = i % 2 == 0 ? CrawlEventKind::kPage : CrawlEventKind::kLinkAdded;
        event.index = random.below(60 + 40 * static_cast<std::uint64_t>(step));
        event.time_us = event.kind == CrawlEventKind::kPage ? 7 : 0;
        event.links = links;
        must(pages.add(event));
      }
      must(pages.merge());
      states.emplace_back(must((*store)->snapshot()));
    }
  }
  for (const State& older : states) {
    for (const State& newer : states) expect_right(older, newer);
  }
}

/// Rows of a run that both states have are skipped where nothing near them changed.
TEST(PagesDiff, FindsChangedRowsFarFromEachOther) {
  auto options = small_options();
  options.memory_bytes = 16 << 20;
  options.has_urls = false;
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", options));
  const auto link = [&](CrawlEventKind kind, std::uint64_t from, std::uint64_t to) {
    const std::array links{EventLink{{}, to, 0}};
    CrawlEvent event;
    event.kind = kind;
    event.index = from;
    event.links = links;
    must(pages.add(event));
  };
  constexpr std::uint64_t kPages = 20'000;
  for (std::uint64_t i = 0; i < kPages; i += 2) link(CrawlEventKind::kLinkAdded, i, i * 7 % kPages);
  must(pages.merge());
  const auto before = must(store->snapshot());
  for (const std::uint64_t page : {0U, 1U, 4000U, 9000U, 9002U, 13'101U, 19'999U}) {
    link(CrawlEventKind::kLinkAdded, page, 5);
  }
  link(CrawlEventKind::kLinkRemoved, 18'000, 18'000 * 7 % kPages);
  must(pages.merge());
  const auto found = expect_right(before, must(store->snapshot()));
  EXPECT_EQ(found.added_link_count, 7U);
  EXPECT_EQ(found.gone_link_count, 1U);
}

TEST(PagesDiff, CountsADatabaseThatOneStateLacks) {
  MemoryStore store;
  const auto empty = must(store->snapshot());
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  CrawledPage page("http://a.org/", 1);
  page.add_link("http://a.org/b");
  must(pages.add(page));
  must(pages.merge());
  const auto full = must(store->snapshot());
  const auto added = must(diff_pages(empty, full)).at(0);
  EXPECT_TRUE(!added.in_old && added.in_new && added.differs());
  EXPECT_EQ(std::pair(added.added_page_count, added.added_link_count), std::pair(2UL, 1UL));
  const auto gone = must(diff_pages(full, empty)).at(0);
  EXPECT_EQ(std::pair(gone.gone_page_count, gone.gone_link_count), std::pair(2UL, 1UL));
  auto options = small_options();
  options.has_urls = false;
  MemoryStore other;
  must(PageDb::open(*other, "pages", options));
  const auto found = must(diff_pages(full, must(other->snapshot()))).at(0);
  EXPECT_TRUE(found.kind_differs && found.differs());
}

TEST(PagesDiff, ReadsOnlyWhatChanged) {
  MemoryStore store;
  auto options = small_options();
  options.memory_bytes = 16 << 20;
  options.bucket_keys_max = 1 << 20;
  auto pages = must(PageDb::open(*store, "pages", options));
  Random random(4);
  for (int i = 0; i < 20'000; ++i) {
    CrawledPage page("http://h" + std::to_string(i % 100) + ".org/" + std::to_string(i), 1 + i);
    for (int n = 0; n < 10; ++n) {
      const auto target = random.below(20'000);
      page.add_link("http://h" + std::to_string(target % 100) + ".org/" + std::to_string(target));
    }
    must(pages.add(page));
  }
  must(pages.merge());
  must(store->commit());
  const auto before = store.image();
  CrawledPage page("http://h1.org/1", 99);
  page.add_link("http://new.org/");
  must(pages.add(page));
  must(pages.merge());
  const auto snapshot = [](const std::vector<std::byte>& image) {
    return must(Snapshot::open(open_memory_storage(make_memory_file(image), OpenMode::kRead)));
  };
  const auto older = snapshot(before);
  const auto newer = snapshot(store.image());
  const auto read_before = newer.counters().bytes_read;
  const auto found = must(diff_pages(older, newer)).at(0);
  EXPECT_EQ(found.added_page_count, 1U);
  EXPECT_EQ(found.changed_page_count, 1U);
  EXPECT_EQ(found.added_link_count, 1U);
  EXPECT_GE(found.gone_link_count, 9U);
  const PagesInfo info = must(PageView::open(newer)).info();
  EXPECT_LT(newer.counters().bytes_read - read_before,
            (info.key_bytes + info.origin_bytes + info.record_bytes + info.out_link_bytes) / 2);
}

TEST(PagesDiff, StopsWhenItIsAskedTo) {
  MemoryStore store;
  const auto empty = must(store->snapshot());
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  must(pages.add(CrawledPage("http://a.org/", 1)));
  must(pages.merge());
  PagesDiffOptions options;
  options.progress = [](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    return false;
  };
  EXPECT_EQ(diff_pages(empty, must(store->snapshot()), {}, options).error().code, Errc::kCancelled);
}

TEST(PagesDiff, SaysInWhichStateTheDamageIs) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  must(store->commit());
  const auto before = must(store->snapshot());
  must(pages.add(CrawledPage("http://a.org/", 1)));
  must(pages.merge());
  auto image = store.image();
  for (const auto& segment : must(store->snapshot()).segments()) {
    if (segment.kind != SegmentKind::kPageRecords) continue;
    for (const auto& run : segment.runs) {
      if (run.payload_bytes > 100) image[run.extent.offset_bytes + 60] ^= std::byte{4};
    }
  }
  const auto damaged =
      must(Snapshot::open(open_memory_storage(make_memory_file(image), OpenMode::kRead)));
  std::vector<bool> blamed;
  PagesDiffSink sink;
  sink.failed = [&](bool in_new) { blamed.push_back(in_new); };
  EXPECT_EQ(diff_pages(before, damaged, sink).error().code, Errc::kChunkDamaged);
  EXPECT_EQ(diff_pages(damaged, before, sink).error().code, Errc::kChunkDamaged);
  EXPECT_EQ(blamed, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace crawlstore::testing
