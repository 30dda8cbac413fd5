// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cmath>
#include <stdexcept>

#include <crawlstore/transaction.h>

#include "frontier/frontier_calls.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

/// covers: A39
TEST_F(FrontierCalls, DoWhatTheModelDoes) {
  const int rounds = is_long() ? 20'000 : 1'500;
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    call();
    EXPECT_EQ(frontier_->waiting_count() + frontier_->leased_count(), model_.items().size());
    if (random_.one_in(10)) {
      must(store_->commit());
      expect_in_file(store_, model_);
    }
    if (random_.one_in(15)) expect_live();
    if (random_.one_in(40)) reopen();
    if (random_.one_in(150)) expect_whole();
  }
  EXPECT_GT(refused_count_, 0U);
}

TEST_F(FrontierCalls, AreUndoneWithTheirTransaction) {
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    call();
    const FrontierModel before = model_;
    std::optional transaction = must(Transaction::begin(*store_));
    for (int k = 0; k < 5; ++k) call();
    if (random_.one_in(2)) {
      must(transaction->commit());
      expect_in_file(store_, model_);
    } else {
      transaction.reset();
      model_ = before;
    }
  }
  must(store_->commit());
  expect_in_file(store_, model_);
}

/// Many hosts of one address are one to whoever is polite.
TEST_F(FrontierCalls, AskTheParentOfAGroup) {
  std::vector<std::string> keys;
  std::vector<FrontierItem> items;
  for (int i = 0; i < 200; ++i) keys.push_back("host" + std::to_string(i));
  for (const std::string& key : keys) items.push_back({key, 1});
  put(items);
  for (const std::string& key : keys) {
    const FrontierRule rule{.delay_ms = 40, .hard_ms = 10, .parent = "address"};
    must(frontier_->set_rule(key, rule));
    model_.set_rule(key, rule);
  }
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    take();
    change();
    EXPECT_EQ(frontier_->next_due_ms(), due_in_file());
    if (random_.one_in(20)) reopen();
  }
  must(store_->commit());
  expect_in_file(store_, model_);
}

/// A host of much priority does not starve the others.
TEST_F(FrontierCalls, VisitTheGroupThatWaitsLongest) {
  must(frontier_->put(std::vector<FrontierItem>{{"a", 9}, {"a", 8}, {"b", 1}, {"b", 2}, {"c"}}));
  const auto next = [&](TakeOrder order) {
    now_ += 40;
    return must(frontier_->take({.now_ms = now_, .order = order})).at(0).group;
  };
  EXPECT_EQ(next(TakeOrder::kBest), "a");
  EXPECT_EQ(next(TakeOrder::kLongestWaiting), "b");
  EXPECT_EQ(next(TakeOrder::kLongestWaiting), "c");
  reopen();
  EXPECT_EQ(next(TakeOrder::kLongestWaiting), "a");
  EXPECT_EQ(next(TakeOrder::kBest), "b");
}

/// Others that may be visited do not keep back the host that is asked for.
TEST_F(FrontierCalls, VisitTheGroupThatIsAskedFor) {
  must(frontier_->put(std::vector<FrontierItem>{{"a", 9}, {"a", 8}, {"a", 7}, {"b", 1}}));
  const auto ask = [&](std::uint64_t wait_ms, std::string_view key) {
    now_ += wait_ms;
    const auto taken = must(frontier_->take({.count = 5, .now_ms = now_, .group = key}));
    return taken.empty() ? std::string("nothing") : taken.at(0).group;
  };
  EXPECT_EQ(ask(1, "a"), "a");
  EXPECT_EQ(ask(9, "a"), "nothing");   // its hard time has not come
  EXPECT_EQ(ask(1, "a"), "a");         // though "b" may be visited
  EXPECT_EQ(ask(50, "a"), "nothing");  // two are in flight
  EXPECT_EQ(ask(0, "nobody"), "nothing");
  EXPECT_EQ(ask(0, "b"), "b");
  EXPECT_EQ(ask(50, "b"), "nothing");
}

/// A group that there is not yet has the limits of the default rule, and is not made in vain.
TEST_F(FrontierCalls, KeepTheLimitsOfTheDefault) {
  FrontierOptions strict = options();
  strict.default_rule.put_max = 0;
  auto frontier = must(Frontier::open(*store_, "strict", strict));
  must(frontier.set_rule("a", {.finished_max = 1}));
  const std::vector<FrontierItem> items{{"b"}, {"a"}, {"b"}, {"a"}};
  const auto done = must(frontier.put(items));
  EXPECT_EQ(done.first_id, 0U);
  EXPECT_EQ(done.refused, (std::vector<std::size_t>{0, 2}));
  const auto taken = must(frontier.take({.now_ms = now_}));
  must(frontier.finish(std::vector{taken.at(0).id}, now_));
  EXPECT_EQ(must(frontier.put(items)).refused.size(), 4U);
  must(store_->commit());
  const auto view = must(FrontierView::open(must(store_->snapshot()), "strict"));
  EXPECT_EQ(view.info().group_count, 1U);
  EXPECT_EQ(view.group("a")->put_count, 2U);
  EXPECT_EQ(view.group("a")->finished_count, 1U);
}

TEST_F(FrontierCalls, StayThoughATransactionThatDidNothingCameBefore) {
  {
    auto nothing = must(Transaction::begin(*store_));
    must(frontier_->finish({}, 0));
    must(nothing.commit());
  }
  must(frontier_->put(std::vector<FrontierItem>{{"a"}, {"b"}}));
  {
    auto dropped = must(Transaction::begin(*store_));
    must(frontier_->put(std::vector<FrontierItem>{{"c"}}));
  }
  EXPECT_EQ(frontier_->waiting_count(), 2U);
  reopen();
  EXPECT_EQ(frontier_->waiting_count(), 2U);
}

/// Journals that have become long are replaced by pieces, and groups go into runs of their own.
TEST_F(FrontierCalls, SurviveThatTheirStepsAreWrittenAnew) {
  const std::string body(60'000, 'b');
  for (int round = 0; round < 12; ++round) {
    std::vector<std::string> keys;
    std::vector<FrontierItem> items;
    for (int i = 0; i < 40; ++i) keys.push_back("k" + std::to_string(round * 20 + i));
    for (int i = 0; i < 40; ++i)
      items.push_back({keys[static_cast<std::size_t>(i)], 1.0 * i, body});
    put(items);
    must(store_->commit());
    for (int i = 0; i < 30; ++i) call();
  }
  must(store_->commit());
  expect_in_file(store_, model_);
  expect_whole();
  reopen();
  for (int i = 0; i < 100; ++i) call();
  must(store_->commit());
  expect_in_file(store_, model_);
}

/// Items that wait go into runs, which are joined, and are gone when nothing waits.
TEST_F(FrontierCalls, FindItemsInRuns) {
  std::size_t run_count_max = 0;
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    for (int i = 0; i < 25; ++i) put();
    must(store_->commit());
    expect_in_file(store_, model_);
    for (int i = 0; i < 12; ++i) call();
    if (random_.one_in(5)) reopen();
    run_count_max = std::max(run_count_max, item_run_count());
  }
  expect_whole();
  EXPECT_GT(run_count_max, 3U);
  EXPECT_LE(run_count_max, 24U);
  for (const auto& [key, group] : model_.groups()) {
    must(frontier_->set_rule(key, {.delay_ms = 0, .hard_ms = 0, .in_flight_max = 1000}));
    model_.set_rule(key, {.delay_ms = 0, .hard_ms = 0, .in_flight_max = 1000});
  }
  while (item_run_count() != 0 && !HasFailure()) {
    now_ += 1000;
    const auto taken = must(frontier_->take({40, 10, 0, now_}));
    const auto expected = model_.take({40, 10, 0, now_});
    ASSERT_EQ(taken.size(), expected.size());
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i].id, expected[i].id);
      EXPECT_EQ(taken[i].body, expected[i].body);
      ids.push_back(taken[i].id);
      model_.finish(taken[i].id, now_);
    }
    must(frontier_->finish(ids, now_));
    model_.set_clock(now_);
    if (taken.empty()) {  // steps enough for a checkpoint
      for (int i = 0; i < 400; ++i) must(frontier_->set_rule("more", {}));
      model_.set_rule("more", {});
      must(store_->commit());
    }
  }
  reopen();
  expect_in_file(store_, model_);
  expect_whole();
}

/// A join is given up where runs become too many before it is done: each opening begins it anew.
TEST_F(FrontierCalls, JoinInOneGoWhatHasBecomeTooMuch) {
  std::size_t run_count_max = 0;
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    for (int i = 0; i < 60; ++i) put();
    must(store_->commit());
    const std::size_t run_count = item_run_count() - runs_by_time(store_);
    run_count_max = std::max(run_count_max, run_count);
    if (run_count_max < 23) reopen();
    if (round % 10 == 0) expect_in_file(store_, model_);
  }
  EXPECT_EQ(run_count_max, 23U);
  expect_in_file(store_, model_);
  expect_whole();
}

/// Items for later go into runs, too, and come out of them; some are gone before.
TEST_F(FrontierCalls, FindItemsForLaterInRuns) {
  later_ms_ = 15'000;
  std::size_t run_count_max = 0;
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    for (int i = 0; i < 60; ++i) put();
    must(store_->commit());
    expect_in_file(store_, model_);
    for (int i = 0; i < 25; ++i) call();
    if (random_.one_in(4)) now_ += random_.below(5'000);
    if (random_.one_in(5)) reopen();
    run_count_max = std::max(run_count_max, runs_by_time(store_));
  }
  expect_whole();
  EXPECT_GT(run_count_max, 1U);
  EXPECT_LE(run_count_max, 24U);
  now_ += later_ms_;
  for (const auto& [key, group] : model_.groups()) must(frontier_->drop_group(key));
  EXPECT_EQ(frontier_->waiting_count(), 0U);
  reopen();
  EXPECT_EQ(frontier_->waiting_count(), 0U);
  expect_whole();
}

/// A call looks once for all its items, wherever they wait.
TEST_F(FrontierCalls, RemoveAndUpdateManyAtOnce) {
  later_ms_ = 15'000;
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    for (int i = 0; i < 40; ++i) put();
    must(store_->commit());
    std::vector<std::string> keys;
    std::vector<FrontierKey> gone;
    std::vector<FrontierUpdate> changed;
    for (int i = 0; i < 60; ++i) keys.push_back(group_of(some_id()));
    std::uint64_t gone_count = 0;
    std::uint64_t changed_count = 0;
    for (const std::string& key : keys) {
      gone.push_back({key, some_id()});
      changed.push_back({{key, some_id()}, 1, random_.one_in(2) ? now_ + 5'000 : 0, {}});
    }
    for (const FrontierKey& item : gone)
      gone_count += model_.remove(std::string(item.group), item.id);
    EXPECT_EQ(must(frontier_->remove(gone)), gone_count);
    changed.push_back(changed.front());
    changed.back().priority = 2;
    for (const FrontierUpdate& item : changed) changed_count += model_.update(item);
    EXPECT_EQ(must(frontier_->update(changed)), changed_count);
    must(store_->commit());
    expect_in_file(store_, model_);
    if (random_.one_in(3)) reopen();
  }
  expect_whole();
}

/// All that waits gets other priorities, wherever it is.
/// covers: A40, A41, A42
TEST_F(FrontierCalls, RewriteAllPriorities) {
  later_ms_ = 15'000;
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    for (int i = 0; i < 40; ++i) put();
    for (int i = 0; i < 20; ++i) call();
    if (random_.one_in(2)) must(store_->commit());
    const std::uint64_t seed = random_.below(1000);
    const auto priority_of = [seed](std::string_view group, std::uint64_t id,
                                    double priority) -> std::optional<double> {
      const std::uint64_t mixed = (id + seed) * 0x9E37'79B9'7F4A'7C15 >> 40;
      if (mixed % 10 == 0) return std::nullopt;
      if (mixed % 3 == 0) return priority;
      return static_cast<double>(mixed % 7) - static_cast<double>(group.size() % 3);
    };
    const std::size_t count_before = model_.items().size();
    model_.rewrite(priority_of);
    const auto done = must(frontier_->rewrite(priority_of));
    EXPECT_EQ(done.removed_count, count_before - model_.items().size());
    expect_in_file(store_, model_);
    for (int i = 0; i < 10; ++i) call();
    if (random_.one_in(4)) reopen();
  }
  expect_whole();
}

TEST_F(FrontierCalls, SetTheDefaultRule) {
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    for (int i = 0; i < 15; ++i) call();
    FrontierRule rule;
    rule.delay_ms = random_.below(90);
    rule.hard_ms = rule.delay_ms / 2;
    rule.in_flight_max = static_cast<std::uint32_t>(1 + random_.below(3));
    must(frontier_->set_default_rule(rule));
    model_.set_default_rule(rule);
    expect_in_file(store_, model_);
    expect_live();
    if (random_.one_in(4)) reopen();
  }
  expect_whole();
}

TEST_F(FrontierCalls, KeepTheDefaultRuleWhereNoneCanBeSet) {
  for (int i = 0; i < 80; ++i) call();
  EXPECT_EQ(frontier_->set_default_rule({.is_active = false}).error().code, Errc::kInvalidArgument);
  {
    auto transaction = must(Transaction::begin(*store_));
    EXPECT_EQ(frontier_->set_default_rule({}).error().code, Errc::kReentrant);
  }
  must(frontier_->for_each_item("host1", [&](const FrontierEntry&) {
    EXPECT_EQ(frontier_->set_default_rule({}).error().code, Errc::kReentrant);
    return false;
  }));
}

/// Steps that open() makes again.
std::uint64_t journal_bytes(Store& store) {
  std::uint64_t bytes = 0;
  for (const SegmentInfo& segment : must(store.snapshot()).segments()) {
    if (segment.kind == SegmentKind::kFrontierSteps) bytes += segment.payload_bytes();
  }
  return bytes;
}

std::vector<FrontierItem> many_items(std::size_t count) {
  return std::vector<FrontierItem>(count, {"a", 1, "a body of some bytes"});
}

TEST(Frontier, LeavesFewStepsWhenItIsClosed) {
  MemoryStore store;
  for (const std::size_t count : {3000U, 10U}) {
    auto frontier = must(Frontier::open(*store, "f", {.checkpoint_bytes = 200'000}));
    must(frontier.put(many_items(count)));
    must(store->commit());
    const std::uint64_t committed = journal_bytes(*store);
    EXPECT_GT(committed, 10 * count);
    must(frontier.close());
    const std::uint64_t left = journal_bytes(*store);
    EXPECT_TRUE(count == 10 ? left >= committed : left < 100) << left;
  }
  EXPECT_EQ(must(Frontier::open(*store, "f")).waiting_count(), 3010U);
}

TEST(Frontier, IsClosedWithoutRoomForACheckpoint) {
  Recorder recorder(make_memory_file(MemoryStore().image(), std::uint64_t{1} << 24));
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto frontier = must(Frontier::open(store, "f", {.checkpoint_bytes = 200'000}));
  must(frontier.put(many_items(3000)));
  must(store.commit());
  recorder.inject(
      {.calls = calls(CallKind::kAllocate), .nth = 1, .forever = true, .system_errno = ENOSPC});
  must(frontier.close());
  EXPECT_TRUE(recorder.has_injected());
  recorder.stop_injecting();
  EXPECT_GT(journal_bytes(store), 30'000U);
  EXPECT_EQ(must(Frontier::open(store, "f")).waiting_count(), 3000U);
}

TEST(Frontier, KeepsTheDefaultRuleOnAFullDisk) {
  MemoryStore before;
  {
    auto made = must(Frontier::open(*before, "f"));
    must(made.put(std::vector<FrontierItem>{{"a"}, {"a"}}));
    must(made.close());
  }
  Recorder recorder(make_memory_file(before.image(), std::uint64_t{1} << 24));
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto frontier = must(Frontier::open(store, "f"));
  recorder.inject(
      {.calls = calls(CallKind::kAllocate), .nth = 1, .forever = true, .system_errno = ENOSPC});
  EXPECT_EQ(frontier.set_default_rule({.delay_ms = 0, .hard_ms = 0}).error().code, Errc::kNoSpace);
  EXPECT_TRUE(recorder.has_injected());
  recorder.stop_injecting();
  const std::uint64_t now = frontier.now_ms();
  EXPECT_EQ(must(frontier.take({.now_ms = now})).size(), 1U);
  EXPECT_EQ(must(frontier.take({.now_ms = now, .in_flight_max = 2})).size(), 0U);
  EXPECT_EQ(frontier.group("a")->soft_time_ms, now + 1000);
}

TEST_F(FrontierCalls, RefuseToRewriteWhereTheyCannot) {
  for (int i = 0; i < 80; ++i) put();
  must(store_->commit());
  const auto no_number = [](auto, auto, auto) { return std::optional(std::nan("")); };
  EXPECT_EQ(frontier_->rewrite(no_number).error().code, Errc::kInvalidArgument);
  const auto throws = [calls = 0](auto, auto, double priority) mutable {
    if (++calls == 40) throw std::runtime_error("no priority");
    return std::optional(priority + 1);
  };
  EXPECT_THROW((void)frontier_->rewrite(throws), std::runtime_error);
  const auto inside = [this](auto, auto id, double priority) {
    EXPECT_EQ(frontier_->remove(std::vector<FrontierKey>{{"host1", id}}).error().code,
              Errc::kReentrant);
    return std::optional(priority);
  };
  const auto done = must(frontier_->rewrite(inside));
  EXPECT_EQ(done.changed_count + done.removed_count, 0U);
  {
    auto transaction = must(Transaction::begin(*store_));
    EXPECT_EQ(frontier_->rewrite(inside).error().code, Errc::kReentrant);
  }
  expect_in_file(store_, model_);
  expect_whole();
}

TEST_F(FrontierCalls, FindItems) {
  later_ms_ = 15'000;
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    for (int i = 0; i < 30; ++i) put();
    for (int i = 0; i < 20; ++i) call();
    must(store_->commit());
    for (const auto& item : model_.items()) {
      const auto found = must(frontier_->find({item.group, item.id}));
      ASSERT_TRUE(found) << item.id;
      EXPECT_EQ(found->priority, item.priority);
      EXPECT_EQ(found->not_before_ms, item.until ? 0 : item.not_before);
      EXPECT_EQ(found->attempt, item.attempt);
      EXPECT_EQ(found->until_ms, item.until);
      EXPECT_EQ(found->body, item.body);
      EXPECT_FALSE(must(frontier_->find({item.group == "host1" ? "host2" : "host1", item.id})));
    }
    EXPECT_FALSE(must(frontier_->find({"host1", model_.next_id()})));
  }
}

/// A log has at most 256 runs.
TEST_F(FrontierCalls, MayBeCommittedOneByOne) {
  for (int i = 0; i < 1000; ++i) {
    const std::string key = "k" + std::to_string(i);
    const FrontierItem item{key, 0, "body"};
    must(frontier_->put(std::vector{item}));
    model_.put(item);
    must(store_->commit());
  }
  expect_in_file(store_, model_);
  expect_whole();
}

/// After a first put that failed, the next one may come with another default rule.
TEST(NewFrontier, IsMadeByCloseAndByWhatItGetsButNotByItsEnd) {
  MemoryStore store;
  const auto names = [&store] {
    std::vector<std::string> found;
    for (const auto& info : must(FrontierView::list(must(store->snapshot())))) {
      found.push_back(info.name);
    }
    return found;
  };
  (void)must(Frontier::open(*store, "left"));
  {
    auto dropped = must(Frontier::open(*store, "dropped"));
    const auto transaction = must(Transaction::begin(*store));
    must(dropped.put(std::vector<FrontierItem>{{"a", 1}}));
  }
  must(must(Frontier::open(*store, "closed")).close());
  {
    auto used = must(Frontier::open(*store, "used"));
    must(used.put(std::vector<FrontierItem>{{"a", 1}}));
  }
  must(store->commit());
  EXPECT_EQ(names(), (std::vector<std::string>{"closed", "used"}));
}

}  // namespace
}  // namespace crawlstore::testing
