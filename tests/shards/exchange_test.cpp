// SPDX-License-Identifier: Apache-2.0
// covers: P19, P20, P22, W26
//
// The exchange between shards: a crawl in steps has what one file has, whatever comes twice, late,
// in another order, damaged, or to a shard that was brought back from an older copy.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/shard_exchange.h>
#include <crawlstore/tools/verify.h>

#include "shards/machines.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

class ShardExchange : public CrawlOverShards {
 protected:
  /// Gives a shard all outboxes from its step on.
  void catch_up(std::uint32_t to) {
    const std::uint64_t step = machines_[to]->state().step;
    for (std::uint32_t from = 0; from < GetParam(); ++from) {
      if (from == to) continue;
      const ExchangeState state = machines_[from]->state();
      for (std::uint64_t s = step; s < state.step + (state.has_ended ? 1 : 0); ++s) {
        const Bytes message = machines_[from]->outbox(s)[to];
        const ExchangeState own = machines_[to]->state();
        if (s <= own.step - (own.has_ended ? 0 : 1)) must(machines_[to]->receive(message));
      }
    }
  }
  /// One step of all. With losses, machines are opened anew on the way, and messages come twice.
  void step(bool has_losses) {
    std::vector<std::uint32_t> order(GetParam());
    for (std::uint32_t i = 0; i < GetParam(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    for (const std::uint32_t i : order) {
      machines_[i]->crawl(web_);
      machines_[i]->end();
      if (has_losses && random_.below(4) == 0) {
        machines_[i]->close();
        machines_[i]->open();
      }
    }
    const std::uint64_t number = machines_.front()->state().step;
    for (const std::uint32_t from : order) {
      const auto messages = machines_[from]->outbox(number);
      EXPECT_FALSE(machines_[from]->state().is_sent);
      machines_[from]->note_own();
      for (const auto& [to, message] : messages) {
        must(machines_[to]->receive(message));
        if (has_losses && random_.below(3) == 0) {
          EXPECT_EQ(must(machines_[to]->receive(message)).stale_count, 1U);
        }
      }
    }
    for (const auto& machine : machines_) EXPECT_EQ(machine->state().step, number + 1);
  }
};

INSTANTIATE_TEST_SUITE_P(Of, ShardExchange, ::testing::Values(2, 3, 4, 7));

TEST_P(ShardExchange, MakesTheCrawlOfOneFile) {
  for (int level = 0; level < 6; ++level) {
    const auto before = machines_.front()->state();
    EXPECT_EQ(before.step, static_cast<std::uint64_t>(level + 1));
    EXPECT_FALSE(before.has_ended);
    EXPECT_EQ(before.missing.size(), GetParam() - 1);
    step(random_.below(2) == 0);
    if (level == 2) expect_crawl(3);
  }
  expect_crawl(6);
}

TEST_P(ShardExchange, GoesOnWithAShardOfAnOlderCopy) {
  step(false);
  const auto lost = static_cast<std::uint32_t>(random_.below(GetParam()));
  machines_[lost]->keep_copy();
  step(false);
  step(false);
  machines_[lost]->come_back();
  EXPECT_EQ(machines_[lost]->state().step, 2U);
  // Its own messages of steps that the others have had are stale, and bring nothing new.
  while (machines_[lost]->state().step < 4) {
    machines_[lost]->crawl(web_);
    const std::uint64_t number = machines_[lost]->end().step;
    for (const auto& [to, message] : machines_[lost]->outbox(number)) {
      const auto report = must(machines_[to]->receive(message));
      EXPECT_EQ(report.stale_count, 1U);
      EXPECT_EQ(report.new_count, 0U);
    }
    machines_[lost]->note_own();
    catch_up(lost);
  }
  step(false);
  expect_crawl(4);
}

TEST_P(ShardExchange, WritesTheSameOutboxAgain) {
  step(false);
  machines_[0]->crawl(web_);
  EXPECT_EQ(write_outbox(must(Snapshot::open(machines_[0]->path())), 2, {}).error().code,
            Errc::kInvalidArgument);
  machines_[0]->end();
  const auto first = machines_[0]->outbox(2);
  EXPECT_EQ(first.size(), GetParam() - 1);
  EXPECT_EQ(machines_[0]->end().step, 2U);
  machines_[0]->add_known("http://late.test/");
  machines_[0]->crawl(web_);
  machines_[0]->end();
  EXPECT_EQ(machines_[0]->outbox(2), first);
}

TEST_P(ShardExchange, RefusesWhatIsNotMeantForIt) {
  for (const auto& machine : machines_) machine->crawl(web_);
  const std::uint32_t owner = shard_of(url_host(web_.seed()), GetParam());
  const std::uint32_t other = owner == 0 ? 1 : 0;
  for (const auto& machine : machines_) machine->end();
  const auto outbox = machines_[owner]->outbox(1);
  const Bytes& message = outbox.at(other);
  const auto refused = [&](const Bytes& bytes) { return machines_[other]->receive(bytes); };
  EXPECT_EQ(machines_[owner]->receive(message).error().code, Errc::kInvalidArgument);
  if (GetParam() > 2) {
    std::uint32_t third = 0;
    while (third == owner || third == other) ++third;
    EXPECT_EQ(refused(outbox.at(third)).error().code, Errc::kInvalidArgument);
  }
  for (std::size_t length = 1; length < message.size(); ++length) {
    const Bytes cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(refused(cut).error().code, Errc::kTruncated) << length;
  }
  for (std::size_t at = 0; at < message.size(); ++at) {
    Bytes damaged = message;
    damaged[at] ^= std::byte{4};
    EXPECT_FALSE(refused(damaged)) << at;
  }
  EXPECT_EQ(machines_[other]->state().missing.size(), GetParam() - 1);
  must(refused(message));
  EXPECT_EQ(machines_[other]->state().missing.size(), GetParam() - 2);
  EXPECT_EQ(machines_[other]->state().step, 1U);
  machines_[other]->note_own();
  EXPECT_EQ(machines_[other]->state().step, GetParam() == 2 ? 2U : 1U);
}

TEST_P(ShardExchange, LeavesOutStepsThatHaveNotEndedHere) {
  step(false);
  machines_[0]->keep_copy();
  step(false);
  machines_[1]->crawl(web_);
  machines_[1]->end();
  const Bytes ahead = machines_[1]->outbox(3)[0];
  machines_[0]->come_back();
  const auto report = must(machines_[0]->receive(ahead));
  EXPECT_EQ(report.early_count, 1U);
  EXPECT_EQ(report.url_count, 0U);
  EXPECT_EQ(machines_[0]->state().step, 2U);
}

TEST(ShardExchangeOfAll, TellsPagesOfOtherDatabasesApart) {
  const TemporaryFolder folder;
  CreateOptions seeded;
  seeded.key_seed = 3;
  auto from = must(create_shard(folder / "0.crawl", {0, 2}, seeded));
  auto to = must(create_shard(folder / "1.crawl", {1, 2}, seeded));
  PagesOptions raw;
  raw.normalizer = UrlNormalizer::raw();
  auto sent = must(PageDb::open(from, "pages"));
  auto other = must(PageDb::open(to, "images"));
  auto as_it_is = must(PageDb::open(to, "pages", raw));
  must(end_step(from, sent));
  Bytes message;
  must(write_outbox(must(from.snapshot()), 1, [&](std::uint32_t, std::span<const std::byte> bytes) {
    message.insert(message.end(), bytes.begin(), bytes.end());
    return Result<void>();
  }));
  for (PageDb* pages : {&other, &as_it_is}) {
    must(end_step(to, *pages));
    std::span<const std::byte> rest = message;
    const auto received = receive_outbox(to, *pages, [&](std::span<std::byte> into) {
      const std::size_t length = std::min(into.size(), rest.size());
      std::copy_n(rest.begin(), length, into.begin());
      rest = rest.subspan(length);
      return Result<std::size_t>(length);
    });
    EXPECT_EQ(received.error().code, Errc::kInvalidArgument);
  }
}

TEST(ShardExchangeOfAll, HasPagesWithUrls) {
  const TemporaryFolder folder;
  auto store = must(create_shard(folder / "a.crawl", {0, 2}));
  PagesOptions indexes;
  indexes.has_urls = false;
  EXPECT_EQ(PageDb::open(store, "pages", indexes).error().code, Errc::kInvalidArgument);
}

TEST(ShardExchangeOfAll, IsForShardsAlone) {
  const TemporaryFolder folder;
  auto store = must(Store::create(folder / "a.crawl"));
  auto pages = must(PageDb::open(store));
  EXPECT_EQ(end_step(store, pages).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(note_sent(store, pages).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(read_exchange(must(store.snapshot())).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace crawlstore::testing
