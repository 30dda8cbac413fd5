// SPDX-License-Identifier: Apache-2.0
//
// Scores over shards: those of one file, whatever the number of shards, with the same bits each
// time.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/scores.h>
#include <crawlstore/shard.h>
#include <crawlstore/shard_scores.h>
#include <crawlstore/shard_set.h>

#include "shards/thread_peers.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Scores = std::map<std::string, double>;  // by URL

/// A page that is crawled, with its links.
struct MadePage {
  std::string url;
  std::vector<std::string> links;
  float score = 0;
};

/// Pages of some hosts, of which a third links to nothing, and one host has half of all.
std::vector<MadePage> made_web(Random& random, std::size_t page_count) {
  std::vector<MadePage> pages(page_count);
  for (std::size_t i = 0; i < page_count; ++i) {
    const auto host = random.below(2) == 0 ? 0 : random.below(12);
    pages[i].url = "http://host" + std::to_string(host) + ".test/" + std::to_string(i);
    pages[i].score = static_cast<float>(random.below(4));
  }
  for (MadePage& page : pages) {
    if (random.below(3) == 0) continue;
    for (auto link = random.below(5) + 1; link > 0; --link) {
      page.links.push_back(pages[random.below(random.below(page_count) + 1)].url);
    }
  }
  return pages;
}

/// A store, open with its pages.
struct OpenStore {
  OpenStore(const std::string& path, const Shard& shard, std::uint64_t key_seed) {
    CreateOptions options;
    options.key_seed = key_seed;
    store.emplace(must(create_shard(path, shard, options)));
    pages.emplace(must(PageDb::open(*store)));
  }
  void add(const MadePage& made) {
    CrawledPage page(made.url, 1);
    page.set_score(made.score);
    for (const std::string& link : made.links) page.add_link(link);
    must(pages->add(page));
  }
  [[nodiscard]] PageView view() {
    must(pages->merge());
    must(store->commit());
    return must(PageView::open(must(store->snapshot())));
  }
  /// The scores of the pages that are not elsewhere.
  void read_scores(std::string_view name, Scores& scores) {
    const PageView seen = view();
    const auto array = must(ScoreView::open(seen, name));
    must(seen.for_each_page([&](const PageInfo& page) {
      const double score = must(array.score(page.index)).value();
      if (page.state != PageState::kElsewhere) {
        EXPECT_TRUE(scores.emplace(page.url, score).second) << page.url;
      } else {
        EXPECT_EQ(score, 0) << page.url;
      }
      return true;
    }));
  }

  std::optional<Store> store;
  std::optional<PageDb> pages;
};

class ShardScores : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    web_ = made_web(random_, 400);
    open("one", {});
    one_ = std::move(shards_.front());
    shards_.clear();
    for (std::uint32_t i = 0; i < GetParam(); ++i) open("shard", Shard{i, GetParam()});
  }
  void open(const std::string& name, const Shard& shard, std::uint64_t key_seed = 3) {
    auto& opened = shards_.emplace_back(std::make_unique<OpenStore>(
        folder_ / (name + std::to_string(shard.index)), shard, key_seed));
    for (const MadePage& page : web_) {
      if (shard.has(url_host(page.url))) opened->add(page);
    }
    must(opened->pages->merge());
  }

  /// Runs a computation on all shards at once, a thread each, and stores what comes of it.
  template <class Compute>
  std::vector<Result<ShardRanks>> compute(const Compute& compute) {
    std::vector<PageView> views;
    for (const auto& shard : shards_) views.push_back(shard->view());
    Meeting meeting(shards_.size());
    std::vector<Result<ShardRanks>> ranks(shards_.size(), fail(Errc::kCancelled, "not run"));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      threads.emplace_back([&, i] {
        ThreadPeers peers(meeting, i);
        if (change_) peers.change([this, i](auto& from) { change_(i, from); });
        ranks[i] = compute(views[i], peers, i);
        if (!ranks[i]) meeting.give_up();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return ranks;
  }
  /// The same of one that no shard fails, and that is stored. Returns the scores of all shards.
  template <class Compute>
  Scores scores_of(std::string_view name, const Compute& one) {
    const auto ranks = compute(one);
    Scores scores;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      EXPECT_TRUE(ranks[i]) << describe(ranks[i].error());
      if (!ranks[i]) continue;
      report_ = *ranks[i];
      EXPECT_TRUE(must(store_ranked(*shards_[i]->store, ranks[i]->ranked)).converged);
      shards_[i]->read_scores(name, scores);
    }
    return scores;
  }
  Scores rank(const RankOptions& options) {
    return scores_of(options.name, [&](const PageView& view, ShardPeers& peers, std::size_t) {
      return compute_rank(view, peers, options);
    });
  }
  /// The scores of the single file.
  Scores rank_one(const RankOptions& options) {
    EXPECT_TRUE(must(rank_pages(*one_->store, options)).converged);
    Scores scores;
    one_->read_scores(options.name, scores);
    return scores;
  }
  static double distance(const Scores& a, const Scores& b) {
    EXPECT_EQ(a.size(), b.size());
    double sum = 0;
    for (const auto& [url, score] : a) sum += std::abs(score - b.at(url));
    return sum;
  }
  static RankOptions exact() {
    RankOptions options;
    options.precision = 1e-13;
    options.is_warm = false;
    return options;
  }

  SeededRandom random_;
  TemporaryFolder folder_;
  std::vector<MadePage> web_;
  std::unique_ptr<OpenStore> one_;
  std::vector<std::unique_ptr<OpenStore>> shards_;
  std::optional<ShardRanks> report_;
  std::function<void(std::size_t self, std::vector<ShardPeers::Bytes>& from)> change_;
};

TEST_P(ShardScores, OfPageRankAreThoseOfOneFile) {
  const Scores scores = rank(exact());
  EXPECT_LE(distance(rank_one(exact()), scores), 1e-9);
  EXPECT_EQ(report_->page_count, scores.size());
  EXPECT_EQ(report_->unknown_count, 0U);
  EXPECT_EQ(report_->elsewhere_count > 0, shards_.size() > 1);
  double sum = 0;
  for (const auto& [url, score] : scores) sum += score;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST_P(ShardScores, HaveTheSameBitsWhateverTheThreads) {
  RankOptions options = exact();
  options.thread_count = 1;
  const Scores first = rank(options);
  options.thread_count = 3;
  EXPECT_EQ(rank(options), first);
}

TEST_P(ShardScores, BeginWithTheArraysBefore) {
  RankOptions options = exact();
  (void)rank(options);
  const auto cold = report_->ranked.report().residuals.size();
  options.is_warm = true;
  const Scores warm = rank(options);
  EXPECT_LT(report_->ranked.report().residuals.size(), cold);
  EXPECT_LE(distance(rank_one(exact()), warm), 1e-9);
}

TEST_P(ShardScores, OfFloatsComeNearToo) {
  RankOptions options;
  EXPECT_LE(distance(rank_one(options), rank(options)), 1e-4);
}

TEST_P(ShardScores, TeleportByTheScoresOfContents) {
  RankOptions options = exact();
  options.by_content_scores = true;
  EXPECT_LE(distance(rank_one(options), rank(options)), 1e-9);
}

TEST_P(ShardScores, TeleportToPagesOfOneShardAlone) {
  const std::string& seed = web_.front().url;
  RankOptions options = exact();
  options.seeds = {must(one_->view().find(seed)).value()};
  const Scores single = rank_one(options);
  const Scores scores = scores_of("pagerank", [&](const PageView& view, ShardPeers& peers, auto) {
    RankOptions mine = exact();
    const auto page = must(view.find(seed));
    if (page && must(view.state(*page)) != PageState::kElsewhere) mine.seeds = {*page};
    return compute_rank(view, peers, mine);
  });
  EXPECT_LE(distance(single, scores), 1e-9);
}

TEST_P(ShardScores, OfHitsAreThoseOfOneFile) {
  for (const bool by_content : {false, true}) {
    HitsOptions options;
    options.precision = 1e-13;
    options.is_warm = false;
    options.by_content_scores = by_content;
    options.max_iterations = 5000;
    EXPECT_TRUE(must(hits(*one_->store, options)).converged);
    for (const auto* const name : {"authorities", "hubs"}) {
      Scores single;
      one_->read_scores(name, single);
      const Scores scores = scores_of(name, [&](const PageView& view, ShardPeers& peers, auto) {
        return compute_hits(view, peers, options);
      });
      EXPECT_LE(distance(single, scores), 1e-9) << name;
    }
  }
}

/// Not of a single shard.
class ScoresOfSeveralShards : public ShardScores {};

TEST_P(ScoresOfSeveralShards, LoseNothingToPagesThatTheirShardDoesNotKnow) {
  const auto host = [&](bool is_own) {
    for (std::uint32_t i = 0;; ++i) {
      const std::string name = "new" + std::to_string(i) + ".test";
      if (Shard{0, GetParam()}.has(name) == is_own) return "http://" + name + "/";
    }
  };
  shards_.front()->add({host(true), {host(false)}, 0});
  const Scores scores = rank(exact());
  EXPECT_EQ(report_->unknown_count, 1U);
  one_->add({host(true), {}, 0});  // who follows its only link is teleported
  must(one_->pages->merge());
  EXPECT_LE(distance(rank_one(exact()), scores), 1e-9);
}

TEST_P(ScoresOfSeveralShards, OfTwoComputationsAreNotComparedWhereBothHadNothingToChange) {
  for (MadePage& page : web_) page.links.clear();
  shards_.clear();
  std::vector<std::string> paths;
  for (std::uint32_t i = 0; i < GetParam(); ++i) {
    open("plain", Shard{i, GetParam()});
    paths.push_back(folder_ / ("plain" + std::to_string(i)));
  }
  (void)rank(exact());
  EXPECT_EQ(must(must(ShardSet::open(paths)).top(1)).size(), 1U);
  const std::vector<double> residuals = report_->ranked.report().residuals;
  for (const auto& shard : shards_) {
    for (std::uint32_t i = 0; i < 900; ++i) {
      const MadePage page{"http://new" + std::to_string(i) + ".test/", {}, 0};
      if (must(read_shard(*shard->store)).has(url_host(page.url))) shard->add(page);
    }
  }
  const auto ranks = compute([&](const PageView& view, ShardPeers& peers, std::size_t) {
    RankOptions options = exact();
    options.max_iterations = static_cast<std::uint32_t>(residuals.size());
    return compute_rank(view, peers, options);
  });
  EXPECT_EQ(must(ranks.front()).ranked.report().residuals, residuals);
  must(store_ranked(*shards_.front()->store, must(ranks.front()).ranked));
  EXPECT_EQ(must(ShardSet::open(paths)).top(1).error().code, Errc::kInvalidArgument);
}

TEST_P(ScoresOfSeveralShards, AreRefusedWhereShardsDoNotBelongTogether) {
  const auto expect_refused = [&](const auto& computed) {
    const auto ranks = compute(computed);
    EXPECT_TRUE(std::ranges::none_of(ranks, [](const auto& rank) { return rank.has_value(); }));
    EXPECT_TRUE(std::ranges::any_of(ranks, [](const auto& rank) {
      return !rank && rank.error().code == Errc::kInvalidArgument;
    }));
  };
  expect_refused([&](const PageView& view, ShardPeers& peers, std::size_t self) {
    RankOptions options;
    if (self == 1) options.damping = 0.5;
    return compute_rank(view, peers, options);
  });
  expect_refused([&](const PageView& view, ShardPeers& peers, std::size_t self) {
    return self == 0 ? compute_hits(view, peers) : compute_rank(view, peers);
  });
  std::swap(shards_[0], shards_[1]);
  const auto computed = [&](const PageView& view, ShardPeers& peers, auto) {
    return compute_rank(view, peers);
  };
  expect_refused(computed);
  std::swap(shards_[0], shards_[1]);
  shards_.pop_back();
  open("other", Shard{GetParam() - 1, GetParam()}, 4);
  expect_refused(computed);
}

TEST_P(ShardScores, AreRefusedWhereMessagesAreCut) {
  std::uint64_t left = 0;
  change_ = [&](std::size_t self, std::vector<ShardPeers::Bytes>& from) {
    if (self == 0 && left-- == 0 && !from.back().empty()) from.back().pop_back();
  };
  for (std::uint64_t message = 0; message < 8; ++message) {
    left = message;
    const auto ranks = compute(
        [&](const PageView& view, ShardPeers& peers, auto) { return compute_rank(view, peers); });
    if (ranks.front()) continue;  // what was cut was empty
    EXPECT_EQ(ranks.front().error().code, Errc::kInvalidArgument) << message;
  }
}

TEST_P(ShardScores, TellOthersWhenOneGivesUp) {
  const auto ranks = compute([&](const PageView& view, ShardPeers& peers, std::size_t self) {
    RankOptions options = exact();
    options.progress = [self](std::uint32_t iteration, double) {
      return self != 0 || iteration < 3;
    };
    return compute_rank(view, peers, options);
  });
  for (const auto& rank : ranks) {
    ASSERT_FALSE(rank);
    EXPECT_EQ(rank.error().code, Errc::kCancelled);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardScores, ::testing::Values(1, 2, 3, 4, 7));
INSTANTIATE_TEST_SUITE_P(Shards, ScoresOfSeveralShards, ::testing::Values(2, 3, 4, 7));

}  // namespace
}  // namespace crawlstore::testing
