// SPDX-License-Identifier: Apache-2.0
//
// Forgetting in several commits: how much the file grows, what readers see between the commits, and
// what is left when it is stopped.
#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/scores.h>
#include <crawlstore/url_seen.h>

#include "container/reader.h"
#include "pages/origins_run.h"
#include "pages/page_words.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kPages = 20'000;
constexpr std::uint64_t kFewPages = 7'000;  // still several commits
constexpr std::uint64_t kHosts = 40;
constexpr std::uint64_t kTimesMax = std::uint64_t{1} << 50;  // so that records take some room

std::string url_of(std::uint64_t page) {
  return "http://host" + std::to_string(page / (kPages / kHosts)) +
         ".example/reference/manual/section-" + std::to_string(page * 7919 % 1'000'003) + "/page-" +
         std::to_string(page) + ".html";
}

std::uint64_t page_of(std::string_view url) {
  return std::stoull(std::string(url.substr(url.rfind('-') + 1)));
}

using IsMeant = bool (*)(std::uint64_t page);
bool is_spread(std::uint64_t page) {
  return page % 50 == 7;
}
bool is_neighbour(std::uint64_t page) {
  return page >= 1500 && page < 4000;
}
bool is_half(std::uint64_t page) {
  return page * 0x9E3779B97F4A7C15 >> 63 != 0;
}
bool is_any(std::uint64_t) {
  return true;
}

auto by_page(IsMeant is_meant) {
  return [is_meant](std::string_view url) { return is_meant(page_of(url)); };
}

/// Pages that link to pages near them, to any, and to a first page that all know.
class Site {
 public:
  explicit Site(std::uint64_t page_count, bool compacted = true) {
    pages_.emplace(must(PageDb::open(*store_)));
    Random random(3);
    std::uint64_t next = 0;
    for (std::uint64_t page = 0; page < page_count; ++page) {
      CrawledPage crawled(url_of(page), static_cast<std::int64_t>(1 + random.below(kTimesMax)));
      for (int i = 0; i < 6; ++i) crawled.add_link(url_of(page - page % 50 + random.below(50)));
      crawled.add_link(url_of(random.below(page_count)));
      crawled.add_link(url_of(0));
      must(pages_->add(crawled));
      if (!compacted && page == next) {
        must(pages_->merge());
        next += page_count / 10;
      }
    }
    must(pages_->merge());
    if (!compacted) return;
    must(pages_->compact());
    must(store_->compact());
  }

  Store& store() { return *store_; }
  MemoryStore& memory() { return store_; }
  PageDb& pages() { return *pages_; }
  /// The snapshot of a reader that is not the writer.
  Snapshot snapshot() {
    return must(Snapshot::open(
        std::shared_ptr<Storage>(open_memory_storage(store_.file(), OpenMode::kRead))));
  }
  PageView view() { return must(PageView::open(snapshot())); }

 private:
  MemoryStore store_;
  std::optional<PageDb> pages_;
};

/// Key, URL, record and links are all there, or none is, and nothing leads to pages that are gone,
/// which are some of those that are meant. Returns how many these are.
std::uint64_t expect_wholly(const PageView& view, const std::vector<std::string>& urls,
                            IsMeant is_meant) {
  std::vector<bool> is_gone(urls.size());
  std::vector<std::optional<std::uint64_t>> linkers(urls.size());
  for (std::uint64_t page = 0; page < urls.size(); ++page) {
    const PageInfo info = must(view.page(page));
    is_gone[page] = info.url.empty();
    linkers[page] = info.linked_from;
    EXPECT_EQ(must(view.find_text(urls[page])).has_value(), !is_gone[page]) << page;
    EXPECT_EQ(info.state == PageState::kGone, is_gone[page]) << page;
    if (!is_gone[page]) {
      EXPECT_EQ(info.url, urls[page]);
    } else {
      EXPECT_TRUE(is_meant(page_of(urls[page])));
      EXPECT_TRUE(must(view.in_links(page)).empty()) << page;
    }
  }
  for (std::uint64_t page = 0; page < urls.size(); ++page) {
    const auto links = must(view.out_links(page));
    EXPECT_TRUE(!is_gone[page] || links.empty()) << page;
    for (const std::uint64_t link : links) {
      if (is_gone[link]) ADD_FAILURE() << page << " links to a page that is gone";
    }
    EXPECT_FALSE(linkers[page] && is_gone[*linkers[page]]) << page;
  }
  return static_cast<std::uint64_t>(std::ranges::count(is_gone, true));
}

std::vector<std::string> urls_of(const PageView& view) {
  std::vector<std::string> urls;
  for (std::uint64_t i = 0; i < view.info().page_count; ++i) urls.emplace_back(must(view.url(i)));
  return urls;
}

class ForgetInParts : public ::testing::TestWithParam<IsMeant> {};

TEST_P(ForgetInParts, GrowsTheFileByLessThanAThird) {
  for (const bool compacted : {true, false}) {
    Site site(kPages, compacted);
    {
      auto seen = must(UrlSeen::open(site.store(), "urls"));
      for (std::uint64_t i = 0; i < kPages; ++i) must(seen.check_update(url_of(i)));
      must(seen.drum().merge());
      auto queue = must(Queue::open(site.store()));
      std::vector<QueuedPage> queued(kPages);
      for (std::uint64_t i = 0; i < kPages; ++i) queued[i].page = i;
      must(queue.insert(queued));
    }
    must(site.store().commit());
    if (compacted) must(site.store().compact());
    const std::uint64_t before = site.store().file_bytes();
    std::uint64_t highest = before;
    ForgetOptions options;
    options.progress = [&](auto, auto) {
      highest = std::max<std::uint64_t>(highest, site.memory().image().size());
      return true;
    };
    const auto report = must(site.pages().forget(by_page(GetParam()), options));
    EXPECT_EQ(report.seen_count, report.page_count);
    EXPECT_EQ(report.queued_count, report.page_count);
    EXPECT_LT(highest, before + before * 3 / 10) << before << ' ' << compacted;
    EXPECT_LT(site.store().file_bytes(), before + before * 3 / 10);
    const auto view = site.view();
    EXPECT_EQ(report.page_count, std::uint64_t(std::ranges::count(urls_of(view), std::string())));
    expect_whole(site.memory());
  }
}

/// However much a tile of records and a run of URLs take, of which each commit writes one at least.
TEST_P(ForgetInParts, TakesFewCommits) {
  for (const std::uint64_t page_count : {std::uint64_t{9'000}, kPages}) {
    Site site(page_count);
    const std::uint64_t before = site.store().generation().value;
    must(site.pages().forget(by_page(GetParam())));
    EXPECT_LT(site.store().generation().value, before + 300);
  }
}

TEST_P(ForgetInParts, ShowsReadersWholePagesBetweenCommits) {
  Site site(kFewPages);
  const auto urls = urls_of(site.view());
  const std::uint64_t first_generation = site.snapshot().generation().value;
  std::uint64_t last_generation = 0;
  std::uint64_t gone_count = 0;
  std::uint64_t step = 7;  // to look at all would take minutes
  ForgetOptions options;
  options.progress = [&](auto, auto) {
    const std::uint64_t generation = site.snapshot().generation().value;
    if (generation < last_generation + step) return true;
    last_generation = generation;
    step += step / 2;
    const std::uint64_t count = expect_wholly(site.view(), urls, GetParam());
    EXPECT_GE(count, gone_count);
    gone_count = count;
    return !HasFailure();
  };
  const auto report = must(site.pages().forget(by_page(GetParam()), options));
  EXPECT_EQ(expect_wholly(site.view(), urls, GetParam()), report.page_count);
  EXPECT_GT(last_generation, first_generation + 2);
}

/// After each commit the pages that are left wait in the queue, and no others; scores are there
/// until the first page goes.
TEST_P(ForgetInParts, TakesNoMoreFromQueuesThanPages) {
  Site site(kFewPages);
  {
    auto queue = must(Queue::open(site.store()));
    std::vector<QueuedPage> queued(kFewPages);
    for (std::uint64_t i = 0; i < kFewPages; ++i) queued[i].page = i;
    must(queue.insert(queued));
  }
  must(store_scores(site.store(), "own", must(PageView::open(must(site.store().snapshot()))),
                    std::vector<float>(kFewPages, 1)));
  const auto expect_as_many = [&] {
    const auto snapshot = site.snapshot();
    const auto view = must(PageView::open(snapshot));
    const auto urls = urls_of(view);
    const auto gone_count = std::uint64_t(std::ranges::count(urls, std::string()));
    EXPECT_EQ(must(QueueView::open(snapshot)).info().page_count, kFewPages - gone_count);
    EXPECT_EQ(must(ScoreView::list(view)).empty(), gone_count != 0);
    return gone_count;
  };
  std::uint64_t last_generation = 0;
  ForgetOptions options;
  options.progress = [&](auto, auto) {
    const std::uint64_t generation = site.snapshot().generation().value;
    if (std::exchange(last_generation, generation) != generation) expect_as_many();
    return !HasFailure();
  };
  const auto report = must(site.pages().forget(by_page(GetParam()), options));
  EXPECT_EQ(report.queued_count, expect_as_many());
  EXPECT_EQ(report.score_array_count, 1U);
}

/// Each stop keeps what was forgotten before it.
TEST_P(ForgetInParts, IsFinishedByAnotherCall) {
  Site site(kFewPages);
  const auto urls = urls_of(site.view());
  const std::uint64_t wanted = std::uint64_t(
      std::ranges::count_if(urls, [](const auto& url) { return GetParam()(page_of(url)); }));
  std::uint64_t stops = 0;
  for (;; ++stops) {
    ASSERT_LT(stops, 200U);
    std::uint64_t commits_left = 2 + 2 * stops;
    std::uint64_t last_generation = site.snapshot().generation().value;
    ForgetOptions options;
    options.progress = [&](auto, auto) {
      const std::uint64_t generation = site.snapshot().generation().value;
      if (generation != last_generation && --commits_left == 0) return false;
      last_generation = generation;
      return true;
    };
    const auto report = site.pages().forget(by_page(GetParam()), options);
    expect_whole(site.memory());
    if (report) break;
    ASSERT_EQ(report.error().code, Errc::kCancelled);
  }
  EXPECT_GT(stops, 0U);
  EXPECT_EQ(expect_wholly(site.view(), urls, GetParam()), wanted);
}

/// Whether a page is of one part of them, so that portions end inside runs.
bool is_private(std::string_view url) {
  return url.find("/private-8d1f/") != std::string_view::npos;
}

/// The number of dictionaries of URLs that hold a word of those that are private.
std::uint64_t count_private_dictionaries(const MemoryStore& store) {
  const auto reader = must(container::Reader::open(
      std::shared_ptr<Storage>(open_memory_storage(store.file(), OpenMode::kRead)), {}));
  std::uint64_t count = 0;
  reader->directory().for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind != SegmentKind::kPageOrigins) return;
    for (const auto& run : entry.runs) {
      const auto bytes = must(pages::read_dictionary(*reader->run_reader(entry.id, run)));
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (text.find("private") != std::string_view::npos) ++count;
    }
  });
  return count;
}

void fill_drum(Store& store, const char* name, std::uint64_t key_count) {
  auto drum = must(Drum<std::uint64_t>::open(store, name));
  NullDispatcher none;
  for (std::uint64_t i = 0; i < key_count; ++i) must(drum.check_update(i * 0x9E3779B97F4A7C15));
  must(drum.merge(none));
  must(drum.close());
}

/// Dictionaries are made of URLs: also of those that a later portion forgets, where one that takes
/// two runs ends in the lower one. Only pages of that one have links, which cost a portion most.
TEST(Forget, LeavesNothingInDictionaries) {
  constexpr std::uint64_t kAll = 40'000;
  const auto name = [](std::uint64_t i) {
    return std::string("http://h.example") + (i % 3 == 1 ? "/private-8d1f/" : "/public/") +
           std::to_string(i * 0x9E3779B97F4A7C15) + "/of/" + std::to_string(i);
  };
  MemoryStore store;
  fill_drum(*store, "others", 2'000'000);  // the longer the file, the longer portions are
  auto pages = must(PageDb::open(*store));
  Random random(11);
  for (std::uint64_t i = 0; i < kAll; ++i) {
    CrawledPage page(name(i), 1);
    for (int k = 0; k < 10 && i < kAll / 2; ++k) page.add_link(name(random.below(i + 1)));
    must(pages.add(page));
  }
  must(pages.merge());
  must(pages.compact());
  EXPECT_GT(count_private_dictionaries(store), 0U);
  (void)must(pages.forget(is_private));
  EXPECT_EQ(count_private_dictionaries(store), 0U);
  expect_whole(store);
}

/// A page is forgotten, and with it all runs from its own on are written anew: what is below it had
/// nothing of it, however the runs were joined.
TEST(Forget, LeavesNothingInDictionariesOfOlderRuns) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  Random random(12);
  const auto add = [&](std::uint64_t count, const std::string& part) {
    for (std::uint64_t i = 0; i < count; ++i) {
      must(pages.add(CrawledPage("http://h.example" + part + std::to_string(random.next()), 1)));
    }
    must(pages.merge());
  };
  for (int i = 0; i < 2; ++i) add(18'000, "/public/");  // together more than a mebibyte
  for (int i = 0; i < 40; ++i) add(i == 0 ? 40'000 : 2'000, "/private-8d1f/");
  (void)must(pages.forget(is_private));
  EXPECT_EQ(count_private_dictionaries(store), 0U);
  expect_whole(store);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ForgetInParts,
                         ::testing::Values(is_spread, is_neighbour, is_half, is_any));

}  // namespace
}  // namespace crawlstore::testing
