// SPDX-License-Identifier: Apache-2.0
// covers: P21
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>
#include <crawlstore/transaction.h>

#include "drum/memory_store.h"
#include "frontier/take_calls.h"

namespace crawlstore::testing {
namespace {

FrontierInfo committed_frontier(MemoryStore& store) {
  return must(FrontierView::list(must(store->snapshot()))).front();
}

/// A frontier with an item in each of `count` groups, which are committed.
Frontier open_frontier(MemoryStore& store, int count, const FrontierOptions& options = {}) {
  auto frontier = must(Frontier::open(*store, Frontier::kDefaultName, options));
  for (int i = 0; i < count; ++i) {
    const std::string group = "host" + std::to_string(i);
    must(frontier.put(std::vector<FrontierItem>{{group, 0, "/"}}));
  }
  must(store->commit());
  return frontier;
}

/// Takes until nothing is left, each item when it is leased in the file.
std::vector<std::uint64_t> take_all(MemoryStore& store, Frontier& frontier) {
  std::vector<std::uint64_t> ids;
  for (;;) {
    const auto taken = must(frontier.take());
    if (taken.empty()) return ids;
    EXPECT_GT(committed_frontier(store).leased_count, ids.size());
    ids.push_back(taken.front().id);
  }
}

TEST(FrontierThreads, TakeEachItemOnce) {
  constexpr int kItems = 200;
  MemoryStore store;
  Frontier frontier = open_frontier(store, kItems);
  const auto before = store->generation();
  std::vector<std::vector<std::uint64_t>> taken(4);
  std::vector<std::thread> threads;
  for (auto& ids : taken) {
    threads.emplace_back([&] { ids = take_all(store, frontier); });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& ids : taken) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), kItems);
  EXPECT_LE(store->generation().value - before.value, kItems);
  EXPECT_EQ(committed_frontier(store).leased_count, kItems);
}

TEST(FrontierThreads, TakeOutsideOfTheTransactionOfAnother) {
  MemoryStore store;
  Frontier frontier = open_frontier(store, 2);
  auto transaction = must(Transaction::begin(*store));
  std::vector<TakenItem> other;
  std::thread thread([&] { other = must(frontier.take({.count = 2})); });
  EXPECT_EQ(must(frontier.take({.count = 2})).size(), 2U);
  transaction.drop();
  thread.join();
  EXPECT_EQ(other.size(), 2U);
}

/// The first answers for those that have come meanwhile, too, but for one, which asks again.
TEST(TakeCalls, AreAnsweredByOneThread) {
  constexpr std::size_t kThreads = 4;
  frontier::TakeCalls calls;
  const TakeOptions options;
  std::vector<std::size_t> sizes;
  const auto answer = [&] {
    std::vector<frontier::TakeCall*> handed_out;
    while (sizes.empty() && handed_out.size() < kThreads) handed_out = calls.hand_out();
    if (!sizes.empty()) handed_out = calls.hand_out();
    sizes.push_back(handed_out.size());
    if (sizes.size() == 1) handed_out.pop_back();
    for (frontier::TakeCall* const call : handed_out) call->taken.emplace();
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      frontier::TakeCall call{options};
      calls.wait(call, answer);
      EXPECT_TRUE(call.taken.has_value());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{kThreads, 1}));
}

TEST(FrontierWithoutCommitsOfItsOwn, LeasesFromTheNextCommitOn) {
  MemoryStore store;
  FrontierOptions options;
  options.commits_takes = false;
  Frontier frontier = open_frontier(store, 3, options);
  const auto before = store->generation();
  EXPECT_EQ(must(frontier.take({.count = 2})).size(), 2U);
  EXPECT_EQ(store->generation(), before);
  EXPECT_EQ(committed_frontier(store).leased_count, 0U);
  must(store->commit());
  EXPECT_EQ(committed_frontier(store).leased_count, 2U);
  EXPECT_EQ(committed_frontier(store).waiting_count, 1U);
}

}  // namespace
}  // namespace crawlstore::testing
