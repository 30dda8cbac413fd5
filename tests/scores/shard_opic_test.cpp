// SPDX-License-Identifier: Apache-2.0
// covers: P26
//
// OPIC over shards: no cash is lost between them, and pages get the shares that they get in one
// file.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/shard.h>
#include <crawlstore/shard_scores.h>
#include <crawlstore/shard_set.h>

#include "shards/machines.h"
#include "shards/thread_peers.h"

namespace crawlstore::testing {
namespace {

using Machines = std::vector<std::unique_ptr<Machine>>;
using ByUrl = std::map<std::string, double>;

void crawl(PageDb& pages, const std::string& url, const std::vector<std::string>& links) {
  CrawledPage page(url, 1);
  for (const std::string& link : links) page.add_link(link);
  must(pages.add(page));
}

double sum_of(const ByUrl& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, const auto& value) { return sum + value.second; });
}

/// OPIC over shards as plainly as can be, of what the public views say.
struct ShardsTextbook {
  ByUrl cash, history, crawls;  // of the own pages of all shards
  std::set<std::string> homes;
  double begun = 0;  // pages that began with cash

  void find_homes(const std::vector<PageView>& shards) {
    std::set<std::string> own, linked_to;
    homes.clear();
    for (const PageView& shard : shards) {
      must(shard.for_each_page([&](const PageInfo& page) {
        if (page.linked_from) linked_to.insert(page.url);
        if (page.state == PageState::kElsewhere) return true;
        own.insert(page.url);
        if (!page.linked_from) homes.insert(page.url);
        return true;
      }));
    }
    std::set<std::string> strict;
    std::ranges::set_difference(homes, linked_to, std::inserter(strict, strict.end()));
    const bool may_begin = cash.empty() || !strict.empty();
    if (!strict.empty()) homes = strict;
    for (const std::string& url : own) {
      const bool begins = may_begin && homes.contains(url);
      if (cash.emplace(url, begins ? 1 : 0).second && begins) ++begun;
    }
  }
  void update(const std::vector<PageView>& shards) {
    find_homes(shards);
    double rest = 0;
    ByUrl sent;
    for (const PageView& shard : shards) {
      for (std::uint64_t index = 0; index < shard.info().page_count; ++index) {
        const PageInfo page = must(shard.page(index));
        if (page.state == PageState::kElsewhere || page.crawl_count == crawls[page.url]) continue;
        crawls[page.url] = page.crawl_count;
        const double given = std::exchange(cash[page.url], 0);
        history[page.url] += given;
        const auto links = must(shard.out_links(index));
        for (const std::uint64_t link : links) {
          const bool is_own = must(shard.state(link)) != PageState::kElsewhere;
          (is_own ? cash : sent)[must(shard.url(link))] +=
              given / static_cast<double>(links.size());
        }
        if (links.empty()) rest += given;
      }
    }
    for (const auto& [url, amount] : sent) {
      const auto found = cash.find(url);
      (found != cash.end() ? found->second : rest) += amount;
    }
    for (const std::string& url : homes) cash[url] += rest / static_cast<double>(homes.size());
  }
};

class OpicOverShards : public CrawlOverShards {
 protected:
  OpicOverShards() {
    one_.push_back(std::make_unique<Machine>(folder_ / "one.crawl", Shard{}));
    one_.front()->add_known(web_.seed());
  }
  /// A page that may be crawled; the same number has the same one.
  static std::string url(std::uint64_t number) {
    return "http://host" + std::to_string(number * number % 11) + ".test/" + std::to_string(number);
  }
  static Machine& owner(Machines& machines, const std::string& url) {
    return *machines[shard_of(url_host(url), static_cast<std::uint32_t>(machines.size()))];
  }
  /// Crawls pages of the first `limit` ones, some of them without links.
  void crawl_some(std::uint64_t limit, int count) {
    for (int i = 0; i < count; ++i) {
      std::vector<std::string> links(random_.below(4));
      for (std::string& link : links) link = url(random_.below(limit));
      const std::string from = url(random_.below(limit));
      crawl(owner(machines_, from).pages(), from, links);
    }
  }
  /// Crawls all pages that are known, so that all cash is given on.
  void crawl_known() {
    for (const auto& machine : machines_) {
      must(machine->view().for_each_page([&](const PageInfo& page) {
        if (page.state == PageState::kElsewhere || page.url.empty()) return true;
        crawl(machine->pages(), page.url, {url(random_.below(60)), url(random_.below(60))});
        return true;
      }));
    }
  }
  /// Calls this on all machines at once, until one fails.
  template <class Value, class Call>
  static std::vector<Result<Value>> together(const Machines& machines, const Call& call) {
    Meeting meeting(machines.size());
    std::vector<Result<Value>> values(machines.size(), fail(Errc::kCancelled, "not run"));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < machines.size(); ++i) {
      threads.emplace_back([&, i] {
        ThreadPeers peers(meeting, i);
        values[i] = call(*machines[i], peers, i);
        if (!values[i]) meeting.give_up();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return values;
  }
  void exchange() {
    if (machines_.size() == 1) return;
    for (const auto& done :
         together<StepReport>(machines_, [](Machine&machine, ShardPeers&peers, auto) {
           return exchange_step(machine.store(), machine.pages(), peers);
         })) {
      ASSERT_TRUE(done) << describe(done.error());
    }
  }
  std::vector<Result<ShardRanks>> compute(const OpicOptions& options = {}) {
    return together<ShardRanks>(machines_, [&](Machine& machine, ShardPeers& peers, auto) {
      return compute_opic(machine.view(), peers, options);
    });
  }
  /// Brings OPIC up to date, and stores it in the shards from this one on.
  std::vector<ShardRanks> update(const OpicOptions& options = {}, std::size_t first_stored = 0) {
    std::vector<ShardRanks> ranks;
    for (const auto& rank : compute(options)) ranks.push_back(must(rank));
    for (std::size_t i = first_stored; i < machines_.size(); ++i) {
      must(store_ranked(machines_[i]->store(), ranks[i].ranked));
    }
    return ranks;
  }
  [[nodiscard]] std::vector<PageView> views() const {
    std::vector<PageView> views;
    for (const auto& machine : machines_) views.push_back(machine->view());
    return views;
  }
  /// An array of all own pages; those of pages elsewhere, or forgotten, are 0.
  static ByUrl values(const Machines& machines, std::string_view name) {
    ByUrl values;
    for (const auto& machine : machines) {
      const PageView pages = machine->view();
      const auto scores = must(ScoreView::open(pages, name));
      const auto numbers = must(scores.doubles());
      must(pages.for_each_page([&](const PageInfo& page) {
        const double value = page.index < numbers.size() ? numbers[page.index] : 0;
        if (page.state == PageState::kElsewhere || page.url.empty()) {
          EXPECT_EQ(value, 0) << page.url;
        } else {
          EXPECT_TRUE(values.emplace(page.url, value).second) << page.url;
        }
        return true;
      }));
    }
    return values;
  }
  [[nodiscard]] std::vector<ByUrl> all_values() const {
    return {values(machines_, "opic_cash"), values(machines_, "opic_history"),
            values(machines_, "opic_crawls")};
  }
  void expect_equal(ShardsTextbook& book) const {
    const auto arrays = all_values();
    ASSERT_EQ(arrays[0].size(), book.cash.size());
    for (const auto& [url, cash] : arrays[0]) {
      EXPECT_NEAR(cash, book.cash.at(url), 1e-9) << url;
      EXPECT_NEAR(arrays[1].at(url), book.history[url], 1e-9) << url;
      EXPECT_EQ(arrays[2].at(url), book.crawls[url]) << url;
    }
    EXPECT_NEAR(sum_of(arrays[0]), book.begun, 1e-9);
    for (const auto& machine : machines_) {
      EXPECT_EQ(residual_of(*machine), residual_of(*machines_.front()));
    }
  }
  /// The number of the update that a shard has.
  static double residual_of(Machine& machine) {
    return must(ScoreView::open(machine.view(), "opic_cash")).info().residual;
  }
  /// That an update begins anew, and goes on from there.
  void expect_anew() {
    update();
    const auto arrays = all_values();
    update({.is_warm = false});
    EXPECT_EQ(all_values(), arrays);
    for (const PageView& pages : views()) {
      for (const auto name : {"opic_cash", "opic_history", "opic_crawls"}) {
        EXPECT_FALSE(must(ScoreView::open(pages, name)).info().is_stale);
      }
    }
  }
  /// A crawl in which pages gave several times, so that a new beginning shows.
  void begin() {
    for (int round = 0; round < 3; ++round) {
      crawl_some(60, 60);
      exchange();
      crawl_known();
      update();
    }
  }

  Machines one_;  // a file that is alone
};

TEST_P(OpicOverShards, EqualsTheTextbookOnGraphsThatGrow) {
  ShardsTextbook book;
  std::uint64_t unknown_count = 0;
  for (std::uint64_t round = 1; round <= 8; ++round) {
    // In every other round so few that their links are looked up.
    crawl_some(40 * round, round % 2 == 0 ? 2 : 60);
    if (round % 3 == 0) exchange();
    book.update(views());
    std::uint64_t home_count = 0;
    for (const ShardRanks& rank : update()) {
      home_count += rank.ranked.report().home_count;
      unknown_count += rank.unknown_count;
    }
    EXPECT_EQ(home_count, book.homes.size());
    ASSERT_NO_FATAL_FAILURE(expect_equal(book));
  }
  EXPECT_GT(book.begun, 1);
  EXPECT_EQ(unknown_count > 0, GetParam() > 1);
  for (const auto& machine : machines_) {
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    for (const Finding& finding : must(verify(machine->path(), deep)).findings) {
      ADD_FAILURE() << describe(finding);
    }
  }
}

TEST_P(OpicOverShards, ComesNearTheSharesOfOneFile) {
  const auto crawl_all = [this](Machines& machines) {
    for (const auto& machine : machines) {
      must(machine->view().for_each_page([&](const PageInfo& page) {
        if (page.state == PageState::kElsewhere) return true;
        const bool has_links = page.url.back() != '7';
        must(machine->pages().add(has_links ? web_.fetch(page.url) : CrawledPage(page.url, 1)));
        return true;
      }));
    }
  };
  for (int round = 0; round < 80; ++round) {
    crawl_all(machines_);
    if (round < 12) exchange();
    update();
    crawl_all(one_);
    must(one_.front()->pages().merge());
    must(opic(one_.front()->store()));
  }
  EXPECT_NEAR(sum_of(values(machines_, "opic_cash")), 1, 1e-9);  // the seed
  const auto shares = [](const Machines& machines) {
    ByUrl got = values(machines, "opic_history");
    for (const auto& [url, cash] : values(machines, "opic_cash")) got[url] += cash;
    const double sum = sum_of(got);
    for (auto& [url, value] : got) value /= sum;
    return got;
  };
  const ByUrl single = shares(one_);
  const ByUrl over_shards = shares(machines_);
  ASSERT_EQ(over_shards.size(), single.size());
  EXPECT_GT(single.size(), 100U);
  double distance = 0;
  for (const auto& [url, share] : single) distance += std::abs(share - over_shards.at(url));
  EXPECT_LE(distance, 0.05);
}

TEST_P(OpicOverShards, HasTheSameBitsEachTime) {
  begin();
  crawl_some(80, 60);
  update({.is_warm = false});
  const auto first = all_values();
  update({.is_warm = false});
  EXPECT_EQ(all_values(), first);
}

TEST_P(OpicOverShards, GivesOnceForEachCrawl) {
  begin();
  const auto before = all_values();
  for (const ShardRanks& rank : update()) EXPECT_EQ(rank.ranked.report().giver_count, 0U);
  EXPECT_EQ(all_values(), before);
}

TEST_P(OpicOverShards, BeginsAnewWhereAShardHasNoArrays) {
  begin();
  must(remove_scores(machines_.back()->store(), "opic_history"));
  expect_anew();
  must(machines_.front()->pages().forget([](std::string_view url) { return url.back() == '3'; }));
  expect_anew();
}

TEST_P(OpicOverShards, StopsWhenOneIsTold) {
  begin();
  const auto before = all_values();
  crawl_some(80, 20);
  const auto ranks =
      together<ShardRanks>(machines_, [](Machine& machine, ShardPeers& peers, std::size_t self) {
        OpicOptions options;
        options.progress = [self](std::uint32_t, double) { return self != 0; };
        return compute_opic(machine.view(), peers, options);
      });
  for (const auto& rank : ranks) {
    ASSERT_FALSE(rank);
    EXPECT_EQ(rank.error().code, Errc::kCancelled);
  }
  EXPECT_EQ(sum_of(values(machines_, "opic_history")), sum_of(before[1]));
}

/// Not of a single shard.
class OpicOfSeveralShards : public OpicOverShards {
 protected:
  /// The home page of a host of this shard.
  static std::string home_of(std::uint32_t shard, const std::string& name) {
    for (int i = 0;; ++i) {
      const std::string host = name + std::to_string(i) + ".test";
      if (Shard{shard, GetParam()}.has(host)) return "http://" + host + "/";
    }
  }
};

TEST_P(OpicOfSeveralShards, BeginsAnewWhereAShardHasArraysOfAnotherUpdate) {
  begin();
  crawl_known();
  update({}, 1);  // the first one does not store it
  expect_anew();
  machines_.front()->keep_copy();
  crawl_known();
  update();
  machines_.front()->come_back();
  expect_anew();
}

TEST_P(OpicOfSeveralShards, TellsUpdatesApartThatGaveTheSame) {
  begin();
  update({.is_warm = false});
  update({.is_warm = false}, 1);  // the same again, which the first one does not store
  EXPECT_NE(residual_of(*machines_.front()), residual_of(*machines_.back()));
  crawl_known();
  expect_anew();
}

TEST_P(OpicOfSeveralShards, HasOneUpdateInAllShardsForReadersOfThem) {
  begin();
  std::vector<std::string> paths;
  double best = 0;
  for (const auto& [url, cash] : values(machines_, "opic_cash")) best = std::max(best, cash);
  for (const auto& machine : machines_) paths.push_back(machine->path());
  const auto set = must(ShardSet::open(paths));
  EXPECT_EQ(must(set.top(1, "opic_cash")).front().score, best);
}

TEST_P(OpicOfSeveralShards, HasHomesWhereAllPagesAreLinkedTo) {
  const std::string first = home_of(0, "a");
  const std::string second = home_of(1, "b");
  for (const auto& machine : machines_) {  // the seed of the crawl is no home here
    must(machine->pages().merge());
    must(machine->pages().forget([](std::string_view) { return true; }));
  }
  crawl(machines_[0]->pages(), first, {second});
  crawl(machines_[1]->pages(), second, {first, first + "new"});
  update();
  // The part of the page that is not known yet is for the two homes.
  EXPECT_EQ(values(machines_, "opic_cash"), (ByUrl{{first, 0.75}, {second, 1.25}}));
  exchange();
  crawl(machines_[0]->pages(), first, {});
  update();  // the page is known, and a home that began without cash
  EXPECT_EQ(values(machines_, "opic_cash"),
            (ByUrl{{first, 0.25}, {first + "new", 0.25}, {second, 1.5}}));
}

TEST_P(OpicOfSeveralShards, IsRefusedWhereShardsWereAskedForDifferentThings) {
  const auto ranks =
      together<ShardRanks>(machines_, [](Machine& machine, ShardPeers& peers, std::size_t self) {
        return compute_opic(machine.view(), peers, {.is_warm = self != 0});
      });
  EXPECT_TRUE(std::ranges::none_of(ranks, [](const auto& rank) { return rank.has_value(); }));
  EXPECT_EQ(ranks.front().error().code, Errc::kInvalidArgument);
}

TEST_P(OpicOfSeveralShards, IsNotBroughtUpToDateByAMerge) {
  Machine& machine = *machines_.front();
  crawl(machine.pages(), home_of(0, "a"), {home_of(1, "b")});
  EXPECT_FALSE(must(merge_with_opic(machine.pages())).opic);
  update();
  crawl(machine.pages(), home_of(0, "c"), {});
  EXPECT_FALSE(must(merge_with_opic(machine.pages())).opic);
  EXPECT_EQ(opic(machine.store()).error().code, Errc::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Shards, OpicOverShards, ::testing::Values(1, 2, 3, 4, 7));
INSTANTIATE_TEST_SUITE_P(Shards, OpicOfSeveralShards, ::testing::Values(2, 3, 4, 7));

/// A file that is alone, and is brought up to date with or without peers.
class OpicOfOneShard : public OpicOverShards {};

TEST_P(OpicOfOneShard, HasTheBitsOfAFile) {
  for (std::uint64_t round = 1; round <= 6; ++round) {
    const Random before = random_;
    crawl_some(50 * round, round % 2 == 0 ? 2 : 60);
    std::swap(machines_, one_);
    static_cast<Random&>(random_) = before;
    crawl_some(50 * round, round % 2 == 0 ? 2 : 60);
    std::swap(machines_, one_);
    const RankReport over_shards = update().front().ranked.report();
    must(one_.front()->pages().merge());
    const RankReport report = must(opic(one_.front()->store()));
    EXPECT_EQ(over_shards.home_count, report.home_count);
    EXPECT_EQ(over_shards.giver_count, report.giver_count);
    for (const auto name : {"opic_cash", "opic_history", "opic_crawls"}) {
      EXPECT_EQ(values(machines_, name), values(one_, name)) << name;
    }
    if (round == 3) std::swap(machines_, one_);  // each goes on where the other one was
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, OpicOfOneShard, ::testing::Values(1));

}  // namespace
}  // namespace crawlstore::testing
