// SPDX-License-Identifier: Apache-2.0
//
// All shards of a crawl read as one: what they have together is what one file has, and files that
// are no whole crawl are refused with words that name them.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/shard_set.h>

#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint32_t kShardsOfSet = 3;

CreateOptions with_key_seed(std::uint64_t seed) {
  CreateOptions options;
  options.key_seed = seed;
  return options;
}

/// A crawl of some levels, in the files of three shards and in one that is alone.
class ShardSets : public ::testing::Test {
 protected:
  ShardSets() {
    for (int page = 0; page < 200; ++page) {
      urls_.push_back("http://host" + std::to_string(random_.below(9)) + ".test/" +
                      std::to_string(page));
    }
    for (const std::string& url : urls_) {
      for (int link = 0; link < 3; ++link) links_[url].insert(urls_[random_.below(urls_.size())]);
    }
    for (std::uint32_t index = 0; index < kShardsOfSet; ++index) {
      paths_.push_back(folder_ / (std::to_string(index) + ".crawl"));
      stores_.push_back(must(create_shard(paths_.back(), {index, kShardsOfSet}, with_key_seed(3))));
    }
    stores_.push_back(must(Store::create(alone_path_, with_key_seed(3))));
    for (Store& store : stores_) pages_.push_back(must(PageDb::open(store)));
    crawl();
  }
  /// Crawls a third of the pages in all files, and all of them the same ones.
  void crawl() {
    for (std::size_t page = 0; page < urls_.size(); page += 3) {
      CrawledPage event(urls_[page], 1);
      for (const std::string& link : links_[urls_[page]]) event.add_link(link);
      must(pages_[owner(urls_[page])].add(event));
      must(pages_.back().add(event));
    }
    for (PageDb& pages : pages_) must(pages.merge());
    for (Store& store : stores_) must(store.commit());
  }
  void exchange() {
    std::map<std::uint32_t, std::vector<std::byte>> messages;
    for (std::uint32_t from = 0; from < kShardsOfSet; ++from) {
      const std::uint64_t step = must(end_step(stores_[from], pages_[from])).step;
      must(write_outbox(must(stores_[from].snapshot()), step,
                        [&](std::uint32_t to, std::span<const std::byte> bytes) -> Result<void> {
                          messages[to].insert(messages[to].end(), bytes.begin(), bytes.end());
                          return {};
                        }));
      must(note_sent(stores_[from], pages_[from]));
    }
    for (auto& [to, bytes] : messages) {
      std::span<const std::byte> rest = bytes;
      must(receive_outbox(stores_[to], pages_[to],
                          [&rest](std::span<std::byte> into) -> Result<std::size_t> {
                            const std::size_t length = std::min(into.size(), rest.size());
                            std::copy_n(rest.begin(), length, into.begin());
                            rest = rest.subspan(length);
                            return length;
                          }));
      must(pages_[to].merge());
      must(stores_[to].commit());
    }
  }
  [[nodiscard]] static std::uint32_t owner(const std::string& url) {
    return shard_of(url_host(url), kShardsOfSet);
  }
  [[nodiscard]] ShardSet open() const { return must(ShardSet::open(paths_)); }
  [[nodiscard]] PageView alone() const {
    return must(PageView::open(must(Snapshot::open(alone_path_))));
  }
  /// Few different scores, so that many are equal; of a page the same in each file.
  static float score_of(const std::string& url) {
    return static_cast<float>(std::hash<std::string>()(url) % 7);
  }
  /// Stores scores in a file, of pages that are elsewhere, too.
  void store(std::uint32_t shard, const std::string& name, std::vector<double> residuals = {0.5}) {
    const auto view = must(PageView::open(must(stores_[shard].snapshot())));
    std::vector<float> values;
    must(view.for_each_page([&](const PageInfo& page) {
      values.push_back(score_of(page.url));
      return true;
    }));
    must(store_scores(stores_[shard], name, view, values, residuals));
  }
  /// That paths are refused, with words that have all of these parts.
  void expect_refused(const std::vector<std::string>& paths, const std::vector<std::string>& parts,
                      Errc code = Errc::kInvalidArgument) {
    std::string problem;
    const auto set = ShardSet::open(paths, "pages", &problem);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, code);
    for (const std::string& part : parts) {
      EXPECT_NE(problem.find(part), std::string::npos) << part << " is not in: " << problem;
    }
    EXPECT_FALSE(ShardSet::open(paths));
  }
  /// A file that could be a shard of the crawl, but for something.
  std::string make_other(const Shard& shard, std::uint64_t key_seed,
                         const PagesOptions& options = {}) {
    std::string path = folder_ / "other.crawl";
    auto store = must(create_shard(path, shard, with_key_seed(key_seed)));
    auto pages = must(PageDb::open(store, "pages", options));
    must(pages.close());
    must(store.close());
    return path;
  }

  SeededRandom random_;
  TemporaryFolder folder_;
  std::string alone_path_ = folder_ / "alone.crawl";
  std::vector<std::string> urls_;
  std::map<std::string, std::set<std::string>> links_;
  std::vector<std::string> paths_;  // of shards
  std::vector<Store> stores_;       // of shards, then the one that is alone
  std::vector<PageDb> pages_;
};

TEST_F(ShardSets, HaveTheCountsOfOneFile) {
  exchange();
  const ShardSet set = open();
  const PagesInfo one = alone().info();
  EXPECT_EQ(set.counts().page_count, one.page_count);
  EXPECT_EQ(set.counts().crawled_count, one.crawled_count);
  EXPECT_EQ(set.counts().link_count, one.link_count);
  EXPECT_GT(set.counts().elsewhere_count, 0U);
  EXPECT_EQ(set.counts().event_count, 0U);
  EXPECT_EQ(set.counts().least_step, 2U);
  EXPECT_EQ(set.counts().greatest_step, 2U);
}

TEST_F(ShardSets, FindPagesWhereTheirOwnersHaveThem) {
  exchange();
  const ShardSet set = open();
  const PageView one = alone();
  std::size_t found_count = 0;
  for (const std::string& url : urls_) {
    const auto expected = must(one.find(url));
    const auto found = must(set.find(url));
    ASSERT_EQ(found.has_value(), expected.has_value()) << url;
    EXPECT_EQ(must(set.find_text(url)), found);
    if (!found) continue;
    ++found_count;
    EXPECT_EQ(found->shard, owner(url));
    const PageInfo page = must(set.shards()[found->shard].pages.page(found->index));
    EXPECT_EQ(page.url, url);
    EXPECT_EQ(page.state, must(one.state(*expected)));
  }
  EXPECT_EQ(found_count, set.counts().page_count);
  EXPECT_FALSE(must(set.find("http://nosuch.test/")));
}

TEST_F(ShardSets, NormaliseWhatTheyLookFor) {
  const std::string& url = urls_.front();
  std::string spelling = "HTTP://HOST" + url.substr(std::string("http://host").size()) + "#x";
  EXPECT_EQ(must(open().find(spelling)), must(open().find_text(url)));
  EXPECT_TRUE(must(open().find(spelling)));
  EXPECT_FALSE(must(open().find_text(spelling)));
}

TEST_F(ShardSets, AreInTheOrderOfTheirShards) {
  std::ranges::reverse(paths_);
  const ShardSet set = open();
  ASSERT_EQ(set.shards().size(), kShardsOfSet);
  for (std::uint32_t index = 0; index < kShardsOfSet; ++index) {
    const ShardFile& file = set.shards()[index];
    EXPECT_EQ(file.shard, (Shard{index, kShardsOfSet}));
    EXPECT_EQ(file.state.shard, file.shard);
    EXPECT_EQ(file.path, paths_[kShardsOfSet - 1 - index]);
  }
}

TEST_F(ShardSets, SayWhatOwnersWereTold) {
  const ShardSet before = open();
  for (const ShardFile& file : before.shards()) EXPECT_EQ(file.told_count, 0U);
  exchange();
  const ShardSet set = open();
  for (const ShardFile& file : set.shards()) {
    EXPECT_GT(file.told_count, 0U);
    for (std::uint64_t index = 0; index < file.told_count; ++index) {
      if (must(file.pages.state(index)) != PageState::kElsewhere) continue;
      const std::string url = must(file.pages.url(index));
      const auto found = must(set.find_text(url));
      ASSERT_TRUE(found) << url;
      EXPECT_NE(found->shard, file.shard.index);
    }
  }
}

TEST_F(ShardSets, SayThatAShardIsAnOlderCopy) {
  const std::string copy = folder_ / "copy.crawl";
  must(copy_snapshot(must(stores_[1].snapshot()), copy));
  exchange();
  paths_[1] = copy;
  EXPECT_FALSE(open().is_apart());
  exchange();
  EXPECT_TRUE(open().is_apart());
  EXPECT_EQ(open().counts().least_step, 1U);
  EXPECT_EQ(open().counts().greatest_step, 3U);
  const ShardSet apart = open();
  EXPECT_EQ(apart.shards()[0].told_count, 0U);
}

TEST_F(ShardSets, MayBeOneFileThatIsAlone) {
  const ShardSet set = must(ShardSet::open(std::vector{alone_path_}));
  EXPECT_EQ(set.shards().size(), 1U);
  EXPECT_EQ(set.counts().page_count, alone().info().page_count);
  EXPECT_TRUE(must(set.find(urls_.front())));
  EXPECT_EQ(set.shards().front().state.step, 1U);
  EXPECT_FALSE(set.is_apart());
}

TEST_F(ShardSets, AreRefusedIfAFileIsAlone) {
  const std::vector<std::string> parts{alone_path_ + ": no shard", "leave it out"};
  expect_refused({paths_[0], paths_[1], paths_[2], alone_path_}, parts);
  expect_refused({alone_path_, paths_[0], paths_[1], paths_[2]}, parts);
  expect_refused({alone_path_, alone_path_}, parts);
}

TEST_F(ShardSets, AreRefusedIfAShardIsMissing) {
  expect_refused({paths_[1]}, {"2 of 3 shards missing: 0, 2:", "give their files"});
  expect_refused({paths_[2], paths_[0]}, {"1 of 3 shards missing: 1:"});
  expect_refused({}, {"no file"});
}

TEST_F(ShardSets, AreRefusedIfAShardIsThereTwice) {
  expect_refused({paths_[0], paths_[1], paths_[2], paths_[1]},
                 {paths_[1] + ": shard 1 is " + paths_[1] + " already"});
}

TEST_F(ShardSets, AreRefusedIfAFileIsOfAnotherNumberOfShards) {
  const std::string other = make_other({2, 4}, 3);
  expect_refused({paths_[0], paths_[1], other},
                 {other + ": of 4 shards, but " + paths_[0] + " is of 3"});
}

TEST_F(ShardSets, AreRefusedIfAFileHasAnotherKeySeed) {
  const std::string other = make_other({2, 3}, 4);
  expect_refused({paths_[0], paths_[1], other}, {other + ": another key seed than " + paths_[0]});
}

TEST_F(ShardSets, AreRefusedIfAFileHasAnotherNormaliser) {
  PagesOptions raw;
  raw.normalizer = UrlNormalizer::raw();
  const std::string other = make_other({2, 3}, 3, raw);
  expect_refused({paths_[0], paths_[1], other}, {other + ": URLs are normalised by other rules"});
}

TEST_F(ShardSets, AreRefusedIfAFileCannotBeRead) {
  const std::string nothing = folder_ / "nosuch.crawl";
  expect_refused({paths_[0], nothing, paths_[2]}, {nothing + ": "}, Errc::kNotFound);
  std::string problem;
  EXPECT_EQ(ShardSet::open(paths_, "nosuch", &problem).error().code, Errc::kUnknownName);
  EXPECT_EQ(problem.find(paths_[0] + ": "), 0U);
}

TEST_F(ShardSets, HaveTheBestPagesOfAllFiles) {
  exchange();
  for (std::uint32_t shard = 0; shard < kShardsOfSet; ++shard) store(shard, "own");
  const ShardSet set = open();
  std::vector<ScoredShardPage> expected;
  for (const ShardFile& file : set.shards()) {
    must(file.pages.for_each_page([&](const PageInfo& page) {
      const double score = score_of(page.url);
      if (page.state != PageState::kElsewhere && score > 0) {
        expected.push_back({{file.shard.index, page.index}, score});
      }
      return true;
    }));
  }
  std::ranges::stable_sort(expected, std::ranges::greater(), &ScoredShardPage::score);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{20}, expected.size(),
                                  expected.size() + 1, ~std::size_t{0}}) {
    const auto best = must(set.top(count, "own"));
    ASSERT_EQ(best.size(), std::min(count, expected.size()));
    for (std::size_t i = 0; i < best.size(); ++i) {
      EXPECT_EQ(best[i].page, expected[i].page) << i;
      EXPECT_EQ(best[i].score, expected[i].score) << i;
    }
  }
}

TEST_F(ShardSets, DoNotCompareScoresOfDifferentComputations) {
  for (std::uint32_t shard = 0; shard < kShardsOfSet; ++shard) {
    store(shard, "last", shard == 2 ? std::vector{0.5, 0.125} : std::vector{0.5, 0.25});
    store(shard, "more", std::vector<double>(shard == 1 ? 2 : 1, 0.5));
  }
  const auto expect_refused_scores = [&](const char* name, const std::string& part) {
    std::string problem;
    const auto top = open().top(3, name, &problem);
    ASSERT_FALSE(top);
    EXPECT_EQ(top.error().code, Errc::kInvalidArgument);
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
    EXPECT_NE(problem.find("compute them together again"), std::string::npos) << problem;
    EXPECT_FALSE(open().top(3, name));
  };
  expect_refused_scores("last", "of shards 2 are of another computation");
  expect_refused_scores("last", "(other residuals)");
  expect_refused_scores("more", "of shards 1 are of another computation");
}

TEST_F(ShardSets, HaveNoBestPagesWithoutScoresOfPages) {
  store(0, "own");
  std::string problem;
  EXPECT_EQ(open().top(3, "own", &problem).error().code, Errc::kUnknownName);
  EXPECT_EQ(problem.find(paths_[1] + ": no scores `own`"), 0U) << problem;
  RankOptions by_host;
  by_host.name = "hosts";
  by_host.by = ScoreSubject::kHost;
  must(rank_pages(stores_.back(), by_host));
  const ShardSet one = must(ShardSet::open(std::vector{alone_path_}));
  EXPECT_EQ(one.top(3, "hosts", &problem).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(problem.find(alone_path_ + ": the scores `hosts` are of hosts"), 0U) << problem;
}

}  // namespace
}  // namespace crawlstore::testing
