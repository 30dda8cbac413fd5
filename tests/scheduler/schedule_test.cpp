// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/schedule.h>

#include "drum/memory_store.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kBegin = 4'000'000'000'000;  // behind the wall clock

/// A store with pages and a frontier of them.
class Schedule : public ::testing::Test {
 protected:
  Schedule() { open(); }

  void open(FrontierRule rule = {}) {
    FrontierOptions options{.default_rule = std::move(rule), .pages = "pages"};
    options.checkpoint_bytes = 3000;
    pages_.emplace(must(PageDb::open(*store_)));
    frontier_.emplace(must(Frontier::open(*store_, Frontier::kDefaultName, options)));
  }
  void reopen() {
    must(frontier_->close());
    must(pages_->close());
    frontier_.reset();
    pages_.reset();
    store_.reopen();
    open();
  }
  void crawl(const std::string& url, const std::vector<std::string>& links) {
    CrawledPage page(url, static_cast<std::int64_t>(kBegin) * 1000);
    for (const std::string& link : links) page.add_link(link);
    must(pages_->add(page));
  }
  void know(const std::string& url) {
    must(pages_->add({.kind = CrawlEventKind::kKnown, .url = url}));
  }
  PageView view() { return must(PageView::open(must(store_->snapshot()))); }
  ScheduledPages put(const SchedulePolicy& policy = {}, std::uint64_t first_page = 0) {
    must(pages_->merge());
    return must(put_pages(*frontier_, view(), policy, first_page));
  }
  std::vector<TakenItem> take(std::size_t count) {
    now_ += 1000;
    return must(take_pages(*frontier_, view(), {.count = count, .now_ms = now_}));
  }
  void finish(const std::vector<TakenItem>& items) {
    std::vector<std::uint64_t> ids;
    for (const TakenItem& item : items) ids.push_back(item.id);
    must(frontier_->finish(ids, now_));
  }
  Result<PagesPutBack> try_put_back(const RevisitRule* rule) {
    must(store_->commit());
    return crawlstore::put_back(*frontier_, must(store_->snapshot()), {}, rule);
  }
  PagesPutBack put_back(const RevisitRule* rule) { return must(try_put_back(rule)); }
  /// URLs of what waits or is leased, with the host and the priority.
  std::map<std::string, std::pair<std::string, double>> held() {
    must(store_->commit());
    const auto pages = view();
    const auto frontier = must(FrontierView::open(must(store_->snapshot())));
    std::map<std::string, std::pair<std::string, double>> all;
    const auto note = [&](const FrontierEntry& entry) {
      const auto is_new = all.emplace(must(pages.url(entry.id)),
                                      std::pair(std::string(entry.group), entry.priority));
      EXPECT_TRUE(is_new.second) << is_new.first->first;
      return true;
    };
    must(frontier.for_each_lease(note));
    frontier.for_each_group([&](const FrontierGroup& group) {
      must(frontier.for_each_waiting(group.key, note));
      return true;
    });
    return all;
  }

  MemoryStore store_;
  std::optional<PageDb> pages_;
  std::optional<Frontier> frontier_;
  std::uint64_t now_ = kBegin;
};

/// covers: A37, A38
TEST_F(Schedule, PutsPagesByTheirDepthAndHost) {
  crawl("http://a.test/", {"http://b.test/x", "https://a.test:8443/y", "mailto:c@d.test"});
  must(pages_->merge());
  crawl("http://b.test/x", {"http://e.test/"});
  const auto done = put();
  EXPECT_EQ(done.put_count, 2U);
  EXPECT_EQ(done.left_out_count, 3U);  // two are crawled
  EXPECT_EQ(done.next_page, 5U);
  EXPECT_EQ(held(),
            (std::map<std::string, std::pair<std::string, double>>{
                {"https://a.test:8443/y", {"a.test", -1}}, {"http://e.test/", {"e.test", -2}}}));
  EXPECT_EQ(put().put_count, 0U);
}

TEST_F(Schedule, AsksThePolicy) {
  crawl("http://a.test/", {"http://a.test/1", "http://a.test/2", "http://a.test/3"});
  must(pages_->merge());
  crawl("http://a.test/1", {"http://a.test/deep"});
  SchedulePolicy policy{.depth_max = 1, .priority_of = [](const PageInfo& page) {
                          return page.url.ends_with("2") ? std::nullopt : std::optional(7.5);
                        }};
  EXPECT_EQ(put(policy).left_out_count, 4U);
  EXPECT_EQ(held(), (std::map<std::string, std::pair<std::string, double>>{
                        {"http://a.test/3", {"a.test", 7.5}}}));
}

/// Pages left out behind the last one that was put are looked at again, unless the caller knows.
TEST_F(Schedule, LooksOnceAtWhatIsLeftOut) {
  crawl("http://a.test/", {"http://a.test/1", "http://a.test/2"});
  const auto done = put({.depth_max = 0});
  EXPECT_EQ(done.left_out_count, 3U);
  EXPECT_EQ(put({.depth_max = 0}).left_out_count, 3U);
  EXPECT_EQ(put({.depth_max = 0}, done.next_page).left_out_count, 0U);
  EXPECT_EQ(put().put_count, 2U);
}

TEST_F(Schedule, CountsWhatTheLimitOfAHostRefuses) {
  must(frontier_->set_rule("a.test", {.put_max = 2}));
  crawl("http://b.test/", {"http://a.test/1", "http://a.test/2", "http://a.test/3"});
  const auto done = put();
  EXPECT_EQ(done.put_count, 2U);
  EXPECT_EQ(done.refused_count, 1U);
}

TEST_F(Schedule, GivesUrlsOfTakenPagesAndEndsForgottenOnes) {
  for (const char* const host : {"a", "b", "c", "d"})
    know("http://" + std::string(host) + ".test/");
  EXPECT_EQ(put().put_count, 4U);
  must(pages_->forget([](std::string_view url) { return url < "http://c"; }));
  std::set<std::string> urls;
  for (const TakenItem& item : take(2)) urls.insert(item.body);
  EXPECT_EQ(urls, (std::set<std::string>{"http://c.test/", "http://d.test/"}));
  EXPECT_EQ(frontier_->waiting_count(), 0U);
  EXPECT_EQ(frontier_->leased_count(), 2U);
  EXPECT_EQ(must(frontier_->give_back_all()), 2U);
  EXPECT_EQ(frontier_->waiting_count(), 2U);
}

TEST_F(Schedule, EndsPagesThatAreNothingToFetchAnyMore) {
  for (const char* const host : {"a", "b", "c", "d"})
    know("http://" + std::string(host) + ".test/");
  EXPECT_EQ(put().put_count, 4U);
  crawl("http://a.test/", {});
  must(pages_->add({.kind = CrawlEventKind::kGone, .url = "http://b.test/"}));
  must(pages_->add({.kind = CrawlEventKind::kFailed, .url = "http://c.test/"}));
  must(pages_->merge());
  std::set<std::string> urls;
  for (const TakenItem& item : take(9)) urls.insert(item.body);
  EXPECT_EQ(urls, (std::set<std::string>{"http://c.test/", "http://d.test/"}));
  EXPECT_EQ(frontier_->waiting_count() + frontier_->leased_count(), 2U);
}

/// The index of a page that was lost may have been given to another one.
TEST_F(Schedule, GivesNoPageInTheGroupOfAnotherHost) {
  know("http://a.test/");
  must(pages_->merge());
  must(frontier_->put(std::vector<FrontierItem>{{.group = "b.test", .id = 0}}));
  EXPECT_TRUE(take(1).empty());
  EXPECT_EQ(frontier_->waiting_count() + frontier_->leased_count(), 0U);
}

TEST_F(Schedule, TakesNoMoreOfAHostThanItMayWherePagesAreGone) {
  must(frontier_->set_rule("a.test", {.in_flight_max = 9}));
  for (int i = 0; i < 5; ++i) know("http://a.test/" + std::to_string(i));
  know("http://b.test/");
  put();
  must(pages_->forget([](std::string_view url) { return url.starts_with("http://b"); }));
  now_ += 1000;
  const TakeOptions options{.count = 3, .per_group = 2, .now_ms = now_};
  EXPECT_EQ(must(take_pages(*frontier_, view(), options)).size(), 2U);
}

TEST_F(Schedule, TakesNothingWithAViewThatLacksPages) {
  know("http://a.test/");
  must(pages_->merge());
  const PageView old = view();
  know("http://b.test/");
  put();
  const auto taken = take_pages(*frontier_, old, {.count = 2, .now_ms = now_});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(frontier_->leased_count(), 0U);
  EXPECT_EQ(frontier_->waiting_count(), 2U);
}

/// Pages that were crawled at kBegin, and never before.
TEST_F(Schedule, PutsPagesBackForAnotherVisit) {
  crawl("http://a.test/", {"http://b.test/x", "mailto:c@d.test"});
  put();
  finish(take(9));
  RevisitRule rule;
  EXPECT_EQ(put_back(nullptr).new_count, 1U);  // b, of which no outcome is known
  const auto done = put_back(&rule);
  EXPECT_EQ(done.held_count, 1U);
  EXPECT_EQ(done.revisit_count, 1U);
  EXPECT_EQ(done.left_out_count, 1U);
  EXPECT_EQ(put_back(&rule).held_count, 2U);
  finish(take(9));
  now_ += rule.first_ms - 10'000;
  EXPECT_TRUE(take(9).empty());
  now_ += 20'000;
  const auto taken = take(9);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].body, "http://a.test/");
  EXPECT_EQ(must(frontier_->find({"a.test", taken[0].id}))->body, "1.1");
}

TEST_F(Schedule, EndsVisitsToPagesThatWereCrawledMeanwhile) {
  crawl("http://a.test/", {});
  crawl("http://b.test/", {});
  must(pages_->merge());
  RevisitRule rule;
  rule.first_ms = rule.min_ms;
  EXPECT_EQ(put_back(&rule).revisit_count, 2U);
  crawl("http://b.test/", {});
  must(pages_->merge());
  now_ += 2 * rule.min_ms;
  const auto taken = take(9);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].body, "http://a.test/");
  EXPECT_EQ(frontier_->waiting_count(), 0U);
}

TEST_F(Schedule, DropsWhatIsGone) {
  crawl("http://a.test/", {"http://a.test/1", "http://b.test/2", "http://b.test/3"});
  put();
  const auto taken = take(1);
  must(pages_->forget([](std::string_view url) { return !url.ends_with("3"); }));
  must(store_->commit());
  EXPECT_EQ(must(drop_gone(*frontier_, must(store_->snapshot()))), 2U);
  EXPECT_EQ(must(frontier_->finish(std::vector{taken[0].id})).unknown_count, 1U);
  EXPECT_EQ(frontier_->waiting_count(), 1U);
  EXPECT_EQ(must(drop_gone(*frontier_, must(store_->snapshot()))), 0U);
}

/// covers: A43
TEST_F(Schedule, PutsWhatAnotherPolicyLeftOut) {
  crawl("http://a.test/", {"http://a.test/1", "http://b.test/2"});
  put({.depth_max = 0});
  know("http://c.test/");
  EXPECT_EQ(put({.depth_max = 0}).put_count, 1U);  // those before it are left out for good
  EXPECT_EQ(put().put_count, 0U);
  EXPECT_EQ(put_back(nullptr).new_count, 2U);
  EXPECT_EQ(held().size(), 3U);
}

TEST_F(Schedule, NeverPutsBackWhatTheRuleLeavesOut) {
  crawl("http://a.test/", {});
  must(pages_->merge());
  RevisitRule rule;
  rule.interval_of = [](const PageInfo&, std::uint64_t) { return RevisitRule::kNever; };
  EXPECT_EQ(put_back(&rule).left_out_count, 1U);
  rule.fetches_per_day = 0;
  EXPECT_EQ(try_put_back(&rule).error().code, Errc::kInvalidArgument);
}

TEST_F(Schedule, RefusesFrontiersAndPagesOfOthers) {
  auto other = must(PageDb::open(*store_, "others"));
  must(other.merge());
  const auto others = must(PageView::open(must(store_->snapshot()), "others"));
  EXPECT_EQ(put_pages(*frontier_, others).error().code, Errc::kInvalidArgument);
  auto plain = must(Frontier::open(*store_, "plain"));
  must(pages_->merge());
  EXPECT_EQ(put_pages(plain, view()).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(take_pages(plain, view()).error().code, Errc::kInvalidArgument);
  must(plain.close());
  const auto again = Frontier::open(*store_, "plain", {.pages = "pages"});
  EXPECT_EQ(again.error().code, Errc::kInvalidArgument);
}

/// Whatever stops between a superstep and its pages: each page is fetched, or held.
/// covers: A36, A37, A38
TEST_F(Schedule, LosesNoPageOfARandomCrawl) {
  SeededRandom random;
  std::set<std::string> crawled;
  std::set<std::string> seen{"http://h0.test/0"};
  know("http://h0.test/0");
  must(pages_->merge());  // before it there is no view
  for (int round = 0; round < 150; ++round) {
    if (random.one_in(3)) must(pages_->merge());
    if (random.one_in(2)) put();
    if (random.one_in(10)) reopen();
    std::vector<std::uint64_t> done;
    for (const TakenItem& item : take(1 + random.below(4))) {
      if (random.one_in(4)) continue;
      std::vector<std::string> links;
      for (std::uint64_t i = random.below(6); i > 0; --i) {
        links.push_back("http://h" + std::to_string(random.below(30)) + ".test/" +
                        std::to_string(random.below(20)));
      }
      crawl(item.body, links);
      EXPECT_TRUE(crawled.insert(item.body).second) << item.body;
      seen.insert(links.begin(), links.end());
      done.push_back(item.id);
    }
    must(frontier_->finish(done));
    if (random.one_in(8)) must(frontier_->give_back_all());
  }
  put();
  std::set<std::string> all = crawled;
  for (const auto& [url, item] : held()) EXPECT_TRUE(all.insert(url).second) << url;
  EXPECT_EQ(all, seen);
}

}  // namespace
}  // namespace crawlstore::testing
