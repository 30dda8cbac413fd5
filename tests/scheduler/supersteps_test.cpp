// SPDX-License-Identifier: Apache-2.0
// covers: P23, P24, P25, E14
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/page_key.h>
#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/shard.h>
#include <crawlstore/tools/supersteps.h>

#include "drum/memory_store.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Rows = std::vector<std::vector<std::uint64_t>>;

/// A crawl that owns what SuperstepCrawl refers to.
struct Crawl {
  Rows rows;
  std::uint32_t processor_count = 2;
  std::vector<std::uint16_t> processors;
  std::vector<std::uint32_t> order;

  [[nodiscard]] SuperstepCrawl of(SuperstepForm form) const {
    return {processor_count, processors, order, form};
  }
  [[nodiscard]] SuperstepSample sample(SuperstepForm form = SuperstepForm::kRemote) const {
    return must(SuperstepSample::build(rows, of(form)));
  }
};

std::vector<std::uint32_t> by_index(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

/// The crawl whose runs were worked out by hand.
Crawl hand_crawl() {
  return {{{1, 3, 4}, {2, 6}, {3, 5}, {0, 4}, {5, 6}, {7}, {3, 7}, {0}},
          2,
          {0, 0, 0, 1, 1, 1, 0, 0},
          by_index(8)};
}

/// The six steps of the paper to the letter, with sets; and what they leave open, as the header
/// says.
class SixSteps {
 public:
  SixSteps(const Crawl& crawl, SuperstepForm form, std::uint64_t tolerance)
      : crawl_(crawl), is_printed_(form == SuperstepForm::kAsPrinted) {
    run_.tolerance = tolerance;
  }

  SuperstepRun run() {
    std::map<std::uint16_t, std::uint64_t> downloaded;  // C
    const std::set<std::uint64_t> members(crawl_.order.begin(), crawl_.order.end());
    for (const std::uint32_t page : crawl_.order) {
      const std::uint16_t own = crawl_.processors[page];
      ++downloaded[own];
      ++here_[own];
      ++extracted_;
      missed_ += waiting_.count(page);
      past_.insert(page);
      const auto is_full = [this](const auto& of) { return of.second > run_.tolerance; };
      if (std::any_of(buffered_.begin(), buffered_.end(), is_full)) end_superstep();
      send(page, members);
    }
    if (extracted_ > 0) end_superstep();
    arrive();
    std::uint64_t most = 0;
    for (const auto& [processor, count] : downloaded) most = std::max(most, count);
    if (run_.superstep_count == 0) return run_;
    const auto supersteps = static_cast<double>(run_.superstep_count);
    run_.pages_mean = static_cast<double>(most) / supersteps;
    run_.error_mean = errors_ / supersteps;
    run_.error_by_pages =
        static_cast<double>(run_.missed_count) / static_cast<double>(crawl_.order.size());
    return run_;
  }

 private:
  void send(std::uint32_t page, const std::set<std::uint64_t>& members) {
    const std::uint16_t own = crawl_.processors[page];
    std::set<std::uint16_t> receivers;
    for (const std::uint64_t link : crawl_.rows[page]) {
      if (members.count(link) == 0) continue;
      const bool is_remote = crawl_.processors[link] != own;
      if (is_remote || is_printed_) receivers.insert(crawl_.processors[link]);
      if (is_remote) under_way_.push_back(link);
      if (is_printed_ || (is_remote && known_.count(link) == 0)) waiting_.insert(link);
      if (!is_printed_ && !is_remote) {
        known_.insert(link);
        waiting_.erase(link);
      }
    }
    for (const std::uint16_t receiver : receivers) ++buffered_[receiver];
    run_.message_count += receivers.size();
  }
  void arrive() {
    for (const std::uint64_t link : under_way_) run_.failure_count += past_.count(link);
    under_way_.clear();
  }
  void end_superstep() {
    ++run_.superstep_count;
    const double error = static_cast<double>(missed_) / static_cast<double>(extracted_);
    errors_ += error;
    run_.error_max = std::max(run_.error_max, error);
    run_.missed_count += missed_;
    for (const auto& [processor, count] : here_) run_.pages_max = std::max(run_.pages_max, count);
    arrive();
    known_.insert(waiting_.begin(), waiting_.end());
    waiting_.clear();
    buffered_.clear();
    here_.clear();
    missed_ = extracted_ = 0;
  }

  const Crawl& crawl_;
  bool is_printed_;
  SuperstepRun run_;
  double errors_ = 0;
  std::map<std::uint16_t, std::uint64_t> buffered_;  // M
  std::map<std::uint16_t, std::uint64_t> here_;      // pages of this superstep
  std::set<std::uint64_t> waiting_;                  // W
  std::set<std::uint64_t> known_;                    // to their processors
  std::set<std::uint64_t> past_;                     // extracted
  std::vector<std::uint64_t> under_way_;             // links to other processors
  std::uint64_t missed_ = 0;                         // A
  std::uint64_t extracted_ = 0;                      // B
};

void expect_same(const SuperstepRun& run, const SuperstepRun& expected) {
  EXPECT_EQ(run.tolerance, expected.tolerance);
  EXPECT_EQ(run.superstep_count, expected.superstep_count);
  EXPECT_EQ(run.pages_max, expected.pages_max);
  EXPECT_EQ(run.missed_count, expected.missed_count);
  EXPECT_EQ(run.message_count, expected.message_count);
  EXPECT_EQ(run.failure_count, expected.failure_count);
  EXPECT_DOUBLE_EQ(run.pages_mean, expected.pages_mean);
  EXPECT_DOUBLE_EQ(run.error_mean, expected.error_mean);
  EXPECT_DOUBLE_EQ(run.error_max, expected.error_max);
  EXPECT_DOUBLE_EQ(run.error_by_pages, expected.error_by_pages);
}

Crawl random_crawl(SeededRandom& random) {
  Crawl crawl;
  const std::uint64_t page_count = 1 + random.below(120);
  crawl.processor_count = static_cast<std::uint32_t>(1 + random.below(7));
  crawl.order = by_index(page_count);
  const std::uint64_t degree_max = random.below(9);
  for (std::uint64_t page = 0; page < page_count; ++page) {
    crawl.processors.push_back(static_cast<std::uint16_t>(random.below(crawl.processor_count)));
    std::set<std::uint64_t> row;
    for (std::uint64_t i = random.below(degree_max + 1); i > 0; --i)
      row.insert(random.below(page_count));
    crawl.rows.emplace_back(row.begin(), row.end());
    std::swap(crawl.order[page], crawl.order[random.below(page + 1)]);
  }
  if (random.one_in(3)) crawl.order.resize(random.below(page_count + 1));
  return crawl;
}

TEST(Supersteps, GivesWhatWasWorkedOutByHand) {
  struct Case {
    std::uint64_t tolerance, superstep_count;
    double pages_mean, error_mean, error_max;
    std::uint64_t failure_count, pages_max;
  };
  const SuperstepSample sample = hand_crawl().sample();
  for (const Case& by_hand : std::vector<Case>{{0, 6, 5.0 / 6, 0, 0, 3, 2},
                                               {1, 3, 5.0 / 3, 1.0 / 12, 1.0 / 4, 5, 3},
                                               {2, 2, 2.5, 1.0 / 14, 1.0 / 7, 7, 4},
                                               {3, 1, 5, 1.0 / 8, 1.0 / 8, 8, 5},
                                               {100, 1, 5, 1.0 / 8, 1.0 / 8, 8, 5}}) {
    const SuperstepRun run = must(sample.run(by_hand.tolerance));
    EXPECT_EQ(run.superstep_count, by_hand.superstep_count);
    EXPECT_DOUBLE_EQ(run.pages_mean, by_hand.pages_mean);
    EXPECT_DOUBLE_EQ(run.error_mean, by_hand.error_mean);
    EXPECT_DOUBLE_EQ(run.error_max, by_hand.error_max);
    EXPECT_EQ(run.failure_count, by_hand.failure_count);
    EXPECT_EQ(run.pages_max, by_hand.pages_max);
    EXPECT_EQ(run.message_count, 6U);
  }
  EXPECT_EQ(sample.page_count(), 8U);
  EXPECT_EQ(sample.remote_link_count(), 8U);
  EXPECT_DOUBLE_EQ(sample.balance(), 1.25);
}

TEST(Supersteps, CountsAllLinksAsPrinted) {
  const auto run = must(hand_crawl().sample(SuperstepForm::kAsPrinted).run(1));
  EXPECT_EQ(run.superstep_count, 4U);
  EXPECT_DOUBLE_EQ(run.pages_mean, 1.25);
  EXPECT_DOUBLE_EQ(run.error_mean, 11.0 / 12);
  EXPECT_DOUBLE_EQ(run.error_max, 1);
  EXPECT_EQ(run.failure_count, 4U);
  EXPECT_EQ(run.message_count, 12U);
}

TEST(Supersteps, FindsTheLargestToleranceThatKeepsTheError) {
  const SuperstepSample sample = hand_crawl().sample();
  for (const auto& [error_max, tolerance] :
       std::map<double, std::uint64_t>{{.05, 0}, {.08, 2}, {.1, 2}, {.2, 4}}) {
    const auto found = must(sample.search(error_max));
    ASSERT_TRUE(found.best) << error_max;
    EXPECT_EQ(found.best->tolerance, tolerance) << error_max;
    EXPECT_EQ(found.is_unbounded, tolerance == 4) << error_max;
    EXPECT_LE(found.best->error_mean, error_max);
    EXPECT_TRUE(std::ranges::is_sorted(found.runs, {}, &SuperstepRun::tolerance));
  }
}

TEST(Supersteps, FindsNothingWhereNotEvenNoToleranceKeepsTheError) {
  const auto found = must(hand_crawl().sample(SuperstepForm::kAsPrinted).search(.01));
  EXPECT_FALSE(found.best);
  EXPECT_FALSE(found.is_unbounded);
  EXPECT_EQ(found.runs.front().tolerance, 0U);
  EXPECT_EQ(found.runs.back().superstep_count, 1U);
}

TEST(Supersteps, FollowsTheSixStepsOnRandomCrawls) {
  SeededRandom random;
  for (int i = is_long() ? 20'000 : 1'000; i > 0 && !HasFailure(); --i) {
    const Crawl crawl = random_crawl(random);
    for (const auto form : {SuperstepForm::kRemote, SuperstepForm::kAsPrinted}) {
      const SuperstepSample sample = crawl.sample(form);
      for (const std::uint64_t tolerance : {std::uint64_t{0}, random.below(4), random.below(60)}) {
        expect_same(must(sample.run(tolerance)), SixSteps(crawl, form, tolerance).run());
      }
    }
  }
}

TEST(Supersteps, SearchesAsItsRunsSay) {
  SeededRandom random;
  for (int i = 0; i < 200; ++i) {
    const SuperstepSample sample = random_crawl(random).sample();
    const double error_max = static_cast<double>(random.below(100)) / 400;
    const auto found = must(sample.search(error_max));
    for (const SuperstepRun& run : found.runs) {
      expect_same(must(sample.run(run.tolerance)), run);
      if (run.error_mean > error_max) continue;
      ASSERT_TRUE(found.best);
      EXPECT_GE(found.best->tolerance, run.tolerance);
    }
  }
}

TEST(Supersteps, RunsWithoutLinksPagesOrOtherProcessors) {
  const Crawl no_links{{{}, {}, {}}, 4, {0, 1, 0}, by_index(3)};
  const auto run = must(no_links.sample().run(0));
  EXPECT_EQ(run.superstep_count, 1U);
  EXPECT_DOUBLE_EQ(run.pages_mean, 2);
  EXPECT_DOUBLE_EQ(run.error_mean, 0);
  EXPECT_TRUE(must(no_links.sample().search(0)).is_unbounded);

  const Crawl alone{{{1}, {0}}, 1, {0, 0}, by_index(2)};
  EXPECT_EQ(must(alone.sample().run(0)).message_count, 0U);
  EXPECT_EQ(must(alone.sample(SuperstepForm::kAsPrinted).run(0)).message_count, 2U);

  const auto of_nothing = must(Crawl{{}, 2, {}, {}}.sample().search(.01));
  ASSERT_TRUE(of_nothing.best);
  EXPECT_EQ(of_nothing.best->superstep_count, 0U);
  EXPECT_DOUBLE_EQ(Crawl({{}, 2, {}, {}}).sample().balance(), 0);
}

TEST(Supersteps, RefusesWhatIsNoCrawl) {
  const auto refuses = [](const auto& change) {
    Crawl crawl = hand_crawl();
    change(crawl);
    const auto sample = SuperstepSample::build(crawl.rows, crawl.of(SuperstepForm::kRemote));
    return !sample && sample.error().code == Errc::kInvalidArgument;
  };
  EXPECT_TRUE(refuses([](Crawl& crawl) { crawl.processor_count = 0; }));
  EXPECT_TRUE(refuses([](Crawl& crawl) { crawl.processor_count = kProcessorsMax + 1; }));
  EXPECT_TRUE(refuses([](Crawl& crawl) { crawl.processors[3] = 2; }));
  EXPECT_TRUE(refuses([](Crawl& crawl) { crawl.processors.pop_back(); }));
  EXPECT_TRUE(refuses([](Crawl& crawl) { crawl.order[3] = 8; }));
  EXPECT_TRUE(refuses([](Crawl& crawl) { crawl.order[3] = 4; }));
  EXPECT_TRUE(refuses([](Crawl& crawl) { crawl.rows[3].push_back(8); }));
  EXPECT_FALSE(refuses([](const Crawl&) {}));
}

TEST(Supersteps, RefusesErrorsThatAreNoShares) {
  const SuperstepSample sample = hand_crawl().sample();
  for (const double error : {-.01, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    const auto found = sample.search(error);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Errc::kInvalidArgument);
  }
}

TEST(Supersteps, StopsWhenTheProgressSaysSo) {
  const Crawl crawl = hand_crawl();
  const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
  const auto built = SuperstepSample::build(crawl.rows, crawl.of(SuperstepForm::kRemote), stop);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, Errc::kCancelled);
  EXPECT_EQ(crawl.sample().run(0, stop).error().code, Errc::kCancelled);
  EXPECT_EQ(crawl.sample().search(.1, stop).error().code, Errc::kCancelled);
}

/// A database of pages.
class SuperstepPages : public ::testing::Test {
 protected:
  void add(const std::string& url, const std::vector<std::string>& links) {
    CrawledPage page(url, kFixedTimeUs);
    for (const std::string& link : links) page.add_link(link);
    must(pages_.add(page));
  }
  PageView view() {
    must(pages_.merge());
    return must(PageView::open(must(store_->snapshot())));
  }

  MemoryStore store_;
  PageDb pages_ = must(PageDb::open(*store_));
};

TEST_F(SuperstepPages, AreExtractedAsTheirRowsSay) {
  const std::vector<std::string> urls{"http://a.test/", "http://b.test/1", "http://www.b.test/2",
                                      "http://c.test/"};
  add(urls[0], {urls[1], urls[2], urls[3]});
  add(urls[1], {urls[0], urls[2]});
  add(urls[2], {urls[3]});
  const PageView pages = view();
  const auto sites = must(assign_processors(pages, {.processor_count = 3}));
  EXPECT_EQ(sites.site_count, 4U);
  Crawl crawl{{}, 3, sites.processors, must(extraction_order(pages))};
  for (std::uint64_t page = 0; page < 4; ++page) {
    crawl.rows.push_back(must(pages.out_links(page)));
    const std::string host = url_host(must(pages.url(page)));
    EXPECT_EQ(sites.processors[page], shard_of(host, 3));
  }
  const auto sample = must(SuperstepSample::build(pages, crawl.of(SuperstepForm::kRemote)));
  for (const std::uint64_t tolerance : {0U, 1U, 9U}) {
    expect_same(must(sample.run(tolerance)),
                SixSteps(crawl, SuperstepForm::kRemote, tolerance).run());
  }
  const auto domains =
      must(assign_processors(pages, {.processor_count = 3, .site = SuperstepSite::kDomain}));
  EXPECT_EQ(domains.site_count, 3U);
  const auto blocks = must(assign_processors(
      pages, {.processor_count = 3, .site = SuperstepSite::kBlock, .block_pages = 2}));
  EXPECT_EQ(blocks.processors, (std::vector<std::uint16_t>{0, 0, 1, 1}));
  EXPECT_EQ(blocks.site_count, 2U);
}

TEST_F(SuperstepPages, AreOrderedByScores) {
  add("http://a.test/", {"http://b.test/"});
  add("http://c.test/", {"http://b.test/"});
  const auto ranked = must(compute_rank(view()));
  const auto first = must(extraction_order(view(), ranked)).front();
  EXPECT_EQ(must(view().url(first)), "http://b.test/");
  must(store_ranked(*store_, ranked));
  EXPECT_EQ(must(extraction_order(view(), must(ScoreView::open(view())))),
            must(extraction_order(view(), ranked)));
  must(pages_.forget([](std::string_view url) { return url == "http://b.test/"; }));
  EXPECT_EQ(must(extraction_order(view())).size(), 2U);
}

TEST_F(SuperstepPages, NeedUrlsToHaveHosts) {
  add("http://a.test/", {});
  const PageView pages = view();
  EXPECT_EQ(assign_processors(pages, {.processor_count = 0}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(
      assign_processors(pages, {.site = SuperstepSite::kBlock, .block_pages = 0}).error().code,
      Errc::kInvalidArgument);
  PagesOptions options;
  options.has_urls = false;
  const auto plain = must(PageDb::open(*store_, "plain", options));
  must(store_->commit());
  const auto without = must(PageView::open(must(store_->snapshot()), "plain"));
  EXPECT_EQ(assign_processors(without).error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(assign_processors(without, {.site = SuperstepSite::kBlock}));
}

}  // namespace
}  // namespace crawlstore::testing
