// SPDX-License-Identifier: Apache-2.0
//
// Random calls between two generations, and what they changed, beside a comparison of maps.
#include <deque>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <crawlstore/tools/frontier_diff.h>

#include "drum/memory_store.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kBegin = 1'000'000'000'000;  // before the wall clock

struct SeenItem {
  std::string group;
  double priority = 0;
  std::uint32_t attempt = 0;
  std::string body;
  std::uint64_t not_before = 0;
  std::optional<std::uint64_t> until;
  friend bool operator==(const SeenItem&, const SeenItem&) = default;
};
using SeenItems = std::multimap<std::string, SeenItem>;  // by group, and id or body

/// All that a reader finds.
struct Seen {
  SeenItems items;
  std::map<std::string, std::pair<std::optional<FrontierRule>, std::uint32_t>> groups;
};

SeenItem seen_item(const FrontierEntry& entry, std::uint64_t clock) {
  return {std::string(entry.group),
          entry.priority,
          entry.attempt,
          std::string(entry.body),
          entry.not_before_ms <= clock ? 0 : entry.not_before_ms,
          entry.until_ms};
}

std::string key_of(const FrontierEntry& entry, bool by_body) {
  const std::string known = by_body ? std::string(entry.body) : std::to_string(entry.id);
  return std::string(entry.group) + "/" + known;
}

Seen see(const Snapshot& snapshot, std::uint64_t clock, bool by_body) {
  const auto view = must(FrontierView::open(snapshot));
  Seen seen;
  const auto note = [&](const FrontierEntry& entry) {
    seen.items.emplace(key_of(entry, by_body), seen_item(entry, clock));
    return true;
  };
  must(view.for_each_lease(note));
  view.for_each_group([&](const FrontierGroup& group) {
    must(view.for_each_waiting(group.key, note));
    seen.groups[group.key] = {group.rule, group.failure_count};
    return true;
  });
  return seen;
}

/// The bytes of an empty store with another uuid than that of other tests.
std::vector<std::byte> make_other_store_image() {
  auto file = make_memory_file({}, std::uint64_t{1} << 28);
  const format::Identity identity = must(container::make_identity(kFixedTimeUs));
  must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), identity,
                                    kFixedTimeUs));
  return contents(*file);
}

using Changes = std::multiset<std::pair<std::string, std::string>>;  // of a key, with its name

/// Compares maps whose keys are unique in each.
Changes changes_between(const Seen& a, const Seen& b) {
  Changes changes;
  for (const auto& [key, item] : a.items) {
    const auto there = b.items.find(key);
    if (there == b.items.end()) {
      changes.emplace(key, "gone");
    } else if (item.until.has_value() != there->second.until.has_value()) {
      changes.emplace(key, item.until ? "returned" : "leased");
    } else if (item != there->second) {
      changes.emplace(key, "changed");
    }
  }
  for (const auto& [key, item] : b.items) {
    if (!a.items.contains(key)) changes.emplace(key, "added");
  }
  for (const auto& [key, group] : a.groups) {
    const auto there = b.groups.find(key);
    if (there == b.groups.end()) changes.emplace("group " + key, "gone");
    if (there != b.groups.end() && there->second != group) {
      changes.emplace("group " + key, "changed");
    }
  }
  for (const auto& [key, group] : b.groups) {
    if (!a.groups.contains(key)) changes.emplace("group " + key, "added");
  }
  return changes;
}

/// Compares, and checks all counts against what the sink was told.
Changes told_between(const Snapshot& older, const Snapshot& newer, FrontierDiff& found) {
  Changes told;
  FrontiersDiffSink sink;
  std::uint64_t differing = 0;
  sink.item = [&](const FrontierItemDiff& item) {
    const FrontierEntry& any = item.newer ? *item.newer : *item.older;
    const bool by_body = older.uuid() != newer.uuid();
    told.emplace(key_of(any, by_body), name_of(item.change));
    if (item.older && item.newer) {
      EXPECT_EQ(item.older->priority != item.newer->priority, item.fields.priority);
      EXPECT_EQ(item.older->body != item.newer->body, item.fields.body);
      EXPECT_EQ(item.older->attempt != item.newer->attempt, item.fields.attempt);
    }
    ++differing;
    return true;
  };
  std::uint64_t slowed = 0;
  const auto delay_of = [](const Snapshot& state, const FrontierGroup& group) {
    const FrontierRule rule = must(FrontierView::open(state)).info().default_rule;
    return group.rule.value_or(rule).delay_ms;
  };
  sink.group = [&](const FrontierGroupDiff& group) {
    const FrontierGroup& any = group.newer ? *group.newer : *group.older;
    told.emplace("group " + any.key, name_of(group.change));
    ++differing;
    if (group.older && group.newer &&
        (group.newer->failure_count > group.older->failure_count ||
         delay_of(newer, *group.newer) > delay_of(older, *group.older))) {
      ++slowed;
    }
  };
  const auto all = must(diff_frontiers(older, newer, sink));
  EXPECT_EQ(all.size(), 1U);
  found = all.front();
  EXPECT_EQ(found.slowed_group_count, slowed);
  EXPECT_EQ(differing, found.added_item_count + found.gone_item_count + found.leased_item_count +
                           found.returned_item_count + found.changed_item_count +
                           found.added_group_count + found.gone_group_count +
                           found.changed_group_count);
  EXPECT_EQ(found.differs(), differing != 0);
  return told;
}

/// A frontier that random calls change.
class ChangingFrontier {
 public:
  ChangingFrontier(MemoryStore& store, SeededRandom& random, bool has_own_ids = false)
      : store_(store), random_(random), has_own_ids_(has_own_ids) {
    open();
  }
  Snapshot snapshot() {
    must(store_->commit());
    return must(Snapshot::open(open_memory_storage(store_.file(), OpenMode::kRead)));
  }
  void call() {
    switch (random_.below(8)) {
      case 0:
      case 1:
        return put();
      case 2:
      case 3:
        return take();
      case 4:
        return (void)must(frontier_->finish(std::vector{some_id(), some_id()}, now_));
      case 5:
        return (void)must(frontier_->give_back(
            std::vector<GivenBack>{{some_id(), random_.one_in(2) ? now_ + 200 : 0, true}}, now_));
      case 6:
        return change();
      default:
        if (random_.one_in(20)) reopen();
        return (void)must(frontier_->extend(std::vector{some_id()}, now_ + 500, now_));
    }
  }
  void reopen() {
    must(frontier_->close());
    frontier_.reset();
    store_.reopen();
    open();
  }

 private:
  void open() {
    FrontierOptions options;
    options.default_rule = {.delay_ms = 20, .hard_ms = 5, .in_flight_max = 9};
    options.checkpoint_bytes = 2000;
    options.has_own_ids = has_own_ids_;
    frontier_.emplace(must(Frontier::open(*store_, Frontier::kDefaultName, options)));
  }
  std::string some_group() { return "host" + std::to_string(random_.below(9)); }
  std::uint64_t some_id() { return random_.below(next_id_ + 1); }
  FrontierKey some_key() {
    const std::uint64_t id = some_id();
    return {groups_[id], id};
  }
  void put() {
    std::vector<FrontierItem> items;
    const std::size_t count = 1 + random_.below(20);
    std::deque<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& body = texts.emplace_back("body " + std::to_string(put_count_++));
      const std::string& group = texts.emplace_back(some_group());
      items.push_back(
          {group, static_cast<double>(random_.below(9)), body,
           random_.one_in(3) ? now_ + random_.below(random_.one_in(2) ? 300 : 20'000) : 0,
           has_own_ids_ ? std::optional(next_id_ + i) : std::nullopt});
    }
    const std::uint64_t first = must(frontier_->put(items)).first_id;
    if (!has_own_ids_) next_id_ = first;
    for (const FrontierItem& item : items) groups_[next_id_++] = item.group;
  }
  void take() {
    now_ += random_.below(60);
    must(frontier_->take({1 + random_.below(9), 3, random_.one_in(3) ? 0 : 300U, now_}));
  }
  void change() {
    const FrontierKey item = some_key();
    if (random_.one_in(3)) return (void)must(frontier_->remove(std::vector{item}));
    if (random_.one_in(40)) return (void)must(frontier_->drop_group(item.group));
    if (random_.one_in(4)) {
      return must(frontier_->set_rule(some_group(), {.delay_ms = random_.below(20), .hard_ms = 0}));
    }
    FrontierUpdate to{item, static_cast<double>(random_.below(9)), 0, {}};
    const std::string other = "other " + std::to_string(item.id);
    if (random_.one_in(2)) to.body = other;
    must(frontier_->update(std::vector{to}));
  }

  MemoryStore& store_;
  SeededRandom& random_;
  bool has_own_ids_;
  std::optional<Frontier> frontier_;
  std::map<std::uint64_t, std::string> groups_;  // of each id
  std::uint64_t put_count_ = 0;
  std::uint64_t next_id_ = 0;
  std::uint64_t now_ = kBegin;
};

std::uint64_t clock_of(const Snapshot& older, const Snapshot& newer) {
  return std::max(must(FrontierView::list(older)).front().clock_ms,
                  must(FrontierView::list(newer)).front().clock_ms);
}

void expect_differences(ChangingFrontier& frontier, SeededRandom& random) {
  Snapshot older = frontier.snapshot();
  const int rounds = is_long() ? 600 : 60;
  std::size_t run_count_max = 0;
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    const std::size_t calls = random.one_in(4) ? 300 : random.below(30);
    for (std::size_t i = 0; i < calls; ++i) frontier.call();
    const Snapshot newer = frontier.snapshot();
    const std::uint64_t clock = clock_of(older, newer);
    const Seen a = see(older, clock, false);
    const Seen b = see(newer, clock, false);
    FrontierDiff found;
    EXPECT_EQ(told_between(older, newer, found), changes_between(a, b));
    EXPECT_FALSE(found.by_body);
    EXPECT_EQ(told_between(newer, older, found), changes_between(b, a));
    EXPECT_TRUE(told_between(newer, newer, found).empty());
    run_count_max = std::max(run_count_max, found.old_info.item_run_count);
    if (!random.one_in(3)) older = newer;
  }
  EXPECT_GT(run_count_max, 1U);
}

TEST(FrontierDiff, TellsWhatRandomCallsChanged) {
  SeededRandom random;
  MemoryStore store;
  ChangingFrontier frontier(store, random);
  expect_differences(frontier, random);
}

TEST(FrontierDiff, KnowsItemsByIdsOfTheCaller) {
  SeededRandom random;
  MemoryStore store;
  ChangingFrontier frontier(store, random, true);
  expect_differences(frontier, random);
}

/// A store with another uuid, whose frontier came by other calls.
TEST(FrontierDiff, KnowsItemsOfTwoStoresByTheirBodies) {
  SeededRandom random;
  MemoryStore store;
  MemoryStore other(make_other_store_image());
  ChangingFrontier a(store, random);
  ChangingFrontier b(other, random);
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 40; ++i) a.call();
    for (int i = 0; i < 40; ++i) b.call();
    const Snapshot older = a.snapshot();
    const Snapshot newer = b.snapshot();
    const std::uint64_t clock = clock_of(older, newer);
    FrontierDiff found;
    EXPECT_EQ(told_between(older, newer, found),
              changes_between(see(older, clock, true), see(newer, clock, true)));
    EXPECT_TRUE(found.by_body);
  }
}

}  // namespace
}  // namespace crawlstore::testing
