// SPDX-License-Identifier: Apache-2.0
// covers: A5, A6, A12, A14, A15, A17, A18, A19
#include <cmath>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "pages/page_model.h"
#include "pages/page_words.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

PagesOptions small_options(std::uint32_t bucket_count = 4) {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = bucket_count;
  return options;
}

void add(PageDb& pages, const Edit& edit) {
  must(edit.as_event([&](const CrawlEvent& event) { return pages.add(event); }));
}

/// Random crawls, merged now and then, in stores that differ in what must not matter. Before the
/// last merge every nth page is looked at, each in one of n supersteps; in the long run all are.
class RandomSupersteps : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomSupersteps, HoldWhatTheModelHolds) {
  const std::uint64_t stride = is_long() ? 1 : 5;
  for (std::uint64_t i = 0; i < (is_long() ? 20 : 2); ++i) {
    const std::uint64_t seed = test_seed() + i;
    SCOPED_TRACE("CRAWLSTORE_TEST_SEED=" + std::to_string(seed));
    MemoryStore store;
    PageModel model;
    RandomCrawl crawl(seed);
    Random when(seed * 77);
    auto options = small_options(GetParam());
    options.bucket_keys_max = 40;  // ranges of keys split
    std::optional<PageDb> pages(must(PageDb::open(*store, "pages", options)));
    for (std::uint64_t step = 0; step < 25; ++step) {
      for (std::uint64_t n = when.below(60); n > 0; --n) {
        const Edit edit = crawl.next();
        model.apply(edit);
        add(*pages, edit);
      }
      if (when.below(3) == 0) must(store->commit());  // edits wait in the file
      if (when.below(4) == 0) {
        pages.reset();
        store.reopen();
        pages.emplace(must(PageDb::open(*store, "pages", options)));
      }
      must(pages->merge());
      ASSERT_NO_FATAL_FAILURE(expect_same(view_of(*store), model, (seed + step) % stride, stride))
          << step;
      ASSERT_NO_FATAL_FAILURE(expect_whole(store)) << step;
      if (::testing::Test::HasFailure()) return;
    }
    expect_same(view_of(*store), model);
    must(pages->compact());
    expect_same(view_of(*store), model);
    expect_whole(store);
    EXPECT_EQ(pages->status().page_count, model.pages().size());
    EXPECT_EQ(pages->status().edit_count, 0U);
  }
}
INSTANTIATE_TEST_SUITE_P(Buckets, RandomSupersteps, ::testing::Values(1, 16, 256));

TEST(Pages, GiveTheExampleOfTheSeed) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  CrawledPage yahoo("http://yahoo.com/", 1'000'000);
  yahoo.add_link("http://a.com/", 0.1F);
  yahoo.add_link("http://b.com/", 0.2F);
  yahoo.add_link("http://google.com/", 0.3F);
  yahoo.set_content_hash(1000);
  yahoo.set_score(0.5F);
  must(pages.add(yahoo));
  for (const std::uint64_t hash : {2000U, 3000U}) {
    CrawledPage bing("http://bing.com/", 2'000'000);
    bing.add_link("http://x.com/", 1.1F);
    bing.add_link("http://y.com/", 1.2F);
    bing.set_content_hash(hash);
    bing.set_score(0.2F);
    must(pages.add(bing));
    must(pages.merge());
  }
  const PageView view = view_of(*store);
  const auto page = [&](std::string_view url) {
    return must(view.page(must(view.find(url)).value()));
  };
  EXPECT_FLOAT_EQ(page("http://x.com/").score, 1.1F);
  EXPECT_EQ(page("http://yahoo.com/").crawl_count, 1U);
  EXPECT_EQ(page("http://yahoo.com/").change_count, 0U);
  EXPECT_EQ(page("http://google.com/").crawl_count, 0U);
  EXPECT_EQ(page("http://google.com/").first_crawl_us, 0);
  EXPECT_EQ(page("http://bing.com/").crawl_count, 2U);
  EXPECT_EQ(page("http://bing.com/").change_count, 1U);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> links;
  auto stream = must(view.links());
  while (must(stream.next())) {
    for (const std::uint64_t link : stream.links()) links.emplace_back(stream.page(), link);
  }
  EXPECT_EQ(links, (decltype(links){{0, 1}, {0, 2}, {0, 3}, {4, 5}, {4, 6}}));
}

/// covers: A25
TEST(Pages, KeepTheScoreOfBeforeWhereAnEditHasNoOpinion) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  const auto score_after = [&](CrawlEventKind kind, const std::string& url, float score) {
    must(pages.add(CrawlEvent{.kind = kind, .url = url, .score = score}));
    must(pages.merge());
    const PageView view = view_of(*store);
    return must(view.score(must(view.find(url)).value()));
  };
  EXPECT_EQ(score_after(CrawlEventKind::kKnown, "http://a.test/", 2), 2);
  EXPECT_EQ(score_after(CrawlEventKind::kKnown, "http://a.test/", 0), 2);
  EXPECT_EQ(score_after(CrawlEventKind::kPage, "http://a.test/", 0), 2);
  EXPECT_EQ(score_after(CrawlEventKind::kPage, "http://a.test/", 3), 3);
  EXPECT_EQ(score_after(CrawlEventKind::kPage, "http://a.test/", 0), 3);
  EXPECT_EQ(score_after(CrawlEventKind::kPage, "http://b.test/", 0), 0);
}

TEST(LinkStreams, LeaveOutLinksInsideAHost) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  const std::map<std::string, std::vector<std::string>> graph{
      {"http://a.org/1", {"http://a.org/2", "http://b.org/1", "http://b.org/2"}},
      {"http://b.org/1", {"http://b.org/2", "http://a.org/2"}}};
  for (const auto& [url, links] : graph) {
    CrawledPage page(url, 1);
    for (const auto& link : links) page.add_link(link);
    must(pages.add(page));
  }
  must(pages.merge());
  const PageView view = view_of(*store);
  const auto read = [&](LinkStream& stream) {
    std::vector<std::string> links;
    while (must(stream.next())) {
      for (const std::uint64_t link : stream.links()) {
        links.push_back(must(view.url(stream.page())).substr(7) + " " +
                        must(view.url(link)).substr(7));
      }
    }
    return links;
  };
  LinkStreamOptions others;
  others.only_other_hosts = true;
  auto stream = must(view.links(others));
  const std::vector<std::string> expected{"a.org/1 b.org/1", "a.org/1 b.org/2", "b.org/1 a.org/2"};
  EXPECT_EQ(read(stream), expected);
  EXPECT_FALSE(must(stream.next()));
  must(stream.reset());
  EXPECT_EQ(read(stream), expected);
  auto all = must(view.links());
  EXPECT_EQ(read(all).size(), 5U);
}

/// covers: A8
TEST(PageInfos, HaveAChangeRate) {
  PageInfo page;
  page.first_crawl_us = 100'000'000;
  page.last_crawl_us = 200'000'000;
  page.crawl_count = 3;
  page.change_count = 1;
  EXPECT_DOUBLE_EQ(page.aduana_change_rate().value(), 0.02);
  EXPECT_DOUBLE_EQ(page.change_rate().value(), -0.02 * std::log(1.5 / 2.5));
  page.change_count = 0;
  EXPECT_DOUBLE_EQ(page.change_rate().value(), -0.02 * std::log(2 / 2.5));
  page.change_count = 2;
  EXPECT_DOUBLE_EQ(page.change_rate().value(), -0.02 * std::log(0.5 / 2.5));
  page.last_crawl_us = page.first_crawl_us;
  EXPECT_EQ(page.change_rate(), std::nullopt);
  EXPECT_EQ(page.aduana_change_rate(), std::nullopt);
}

/// covers: A10, A11, A26, A27
TEST(PageKeys, KeepThePagesOfAHostTogether) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options(16)));
  std::map<std::string, std::set<std::string>> hosts;
  for (int i = 0; i < 300; ++i) {
    const std::string host = "h" + std::to_string(i % 7) + ".org";
    const std::string url = "http://" + host + "/" + std::to_string(i);
    hosts[host].insert(url);
    must(pages.add(CrawledPage(url, 1)));
  }
  must(pages.merge());
  const PageView view = view_of(*store);
  for (const auto& [host, urls] : hosts) {
    std::set<std::string> found;
    must(view.for_each_page_of(host, [&](const PageInfo& page) {
      EXPECT_TRUE(found.insert(page.url).second);
      return true;
    }));
    EXPECT_EQ(found, urls);
  }
  must(view.for_each_page_of("h7.org", [](const PageInfo&) -> bool { throw 1; }));
  std::set<std::uint64_t> indexes;
  std::optional<Key16> last;
  must(view.for_each_key([&](Key16 key, std::uint64_t index) {
    EXPECT_TRUE(!last || *last < key);
    last = key;
    EXPECT_TRUE(indexes.insert(index).second);
    return true;
  }));
  EXPECT_EQ(indexes.size(), 300U);
  EXPECT_EQ(*indexes.rbegin(), 299U);
}

/// The first edit names c, b/10, b/9; the second, of the same page, z and a besides; so these two
/// come later, and what was named before stays where it is.
TEST(Pages, GiveNewLinksOfAnEditIndexesByUrl) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  const std::string host = "http://h.test/";
  const std::vector<std::vector<std::string>> edits{{"c", "b/9", "b/10"}, {"z", "b/9", "a", "z"}};
  for (const auto& links : edits) {
    CrawledPage page(host + "page", 1);
    for (const std::string& link : links) page.add_link(host + link);
    must(pages.add(page));
  }
  must(pages.merge());
  const PageView view = view_of(*store);
  std::vector<std::string> urls;
  for (std::uint64_t i = 0; i < view.info().page_count; ++i) {
    urls.push_back(must(view.url(i)).substr(host.size()));
  }
  EXPECT_EQ(urls, (std::vector<std::string>{"page", "b/10", "b/9", "c", "a", "z"}));
}

TEST(Pages, WithoutUrlsAreKnownByIndex) {
  MemoryStore store;
  auto options = small_options();
  options.has_urls = false;
  auto pages = must(PageDb::open(*store, "pages", options));
  const auto add_links = [&](std::uint64_t from, const std::vector<std::uint64_t>& to) {
    std::vector<EventLink> links;
    for (const std::uint64_t target : to) links.push_back({{}, target, 0});
    CrawlEvent event;
    event.kind = CrawlEventKind::kLinkAdded;
    event.index = from;
    event.links = links;
    must(pages.add(event));
  };
  add_links(5, {9, 2, 5});
  add_links(0, {20'000});
  must(pages.merge());
  add_links(5, {3, 9});
  must(pages.merge());
  const PageView view = view_of(*store);
  EXPECT_EQ(view.info().page_count, 20'001U);
  EXPECT_EQ(view.info().link_count, 5U);
  EXPECT_EQ(must(view.out_links(5)), (std::vector<std::uint64_t>{2, 3, 5, 9}));
  EXPECT_EQ(must(view.in_links(5)), (std::vector<std::uint64_t>{5}));
  EXPECT_EQ(must(view.in_links(9)), (std::vector<std::uint64_t>{5}));
  EXPECT_EQ(must(view.in_links(20'000)), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(must(view.out_links(20'000)), std::vector<std::uint64_t>{});
  EXPECT_EQ(must(view.page(12'345)).url, "");
  EXPECT_EQ(view.out_links(20'001).error().code, Errc::kInvalidArgument);
  CrawlEvent named;
  named.url = "http://a.org/";
  EXPECT_EQ(pages.add(named).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(PageDb::open(*store, "pages", small_options()).error().code, Errc::kInvalidArgument);
  must(pages.close());
  EXPECT_EQ(PageDb::open(*store, "pages", small_options()).error().code, Errc::kTypeMismatch);
}

/// covers: A4, A1, A2, A3
TEST(CrawledPages, KeepWhatTheyWereGiven) {
  CrawledPage page("http://a.org/", 7);
  EXPECT_EQ(page.link_count(), 0U);
  EXPECT_TRUE(page.event().content_hash.empty());
  EXPECT_EQ(page.event().score, 0);
  for (int i = 0; i < 100; ++i)
    page.add_link("http://b.org/" + std::to_string(i), static_cast<float>(i));
  const std::uint32_t hash = 77;
  page.set_content_hash(std::as_bytes(std::span(&hash, 1)));
  const CrawlEvent event = page.event();
  EXPECT_EQ(event.url, "http://a.org/");
  EXPECT_EQ(event.time_us, 7);
  EXPECT_EQ(event.content_hash.size(), 4U);
  ASSERT_EQ(event.links.size(), 100U);
  EXPECT_EQ(event.links[42].url, "http://b.org/42");
  EXPECT_EQ(event.links[42].score, 42);
  EXPECT_EQ(page.link(99).url, "http://b.org/99");
}

TEST(Pages, AddedInADispatcherBelongToItsTransaction) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  using Seen = Drum<std::uint64_t, NoValue, std::string>;
  auto seen = must(Seen::open(*store, "seen"));
  struct Known {
    PageDb& pages;
    bool throws;
    void unique_key_update(const Seen::AnswerType& answer) {
      must(pages.add(CrawledPage(answer.aux, 1)));
      if (throws) throw std::runtime_error("enough");
    }
  };
  must(seen.check_update(1, {}, "http://a.org/"));
  Known failing{pages, true};
  EXPECT_EQ(seen.merge(failing).error().code, Errc::kDispatcherFailed);
  EXPECT_EQ(pages.status().edit_count, 0U);
  Known fine{pages, false};
  must(seen.merge(fine));
  EXPECT_EQ(pages.status().edit_count, 1U);
  EXPECT_EQ(view_of(*store).info().event_count, 1U);  // in the commit of the merge
  must(pages.merge());
  EXPECT_EQ(view_of(*store).info().page_count, 1U);
  EXPECT_EQ(view_of(*store).info().event_count, 0U);
}

/// covers: A20
TEST(PageViews, GiveTheScoresOfAllPages) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  CrawledPage page("http://a.org/", 1);
  page.set_score(2.5F);
  page.add_link("http://b.org/", 0.25F);
  page.add_link("http://c.org/", -1.5F);
  must(pages.add(page));
  must(pages.merge());
  const PageView view = view_of(*store);
  const auto scores = must(view.scores());
  EXPECT_EQ(scores, (std::vector<float>{2.5F, 0.25F, -1.5F}));
  for (std::uint64_t index = 0; index < scores.size(); ++index) {
    EXPECT_EQ(must(view.score(index)), scores[index]);
    EXPECT_EQ(must(view.state(index)), index == 0 ? PageState::kCrawled : PageState::kKnown);
  }
  EXPECT_EQ(view.score(3).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(view.state(3).error().code, Errc::kInvalidArgument);
}

/// A database that nobody wants to keep lives in a store that has no file; one that is kept is
/// there when its file is opened again. covers: A9, A16
TEST(Pages, LastAsLongAsTheirStore) {
  std::vector<std::byte> image;
  {
    MemoryStore store;
    auto pages = must(PageDb::open(*store, "pages", small_options()));
    must(pages.add(CrawledPage("http://a.org/", 1)));
    must(pages.merge());
    PageDb moved = std::move(pages);
    must(moved.close());
    must(moved.close());  // again: no effect
    image = store.image();
  }
  MemoryStore again(image);
  EXPECT_EQ(view_of(*again).info().page_count, 1U);
  MemoryStore other;
  EXPECT_TRUE(PageView::names(must(other->snapshot())).empty());
}

TEST(Pages, TellNoUnparsedUrlOfAnEditThatIsRefused) {
  MemoryStore store;
  auto options = small_options();
  std::vector<std::string> told;
  options.unparsed = [&told](std::string_view url, UrlProblem) { told.emplace_back(url); };
  auto pages = must(PageDb::open(*store, "pages", options));
  std::vector<EventLink> links(2);
  links[0].url = "http://b test/";
  links[1].index = 5;  // of pages with URLs
  CrawlEvent event;
  event.kind = CrawlEventKind::kPage;
  event.url = "http://a test/";
  event.links = links;
  EXPECT_EQ(pages.add(event).error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(told.empty());
  event.links = std::span(links).first(1);
  must(pages.add(event));
  EXPECT_EQ(told, (std::vector<std::string>{"http://a test/", "http://b test/"}));
}

/// covers: A24
TEST(Pages, WithUnparsedUrlsAmongOthersAreFound) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  CrawledPage page("http://a.test/");
  page.add_link("http://b test/with a space");
  page.add_link("http://b.test/parsed");
  must(pages.add(page));
  CrawledPage unparsed("http://c test/with a space");
  unparsed.add_link("http://c.test/parsed");
  must(pages.add(unparsed));
  must(pages.merge());
  EXPECT_EQ(pages.status().unparsed_count, 2U);
  must(pages.add(unparsed));  // a mention more, no page more
  must(pages.add(page));
  EXPECT_EQ(must(pages.merge()).new_page_count, 0U);
  EXPECT_EQ(pages.status().unparsed_count, 2U);
  const PageView view = view_of(*store);
  std::uint64_t index = 0;
  for (const char* url : {"http://a.test/", "http://b test/with a space", "http://b.test/parsed",
                          "http://c test/with a space", "http://c.test/parsed"}) {
    EXPECT_EQ(must(view.find(url)), index++) << url;
  }
  expect_whole(store);
}

TEST(Pages, RefuseWhatIsTooLong) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  const std::string long_url = "http://a.org/" + std::string(16U << 20, 'x');
  EXPECT_EQ(pages.add(CrawledPage(long_url)).error().code, Errc::kTooLarge);
  CrawledPage page("http://a.org/");
  page.add_link(long_url);
  EXPECT_EQ(pages.add(page).error().code, Errc::kTooLarge) << "of a link";
  CrawlEvent event;
  event.url = "http://a.org/";
  const std::vector<std::byte> long_hash(65);
  event.content_hash = long_hash;
  EXPECT_EQ(pages.add(event).error().code, Errc::kTooLarge) << "content hash";
  EXPECT_EQ(pages.status().edit_count, 0U);
}

TEST(Pages, RefuseWhatTheyCannotKeep) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  CrawlEvent event;
  event.url = "http://a.org/";
  event.score = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(pages.add(event).error().code, Errc::kInvalidArgument);
  event.score = 0;
  event.time_us = -1;
  EXPECT_EQ(pages.add(event).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(pages.status().edit_count, 0U);
  EXPECT_EQ(PageDb::open(*store, "", small_options()).error().code, Errc::kTooLarge);
  EXPECT_EQ(PageDb::open(*store, "a\nb", small_options()).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(PageView::open(must(store->snapshot()), "none").error().code, Errc::kUnknownName);
  must(pages.close());
  EXPECT_EQ(pages.add(CrawledPage("http://a.org/")).error().code, Errc::kClosed);
}

TEST(Pages, AreMadeByTheFirstMergeThoughNothingWaits) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  EXPECT_TRUE(PageView::names(must(store->snapshot())).empty());
  EXPECT_EQ(must(pages.merge()).edit_count, 0U);
  EXPECT_EQ(view_of(*store).info().page_count, 0U);
  const Generation generation = must(store->snapshot()).generation();
  must(pages.merge());
  EXPECT_EQ(must(store->snapshot()).generation(), generation);
}

TEST(Pages, AreMadeByTheFirstCommit) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store, "pages", small_options()));
  must(pages.close());
  EXPECT_EQ(view_of(*store).info().page_count, 0U);
  EXPECT_EQ(must(view_of(*store).find("http://a.org/")), std::nullopt);
  EXPECT_EQ(DrumCore::open(*store, "pages", 9, DrumOptions{.key_bytes = 16}).error().code,
            Errc::kTypeMismatch);
}

}  // namespace
}  // namespace crawlstore::testing
