// SPDX-License-Identifier: Apache-2.0
//
// Steps that all shards exchange at once: a crawl has what one file has, also where one of them is
// brought back from an older copy, or fails at any place of the exchange.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/shard_exchange.h>

#include "shards/machines.h"
#include "shards/thread_peers.h"

namespace crawlstore::testing {
namespace {

/// Peers of which one fails in the exchange of this number.
class FailingPeers final : public ShardPeers {
 public:
  FailingPeers(Meeting& meeting, std::size_t self, std::optional<int> fails_in)
      : peers_(meeting, self), fails_in_(fails_in) {}
  Result<void> exchange(const std::vector<Bytes>& to, std::vector<Bytes>& from) override {
    if (fails_in_ && number_++ == *fails_in_) return fail(Errc::kIo, "as the test has it");
    return peers_.exchange(to, from);
  }

 private:
  ThreadPeers peers_;
  std::optional<int> fails_in_;
  int number_ = 0;
};

class ExchangeStep : public CrawlOverShards {
 protected:
  /// On all machines at once; the first of them may fail.
  std::vector<Result<StepReport>> exchange(std::optional<int> fails_in = std::nullopt) {
    Meeting meeting(machines_.size());
    std::vector<Result<StepReport>> reports(machines_.size(), fail(Errc::kCancelled, "not run"));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      threads.emplace_back([&, i] {
        FailingPeers peers(meeting, i, i == 0 ? fails_in : std::nullopt);
        reports[i] = exchange_step(machines_[i]->store(), machines_[i]->pages(), peers);
        if (!reports[i]) meeting.give_up();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return reports;
  }
  /// A level of the crawl, of those shards that are in the least step, and the exchange behind it.
  std::uint64_t step() {
    std::uint64_t least = ~std::uint64_t{0};
    for (const auto& machine : machines_) least = std::min(least, machine->state().step);
    for (const auto& machine : machines_) {
      if (machine->state().step == least) machine->crawl(web_);
    }
    for (const auto& report : exchange()) EXPECT_EQ(must(report).step, least);
    return least;
  }
};

TEST_P(ExchangeStep, CrawlsWhatOneFileCrawls) {
  for (std::uint64_t level = 1; level <= 5; ++level) EXPECT_EQ(step(), level);
  expect_crawl(5);
}

TEST_P(ExchangeStep, IsGivenAgainWhereOneShardFails) {
  (void)step();
  for (const auto& machine : machines_) machine->crawl(web_);
  for (const int place : {0, 1, 2}) {
    for (const auto& report : exchange(place)) EXPECT_FALSE(report);
  }
  for (const auto& report : exchange()) EXPECT_EQ(must(report).state.step, 3U);
  (void)step();
  expect_crawl(3);
}

TEST_P(ExchangeStep, BringsAnOlderCopyToWhereTheOthersAre) {
  (void)step();
  machines_.front()->keep_copy();
  (void)step();
  (void)step();
  machines_.front()->come_back();
  EXPECT_EQ(machines_.front()->state().step, 2U);
  EXPECT_EQ(step(), 2U);
  EXPECT_EQ(step(), 3U);
  EXPECT_EQ(step(), 4U);
  expect_crawl(4);
}

TEST_P(ExchangeStep, IsRefusedWhereShardsDoNotBelongTogether) {
  std::swap(machines_.front(), machines_.back());
  for (const auto& report : exchange()) {
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::kInvalidArgument);
  }
  std::swap(machines_.front(), machines_.back());
  machines_.pop_back();
  for (const auto& report : exchange()) {
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::kInvalidArgument);
  }
  for (const auto& machine : machines_) EXPECT_FALSE(machine->state().has_ended);
}

TEST_P(ExchangeStep, IsRefusedOfPagesOfAnotherStore) {
  Store& store = machines_.front()->store();
  PageDb& pages = machines_.back()->pages();
  Meeting meeting(1);
  ThreadPeers peers(meeting, 0);
  EXPECT_EQ(exchange_step(store, pages, peers).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(end_step(store, pages).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(note_sent(store, pages).error().code, Errc::kInvalidArgument);
  const auto nothing = [](std::span<std::byte>) -> Result<std::size_t> { return 0; };
  EXPECT_EQ(receive_outbox(store, pages, nothing).error().code, Errc::kInvalidArgument);
  EXPECT_FALSE(machines_.front()->state().has_ended);
}

TEST_P(ExchangeStep, IsRefusedOfPagesThatAreClosed) {
  Machine& machine = *machines_.front();
  must(machine.pages().close());
  EXPECT_EQ(note_sent(machine.store(), machine.pages()).error().code, Errc::kClosed);
  EXPECT_EQ(end_step(machine.store(), machine.pages()).error().code, Errc::kClosed);
}

INSTANTIATE_TEST_SUITE_P(Shards, ExchangeStep, ::testing::Values(2, 3, 7));

}  // namespace
}  // namespace crawlstore::testing
