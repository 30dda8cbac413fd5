// SPDX-License-Identifier: Apache-2.0
//
// Random calls, beside a model that looks through a list: every answer, and all that a reader sees
// after each commit, in the same process and in the next one.
#include <set>

#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>
#include <crawlstore/transaction.h>
#include <crawlstore/verify.h>

#include "base/inside.h"
#include "container/reader.h"
#include "drum/memory_store.h"
#include "frontier/frontier_model.h"
#include "frontier/item_run.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kBegin = 4'000'000'000'000;  // behind the wall clock

class FrontierCalls : public ::testing::Test {
 protected:
  static FrontierOptions options() {
    FrontierOptions options;
    options.default_rule = {.delay_ms = 40, .hard_ms = 10, .in_flight_max = 2};
    options.checkpoint_bytes = 3000;
    return options;
  }
  explicit FrontierCalls(bool has_own_ids = false) {
    auto all = options();
    all.has_own_ids = has_own_ids;
    frontier_.emplace(must(Frontier::open(*store_, "f", all)));
  }

  std::string some_key() { return "host" + std::to_string(random_.below(12)); }
  void put() {
    std::vector<std::string> texts;
    std::vector<FrontierItem> items;
    const std::size_t count = random_.below(8);
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(some_key());
      texts.push_back(std::string(random_.below(20), static_cast<char>('a' + random_.below(26))));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double priority = static_cast<double>(random_.below(6)) - 3;
      const std::uint64_t later = random_.one_in(4) ? now_ + random_.below(later_ms_) : 0;
      items.push_back({texts[2 * i], priority, texts[2 * i + 1], later});
    }
    put(items);
  }
  void put(const std::vector<FrontierItem>& items) {
    const std::uint64_t next_id = model_.next_id();
    const auto done = must(frontier_->put(items));
    std::vector<std::size_t> refused;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!model_.put(items[i])) refused.push_back(i);
    }
    EXPECT_EQ(done.first_id, next_id);
    EXPECT_EQ(done.refused, refused);
    refused_count_ += refused.size();
  }
  void take() {
    now_ += random_.below(60);
    TakeOptions options;
    options.count = random_.below(6);
    options.per_group = static_cast<std::uint32_t>(1 + random_.below(3));
    options.lease_ms = random_.one_in(5) ? 0 : 1 + random_.below(200);
    options.now_ms = now_;
    if (random_.one_in(3)) options.order = TakeOrder::kLongestWaiting;
    const auto taken = must(frontier_->take(options));
    const auto expected =
        model_.take(options.count, options.per_group, options.lease_ms, now_, options.order);
    ASSERT_EQ(taken.size(), expected.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i].id, expected[i].id);
      EXPECT_EQ(taken[i].group, expected[i].group);
      EXPECT_EQ(taken[i].priority, expected[i].priority);
      EXPECT_EQ(taken[i].body, expected[i].body);
      EXPECT_EQ(taken[i].attempt, expected[i].attempt);
    }
  }
  std::uint64_t some_id() { return random_.below(model_.next_id() + 2); }
  void change() {
    const std::uint64_t id = some_id();
    switch (random_.below(8)) {
      case 6:
        return remove(id);
      case 7:
        return update(id);
      case 0:
      case 1:
        must(frontier_->finish(std::vector{id, some_leased(), id}, now_));
        model_.finish(id, now_);
        return model_.finish(last_leased_, now_);
      case 2: {
        now_ += random_.below(20);
        const GivenBack back{some_leased(), random_.one_in(3) ? now_ + random_.below(99) : 0,
                             random_.one_in(2)};
        must(frontier_->give_back(std::vector{back}, now_));
        return model_.give_back(back, now_);
      }
      case 3: {
        const std::uint64_t until = random_.one_in(4) ? 0 : now_ + random_.below(500) - 50;
        must(frontier_->extend(std::vector{some_leased()}, until, now_));
        return model_.extend(last_leased_, until, now_);
      }
      case 4: {
        return set_rule(random_.one_in(4) ? some_parent() : some_key());
      }
      default: {
        if (!random_.one_in(8)) return;
        const std::string key = some_key();
        must(frontier_->drop_group(key));
        return model_.drop_group(key);
      }
    }
  }
  std::optional<std::uint32_t> some_limit() {
    if (!random_.one_in(3)) return std::nullopt;
    return static_cast<std::uint32_t>(random_.below(400));
  }
  std::string some_parent() { return "address" + std::to_string(random_.below(3)); }
  void set_rule(const std::string& key) {
    const std::uint64_t delay = random_.below(60);
    FrontierRule rule{delay,
                      delay / 2,
                      static_cast<std::uint32_t>(1 + random_.below(3)),
                      static_cast<std::uint32_t>(1 + random_.below(3)),
                      random_.one_in(4) ? now_ + random_.below(90) : 0,
                      !random_.one_in(5),
                      some_limit(),
                      some_limit(),
                      {}};
    if (random_.one_in(2)) rule.parent = random_.one_in(8) ? some_key() : some_parent();
    const auto set = frontier_->set_rule(key, rule);
    EXPECT_EQ(set.has_value(), model_.set_rule(key, rule));
    if (!set) {
      EXPECT_EQ(set.error().code, Errc::kInvalidArgument);
    }
  }
  /// The group of an item, or another one.
  std::string group_of(std::uint64_t id) {
    for (const auto& item : model_.items()) {
      if (item.id == id && !random_.one_in(8)) return item.group;
    }
    return some_key();
  }
  void remove(std::uint64_t id) {
    const std::string key = group_of(id);
    const auto count = must(frontier_->remove(std::vector<FrontierKey>{{key, id}, {key, id}}));
    EXPECT_EQ(count, model_.remove(key, id) ? 1U : 0U);
  }
  void update(std::uint64_t id) {
    const std::string key = group_of(id);
    FrontierUpdate to{{key, id}, static_cast<double>(random_.below(6)) - 3, 0, {}};
    if (random_.one_in(4)) to.not_before_ms = now_ + random_.below(later_ms_);
    if (random_.one_in(2)) to.body = "other";
    EXPECT_EQ(must(frontier_->update(std::vector{to})), model_.update(to) ? 1U : 0U);
  }
  std::uint64_t some_leased() {
    std::vector<std::uint64_t> leased;
    for (const auto& item : model_.items()) {
      if (item.until) leased.push_back(item.id);
    }
    last_leased_ = leased.empty() ? some_id() : leased[random_.below(leased.size())];
    return last_leased_;
  }
  void call() {
    switch (random_.below(5)) {
      case 0:
      case 1:
        return put();
      case 2:
      case 3:
        return take();
      default:
        return change();
    }
  }

  /// Compares the newest generation, as a reader finds it, with a model.
  static void expect_in_file(MemoryStore& store, const FrontierModel& model) {
    const auto snapshot = must(Snapshot::open(open_memory_storage(store.file(), OpenMode::kRead)));
    const auto view = must(FrontierView::open(snapshot, "f"));
    std::vector<FrontierModel::Item> items;
    const auto note = [&items](const FrontierEntry& entry) {
      items.push_back({entry.id, std::string(entry.group), entry.priority, std::string(entry.body),
                       entry.not_before_ms, entry.attempt, entry.until_ms});
      return true;
    };
    must(view.for_each_lease(note));
    EXPECT_EQ(items.size(), view.info().leased_count);
    std::uint64_t group_count = 0;
    view.for_each_group([&](const FrontierGroup& group) {
      must(view.for_each_waiting(group.key, note));
      const auto& expected = model.groups().at(group.key);
      EXPECT_EQ(expected.number, group_count++);
      EXPECT_EQ(group.soft_time_ms, expected.soft);
      EXPECT_EQ(group.hard_time_ms, expected.hard);
      EXPECT_EQ(group.failure_count, expected.failures);
      EXPECT_EQ(group.put_count, expected.put_count);
      EXPECT_EQ(group.finished_count, expected.finished_count);
      EXPECT_EQ(group.rule.value_or(options().default_rule), expected.rule);
      return true;
    });
    EXPECT_EQ(group_count, model.groups().size());
    EXPECT_EQ(view.info().group_count, group_count);
    EXPECT_EQ(view.info().clock_ms, model.clock());
    std::ranges::sort(items, {}, &FrontierModel::Item::id);
    EXPECT_EQ(items, model.items());
  }
  static std::size_t runs_by_time(MemoryStore& store) {
    const auto snapshot = must(Snapshot::open(open_memory_storage(store.file(), OpenMode::kRead)));
    container::Reader& reader = Inside::of(snapshot);
    std::size_t count = 0;
    reader.directory().for_each_segment([&](const format::SegmentEntry& segment) {
      if (segment.kind != SegmentKind::kFrontierItems) return;
      for (const format::RunRef& run : segment.runs) {
        const auto items = must(frontier::ItemRun::open(
            std::make_shared<const container::Run>(reader.run_reader(segment.id, run))));
        count += items->is_by_time() ? 1 : 0;
      }
    });
    return count;
  }
  std::optional<std::uint64_t> due_in_file() {
    must(store_->commit());
    const auto snapshot = must(Snapshot::open(open_memory_storage(store_.file(), OpenMode::kRead)));
    return must(FrontierView::open(snapshot, "f")).next_due_ms();
  }
  void expect_whole() {
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    const auto report = must(verify(*open_memory_storage(store_.file(), OpenMode::kRead), deep));
    for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding);
  }
  void reopen() {
    must(frontier_->close());
    frontier_.reset();
    store_.reopen();
    frontier_.emplace(must(Frontier::open(*store_, "f", options())));
  }

  SeededRandom random_;
  MemoryStore store_;
  std::optional<Frontier> frontier_;
  FrontierModel model_{options().default_rule};
  std::uint64_t now_ = kBegin;
  std::uint64_t later_ms_ = 300;
  std::uint64_t last_leased_ = 0;
  std::uint64_t refused_count_ = 0;
};

TEST_F(FrontierCalls, DoWhatTheModelDoes) {
  const int rounds = is_long() ? 20'000 : 1'500;
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    call();
    EXPECT_EQ(frontier_->waiting_count() + frontier_->leased_count(), model_.items().size());
    if (random_.one_in(10)) {
      must(store_->commit());
      expect_in_file(store_, model_);
    }
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
  const auto run_count = [this] {
    const auto snapshot = must(Snapshot::open(open_memory_storage(store_.file(), OpenMode::kRead)));
    for (const SegmentInfo& segment : snapshot.segments()) {
      if (segment.kind == SegmentKind::kFrontierItems) return segment.runs.size();
    }
    return std::size_t{0};
  };
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    for (int i = 0; i < 25; ++i) put();
    must(store_->commit());
    expect_in_file(store_, model_);
    for (int i = 0; i < 12; ++i) call();
    if (random_.one_in(5)) reopen();
    run_count_max = std::max(run_count_max, run_count());
  }
  expect_whole();
  EXPECT_GT(run_count_max, 3U);
  EXPECT_LE(run_count_max, 10U);
  for (const auto& [key, group] : model_.groups()) {
    must(frontier_->set_rule(key, {.delay_ms = 0, .hard_ms = 0, .in_flight_max = 1000}));
    model_.set_rule(key, {.delay_ms = 0, .hard_ms = 0, .in_flight_max = 1000});
  }
  while (run_count() != 0 && !HasFailure()) {
    now_ += 1000;
    const auto taken = must(frontier_->take({40, 10, 0, now_}));
    const auto expected = model_.take(40, 10, 0, now_);
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
  EXPECT_LE(run_count_max, 10U);
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

class OwnIds : public FrontierCalls {
 protected:
  OwnIds() : FrontierCalls(true) {}
};

/// Ids come again when they wait no more, as those of pages do.
TEST_F(OwnIds, AreThoseOfTheCaller) {
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    std::set<std::uint64_t> used;
    for (const auto& item : model_.items()) used.insert(item.id);
    std::vector<std::string> keys;
    std::vector<FrontierItem> items;
    for (int i = 0; i < 12; ++i) keys.push_back(some_key());
    for (const std::string& key : keys) {
      const std::uint64_t id = random_.below(500);
      if (!used.insert(id).second) continue;
      items.push_back({key, static_cast<double>(random_.below(50)), {}, 0, id});
    }
    must(frontier_->put(items));
    for (const FrontierItem& item : items) model_.put(item);
    take();
    change();
    change();
    if (random_.one_in(4)) must(store_->commit());
    if (random_.one_in(20)) reopen();
  }
  must(store_->commit());
  expect_in_file(store_, model_);
  expect_whole();
}

TEST_F(OwnIds, AreRefusedWhereTheyAreNotWanted) {
  const auto code = [](Frontier& frontier, const FrontierItem& item) {
    const auto put = frontier.put(std::vector{item});
    return put ? Errc{} : put.error().code;
  };
  EXPECT_EQ(code(*frontier_, {"a"}), Errc::kInvalidArgument);
  EXPECT_EQ(code(*frontier_, {"a", 0, {}, 0, std::uint64_t{1} << 63}), Errc::kInvalidArgument);
  EXPECT_EQ(code(*frontier_, {"a", 0, {}, 0, 7}), Errc{});
  EXPECT_EQ(must(frontier_->take({.now_ms = now_})).size(), 1U);
  EXPECT_EQ(code(*frontier_, {"a", 0, {}, 0, 7}), Errc::kInvalidArgument) << "it is leased";
  auto given = must(Frontier::open(*store_, "given", options()));
  EXPECT_EQ(code(given, {"a", 0, {}, 0, 7}), Errc::kInvalidArgument);
  must(given.put(std::vector<FrontierItem>{{"a"}}));
  must(given.close());
  auto own = options();
  own.has_own_ids = true;
  EXPECT_EQ(Frontier::open(*store_, "given", own).error().code, Errc::kInvalidArgument);
}

/// A caller that puts what waits gets it twice, and harms nothing else.
TEST_F(OwnIds, ThatWaitTwiceDoNoHarm) {
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = some_key();
      const std::uint64_t later = random_.one_in(4) ? now_ + random_.below(200) : 0;
      const FrontierItem item{key,
                              static_cast<double>(random_.below(4)),
                              {},
                              later,
                              random_.below(round % 2 == 0 ? 100 : 5)};
      (void)frontier_->put(std::vector{item});  // refused when its item was taken
    }
    now_ += 20;
    const auto taken = must(frontier_->take({10, 4, 100, now_}));
    std::set<std::uint64_t> ids;
    for (const TakenItem& item : taken) EXPECT_TRUE(ids.insert(item.id).second);
    if (!taken.empty()) must(frontier_->finish(std::vector{taken[0].id}, now_));
    if (taken.size() > 1) {
      must(frontier_->give_back(std::vector<GivenBack>{{taken[1].id, now_ + 30, true}}, now_));
    }
    must(frontier_->remove(std::vector<FrontierKey>{{some_key(), random_.below(100)}}));
    const std::string key = some_key();
    const FrontierUpdate to{{key, random_.below(5)}, 1, 0, {}};
    must(frontier_->update(std::vector{to}));
    if (random_.one_in(20)) reopen();
  }
  must(store_->commit());
  expect_whole();
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

}  // namespace
}  // namespace crawlstore::testing
