// SPDX-License-Identifier: Apache-2.0
// covers: P26
#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>

#include "scores/opic_words.h"
#include "support/bytes.h"
#include "support/recording_storage.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::array<std::string_view, 3> kArrays{"opic_cash", "opic_history", "opic_crawls"};

/// The state that readers see.
struct State {
  std::uint64_t superstep_count = 0;
  std::uint64_t page_count = 0;
  std::uint64_t link_count = 0;
  bool is_stale = false;  // one of the arrays is
  std::vector<std::vector<double>> arrays{};
  friend bool operator==(const State&, const State&) = default;
};

State state_of(const Store& store) {
  const PageView pages = view_of(store);
  const PagesInfo& info = pages.info();
  State state{info.superstep_count, info.page_count, info.link_count};
  for (const ScoresInfo& scores : must(ScoreView::list(pages))) {
    state.is_stale = state.is_stale || scores.is_stale;
  }
  for (const auto name : kArrays) state.arrays.push_back(values_of(store, name));
  return state;
}

/// One page that was crawled, and OPIC of it.
void begin(Store& store) {
  auto pages = must(PageDb::open(store));
  crawl(pages, "http://a.test/", {"http://a.test/1", "http://a.test/2"});
  must(pages.merge());
  must(opic(store));
  must(pages.close());
}

TEST(OpicMerge, IsOneCommitThatARollbackTakesBack) {
  MemoryStore store;
  begin(*store);
  const State before = state_of(*store);
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/1", {"http://b.test/"});
  const Generation generation = store->generation();
  const OpicMergeReport report = must(merge_with_opic(pages));
  EXPECT_EQ(store->generation().value, generation.value + 1);
  EXPECT_EQ(report.merged.new_page_count, 1U);
  ASSERT_TRUE(report.opic);
  EXPECT_EQ(report.opic->giver_count, 1U);
  EXPECT_EQ(report.opic->scores.generation, store->generation());
  EXPECT_EQ(state_of(*store),
            (State{2, 4, 3, false, {{0, 0, 0.5, 0.5}, {1, 0.5, 0, 0}, {1, 1, 0, 0}}}));
  must(pages.close());
  expect_whole(store);
  must(store->rollback());
  EXPECT_EQ(state_of(*store), before);
  EXPECT_FALSE(before.is_stale);
  expect_whole(store);
}

TEST(OpicMerge, GivesTheSameBitsAsAnUpdateAfterTheMerge) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed);
  MemoryStore joined;
  MemoryStore apart;
  begin(*joined);
  begin(*apart);
  auto joined_pages = must(PageDb::open(*joined));
  auto apart_pages = must(PageDb::open(*apart));
  for (std::uint64_t round = 1; round <= 8; ++round) {
    const int crawl_count = round % 2 == 0 ? 2 : 40;
    Random random(seed + round);
    crawl_some(joined_pages, random, 50 * round, crawl_count);
    random = Random(seed + round);
    crawl_some(apart_pages, random, 50 * round, crawl_count);
    const auto report = must(merge_with_opic(joined_pages));
    must(apart_pages.merge());
    const RankReport expected = must(opic(*apart));
    ASSERT_TRUE(report.opic);
    EXPECT_EQ(report.opic->giver_count, expected.giver_count);
    EXPECT_EQ(report.opic->scores.sum, expected.scores.sum);
    EXPECT_EQ(state_of(*joined), state_of(*apart));
  }
  expect_whole(joined);
}

TEST(OpicMerge, GoesWithTheLastSuperstepThatMemoryCallsFor) {
  PagesOptions small;
  small.memory_bytes = std::uint64_t{1} << 20;
  MemoryStore joined;
  MemoryStore apart;
  for (MemoryStore* store : {&joined, &apart}) {
    begin(**store);
    auto pages = must(PageDb::open(**store, "pages", small));
    Random random(1);
    crawl_some(pages, random, 30'000, 12'000);
    if (store == &joined) {
      ASSERT_TRUE(must(merge_with_opic(pages)).opic);
    } else {
      must(pages.merge());
      must(opic(**store));
    }
    must(pages.close());
  }
  const State whole = state_of(*joined);
  EXPECT_EQ(whole, state_of(*apart));
  EXPECT_GT(whole.superstep_count, 2U);
  expect_whole(joined);
  must(joined->rollback());
  const State before = state_of(*joined);
  EXPECT_EQ(before.superstep_count, whole.superstep_count - 1);
  EXPECT_EQ(before.arrays.front().size(), 3U);  // as begin() left it
}

TEST(OpicMerge, IsMergeAloneWhereOpicIsNotInUse) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  EXPECT_FALSE(must(merge_with_opic(pages)).opic);  // a database that is new
  crawl(pages, "http://a.test/", {"http://b.test/"});
  EXPECT_FALSE(must(merge_with_opic(pages)).opic);
  EXPECT_EQ(view_of(*store).info().page_count, 2U);
  must(rank_pages(*store));
  crawl(pages, "http://c.test/", {});
  EXPECT_FALSE(must(merge_with_opic(pages)).opic);
  must(opic(*store));
  must(remove_scores(*store, "opic_history"));
  crawl(pages, "http://d.test/", {});
  EXPECT_FALSE(must(merge_with_opic(pages)).opic);
  EXPECT_EQ(view_of(*store).info().page_count, 4U);
  EXPECT_EQ(ScoreView::names(view_of(*store)),
            (std::vector<std::string>{"opic_cash", "opic_crawls", "pagerank"}));
  expect_whole(store);
}

/// Stores scores in a merge that commits nothing: they come with the next commit.
struct StoresScores {
  Store& store;
  std::string name;
  void unique_key_update(const auto&) {
    const auto pages = view_of(store);
    must(store_scores(store, name, pages, std::vector<float>(pages.info().page_count, 7)));
  }
};

void store_without_commit(Store& store, const std::string& name,
                          const std::function<void()>& then) {
  DrumOptions options;
  options.durability = Durability::kNone;
  auto keys = must(Drum<std::uint64_t>::open(store, "keys", options));
  StoresScores stores{store, name};
  keys.attach(stores);
  must(keys.check_update(1));
  must(store.commit());
  const Generation generation = store.generation();
  must(keys.merge());
  EXPECT_EQ(store.generation(), generation);
  then();
  must(store.commit());
}

TEST(OpicMerge, LeavesScoresOfAMergeWithoutCommitToTheNextOne) {
  MemoryStore store;
  begin(*store);
  const auto count = [&] { return must(ScoreView::list(view_of(*store))).size(); };
  store_without_commit(*store, "own", [&] { EXPECT_EQ(count(), kArrays.size()); });
  EXPECT_EQ(count(), kArrays.size() + 1);
  expect_whole(store);
}

TEST(OpicMerge, TakesThePlaceOfScoresThatWait) {
  MemoryStore store;
  begin(*store);
  auto pages = must(PageDb::open(*store));
  store_without_commit(*store, "opic_crawls", [&] {
    crawl(pages, "http://a.test/1", {"http://b.test/"});
    ASSERT_TRUE(must(merge_with_opic(pages)).opic);
  });
  EXPECT_EQ(values_of(*store, "opic_crawls"), (std::vector<double>{1, 1, 0, 0}));
  must(pages.close());
  expect_whole(store);
}

TEST(OpicMerge, BringsUpToDateWhatWasMergedBefore) {
  MemoryStore store;
  begin(*store);
  auto pages = must(PageDb::open(*store));
  const Generation generation = store->generation();
  EXPECT_FALSE(must(merge_with_opic(pages)).opic);  // nothing to do
  EXPECT_EQ(store->generation(), generation);
  crawl(pages, "http://a.test/1", {});
  must(pages.merge());
  EXPECT_TRUE(state_of(*store).is_stale);
  EXPECT_EQ(must(merge_with_opic(pages)).opic->giver_count, 1U);
  EXPECT_FALSE(state_of(*store).is_stale);
  EXPECT_EQ(store->generation().value, generation.value + 2);
  expect_whole(store);
}

TEST(OpicMerge, StopsAnywhereAndChangesNothing) {
  MemoryStore store;
  begin(*store);
  const State before = state_of(*store);
  const Generation generation = store->generation();
  auto pages = must(PageDb::open(*store));
  crawl(pages, "http://a.test/1", {"http://b.test/"});
  std::uint64_t merge_looks = 0;
  {
    MemoryStore other(store.image());
    auto alone = must(PageDb::open(*other));
    crawl(alone, "http://a.test/1", {"http://b.test/"});
    must(alone.merge([&](auto, auto) { return ++merge_looks != 0; }));
  }
  std::uint64_t looks = 0;
  for (std::uint64_t stop_at = 1;; ++stop_at) {
    looks = 0;
    const auto merged = merge_with_opic(pages, [&](auto, auto) { return ++looks < stop_at; });
    if (merged) break;
    EXPECT_EQ(merged.error().code, Errc::kCancelled);
    EXPECT_EQ(store->generation(), generation);
    EXPECT_EQ(state_of(*store), before);
    EXPECT_EQ(pages.status().edit_count, 1U);
  }
  EXPECT_GT(looks, merge_looks);  // OPIC was stopped, too
  EXPECT_FALSE(state_of(*store).is_stale);
  expect_whole(store);
}

TEST(OpicMerge, RefusesDamagedScoresBeforeItPublishesPages) {
  MemoryStore store;
  begin(*store);
  auto image = store.image();
  for (const SegmentInfo& segment : must(store->snapshot()).segments()) {
    if (segment.name == "opic_cash")
      image[segment.runs.front().extent.offset_bytes] ^= std::byte{1};
  }
  MemoryStore damaged(image);
  auto pages = must(PageDb::open(*damaged));
  crawl(pages, "http://b.test/", {});
  EXPECT_EQ(merge_with_opic(pages).error().code, Errc::kChunkDamaged);
  EXPECT_EQ(view_of(*damaged).info().page_count, 3U);
  EXPECT_EQ(pages.status().edit_count, 1U);
  must(opic(*damaged, {.is_warm = false}));
  EXPECT_EQ(must(merge_with_opic(pages)).merged.new_page_count, 1U);
  expect_whole(damaged);
}

/// The pages and their OPIC are both there, or both not, after any call to the storage has failed.
TEST(OpicMerge, PublishesBothOrNeitherWhenAWriteFails) {
  MemoryStore first;
  begin(*first);
  must(first->close());
  std::uint64_t kept_count = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    const auto file = make_memory_file(first.image(), std::uint64_t{1} << 28);
    Recorder recorder(file);
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    auto pages = must(PageDb::open(store));
    crawl(pages, "http://a.test/1", {"http://b.test/"});
    recorder.inject({.nth = nth, .system_errno = ENOSPC});
    const auto merged = merge_with_opic(pages);
    const bool has_failed = recorder.has_injected();
    recorder.stop_injecting();
    if (!has_failed) break;
    EXPECT_EQ(code_of(merged), Errc::kNoSpace);
    // A commit that failed while it was published closes the store to writing; others go on.
    const auto again = merge_with_opic(pages);
    if (again) {
      ++kept_count;
      EXPECT_EQ(again->merged.new_page_count, 1U);
      EXPECT_EQ(again->opic.value().giver_count, 1U);
    } else {
      EXPECT_EQ(again.error().code, Errc::kPoisoned);
    }
    (void)pages.close();
    (void)store.close();
    MemoryStore after(contents(*file));
    const State state = state_of(*after);
    EXPECT_FALSE(state.is_stale);
    EXPECT_EQ(state.superstep_count == 2, state.arrays.front().size() == 4);
    // A commit takes the place of the root that the failed one left.
    auto more = must(PageDb::open(*after));
    crawl(more, "http://c.test/", {});
    EXPECT_TRUE(must(merge_with_opic(more)).opic);
    must(more.close());
    expect_whole(after);
  }
  EXPECT_GT(kept_count, 3U);
}

}  // namespace
}  // namespace crawlstore::testing
