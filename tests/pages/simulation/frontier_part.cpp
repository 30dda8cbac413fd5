// SPDX-License-Identifier: Apache-2.0
#include "pages/simulation/frontier_part.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "drum/memory_store.h"

namespace crawlstore::testing::simulation {
namespace {

using Item = FrontierModel::Item;

constexpr std::uint64_t kGroups = 5;

std::string some_key(Random& random) {
  return "host" + std::to_string(random.below(kGroups));
}

double some_priority(Random& random) {
  return static_cast<double>(random.below(6)) - 3;
}

/// At once as a rule, or within a time that some calls take.
std::uint64_t some_time(Random& random, const FrontierModel& frontier) {
  return random.below(4) == 0 ? frontier.clock() + random.below(300) : 0;
}

/// Items that wait or are leased, and one now and then that does neither, with other values.
std::vector<Item> some_items(Random& random, const FrontierModel& frontier, bool is_leased) {
  std::vector<Item> known = frontier.items();
  std::erase_if(known, [=](const Item& item) { return item.until.has_value() != is_leased; });
  std::vector<Item> items;
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
    Item item{random.below(frontier.next_id() + 2), some_key(random), 0, {}, 0, 0, {}};
    if (!known.empty() && random.below(8) != 0) item = known[random.below(known.size())];
    item.priority = some_priority(random);
    item.not_before = some_time(random, frontier);
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<Item> new_items(Random& random, const FrontierModel& frontier) {
  std::vector<Item> items;
  for (std::uint64_t left = random.below(6); left > 0; --left) {
    const auto letter = static_cast<char>('a' + random.below(26));
    items.push_back({0,
                     some_key(random),
                     some_priority(random),
                     std::string(random.below(200), letter),
                     some_time(random, frontier),
                     0,
                     {}});
  }
  return items;
}

FrontierRule some_rule(Random& random, const FrontierModel& frontier) {
  FrontierRule rule;
  rule.delay_ms = random.below(60);
  rule.hard_ms = rule.delay_ms / 2;
  rule.burst = static_cast<std::uint32_t>(1 + random.below(3));
  rule.in_flight_max = static_cast<std::uint32_t>(1 + random.below(4));
  rule.blocked_until_ms = some_time(random, frontier);
  rule.is_active = random.below(5) != 0;
  return rule;
}

std::vector<std::uint64_t> ids_of(const std::vector<Item>& items) {
  std::vector<std::uint64_t> ids;
  for (const Item& item : items) ids.push_back(item.id);
  return ids;
}

FrontierUpdate update_of(const Item& item) {
  FrontierUpdate to{{item.group, item.id}, item.priority, item.not_before, {}};
  if (item.id % 2 == 0) to.body = item.group;
  return to;
}

/// Leases of distinct items at the time of a call.
std::uint64_t leased_count(const std::vector<Item>& items, FrontierModel& frontier,
                           std::uint64_t now) {
  frontier.set_clock(now);
  std::uint64_t count = 0;
  for (const Item& known : frontier.items()) {
    count += known.until && std::ranges::find(items, known.id, &Item::id) != items.end();
  }
  return count;
}

template <class Number>
void append(std::string& bytes, const Number& number) {
  const auto view = std::as_bytes(std::span(&number, 1));
  bytes.append(reinterpret_cast<const char*>(view.data()), view.size());
}

void append_text(std::string& bytes, std::string_view text) {
  append(bytes, text.size());
  bytes += text;
}

/// A group as views and the model know it.
template <class Group>
void append_group(std::string& bytes, const Group& group, const FrontierRule& rule) {
  for (const std::uint64_t number :
       {group.soft_time_ms, group.hard_time_ms, std::uint64_t{group.failure_count},
        group.waiting_count, group.later_count, group.leased_count, group.put_count,
        group.finished_count, rule.delay_ms, rule.hard_ms, std::uint64_t{rule.burst},
        std::uint64_t{rule.in_flight_max}, rule.blocked_until_ms, std::uint64_t{rule.is_active}}) {
    append(bytes, number);
  }
  append_text(bytes, group.key);
}

void append_item(std::string& bytes, const Item& item) {
  append(bytes, item.id);
  append(bytes, item.priority);
  append(bytes, item.not_before);
  append(bytes, item.attempt);
  append(bytes, item.until.value_or(~std::uint64_t{0}));
  append_text(bytes, item.group);
  append_text(bytes, item.body);
}

/// Items, in the order of their ids.
void append_items(std::string& bytes, std::vector<Item> items) {
  std::ranges::sort(items, {}, &Item::id);
  append(bytes, items.size());
  for (const Item& item : items) append_item(bytes, item);
}

void expect_taken(const std::vector<TakenItem>& taken, const std::vector<Item>& expected) {
  ASSERT_EQ(taken.size(), expected.size()) << "another number of items leaves the frontier";
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i].id, expected[i].id) << "another item leaves the frontier";
    EXPECT_EQ(taken[i].group, expected[i].group);
    EXPECT_EQ(taken[i].priority, expected[i].priority);
    EXPECT_EQ(taken[i].attempt, expected[i].attempt);
    EXPECT_EQ(taken[i].body, expected[i].body);
  }
}

Result<std::uint64_t> put(const std::vector<Item>& items, Frontier& frontier) {
  std::vector<FrontierItem> put;
  for (const Item& item : items) {
    put.push_back({item.group, item.priority, item.body, item.not_before, {}});
  }
  CRAWLSTORE_TRY(const auto done, frontier.put(put));
  return done.first_id;
}

Result<std::uint64_t> give_back(const FrontierChange& change, Frontier& frontier) {
  std::vector<GivenBack> items;
  for (const Item& item : change.items) {
    items.push_back({item.id, item.not_before, change.is_failure});
  }
  CRAWLSTORE_TRY(const auto done, frontier.give_back(items, change.now_ms));
  return done.done_count;
}

/// Carries out a call, and returns the number that tells what became of its items.
Result<std::uint64_t> result_of(const FrontierChange& change, Frontier& frontier) {
  using enum FrontierChange::Kind;
  switch (change.kind) {
    case kPut:
      return put(change.items, frontier);
    case kTake: {
      CRAWLSTORE_TRY(const auto taken, frontier.take(change.take));
      expect_taken(taken, change.taken);
      return taken.size();
    }
    case kFinish: {
      CRAWLSTORE_TRY(const auto done, frontier.finish(ids_of(change.items), change.now_ms));
      return done.done_count + done.late_count;
    }
    case kGiveBack:
      return give_back(change, frontier);
    case kExtend: {
      const std::uint64_t until = change.now_ms + change.until_ms;
      CRAWLSTORE_TRY(const auto done, frontier.extend(ids_of(change.items), until, change.now_ms));
      return done.done_count;
    }
    case kSetRule:
      CRAWLSTORE_TRY(frontier.set_rule(change.items[0].group, change.rule));
      return change.result;
    case kRemove: {
      std::vector<FrontierKey> keys;
      for (const Item& item : change.items) keys.push_back({item.group, item.id});
      return frontier.remove(keys);
    }
    case kUpdate: {
      std::vector<FrontierUpdate> updates;
      for (const Item& item : change.items) updates.push_back(update_of(item));
      return frontier.update(updates);
    }
    case kDropGroup:
      return frontier.drop_group(change.items[0].group);
  }
  return change.result;
}

}  // namespace

FrontierOptions frontier_options() {
  FrontierOptions options;
  options.default_rule = {.delay_ms = 30, .hard_ms = 10, .in_flight_max = 4};
  options.checkpoint_bytes = 1000;
  return options;
}

FrontierChange random_frontier_change(Random& random, const FrontierModel& frontier) {
  using enum FrontierChange::Kind;
  static constexpr std::array kKinds = {kPut,    kPut,    kPut,    kPut,      kPut,     kPut,
                                        kFinish, kFinish, kFinish, kGiveBack, kExtend,  kRemove,
                                        kRemove, kUpdate, kUpdate, kUpdate,   kSetRule, kDropGroup};
  FrontierChange change;
  change.kind = kKinds[random.below(kKinds.size())];
  change.later_ms = random.below(20);
  change.until_ms = 1 + random.below(500);
  change.is_failure = random.below(2) == 0;
  if (change.kind == kPut) {
    change.items = new_items(random, frontier);
    return change;
  }
  if (change.kind == kSetRule) change.rule = some_rule(random, frontier);
  const bool waits = change.kind == kRemove || change.kind == kUpdate;
  change.items = some_items(random, frontier, !waits);
  if (change.kind == kDropGroup && random.below(2) != 0) change.items[0].group = "nobody";
  return change;
}

FrontierChange random_take(Random& random) {
  FrontierChange change;
  change.kind = FrontierChange::Kind::kTake;
  change.later_ms = random.below(80);
  change.take.count = random.below(12);
  change.take.per_group = static_cast<std::uint32_t>(1 + random.below(4));
  change.take.lease_ms = random.below(5) == 0 ? 0 : 1 + random.below(150);
  return change;
}

void apply(FrontierChange& change, FrontierModel& frontier) {
  using enum FrontierChange::Kind;
  const std::uint64_t now = change.now_ms = frontier.clock() + change.later_ms;
  const std::size_t before = frontier.items().size();
  change.result = 0;
  switch (change.kind) {
    case kPut:
      change.result = frontier.next_id();
      for (const Item& item : change.items) {
        frontier.put({item.group, item.priority, item.body, item.not_before, {}});
      }
      return;
    case kTake:
      change.take.now_ms = now;
      change.taken = frontier.take(change.take);
      change.result = change.taken.size();
      return;
    case kFinish:
      frontier.set_clock(now);
      for (const Item& item : change.items) frontier.finish(item.id, now);
      change.result = before - frontier.items().size();
      return;
    case kGiveBack:
      change.result = leased_count(change.items, frontier, now);
      for (const Item& item : change.items) {
        frontier.give_back({item.id, item.not_before, change.is_failure}, now);
      }
      return;
    case kExtend: {
      change.result = 0;
      frontier.set_clock(now);
      const std::vector<Item> known = frontier.items();
      for (const Item& item : change.items) {
        const auto found = std::ranges::find(known, item.id, &Item::id);
        change.result += found != known.end() && found->until;
        frontier.extend(item.id, now + change.until_ms, now);
      }
      return;
    }
    case kSetRule:
      frontier.set_rule(change.items[0].group, change.rule);
      return;
    case kRemove:
      for (const Item& item : change.items) frontier.remove(item.group, item.id);
      change.result = before - frontier.items().size();
      return;
    case kUpdate:
      for (const Item& item : change.items) change.result += frontier.update(update_of(item));
      return;
    case kDropGroup:
      frontier.drop_group(change.items[0].group);
      change.result = before - frontier.items().size();
      return;
  }
}

Result<void> call(const FrontierChange& change, Frontier& frontier) {
  CRAWLSTORE_TRY(const std::uint64_t result, result_of(change, frontier));
  EXPECT_EQ(result, change.result) << "call of the frontier " << static_cast<int>(change.kind);
  return {};
}

std::string bytes_of(const FrontierModel& frontier) {
  std::vector<std::pair<std::string, FrontierModel::Group>> groups(frontier.groups().begin(),
                                                                   frontier.groups().end());
  std::ranges::sort(groups, {}, [](const auto& group) { return group.second.number; });
  std::vector<Item> leases;
  std::vector<Item> later;
  for (Item& item : frontier.items()) {
    if (item.until) {
      leases.push_back(std::move(item));
    } else if (item.not_before != 0) {
      later.push_back(std::move(item));
    }
  }
  const auto count = [](const std::vector<Item>& items, const std::string& key) {
    return static_cast<std::uint64_t>(std::ranges::count(items, key, &Item::group));
  };
  std::string bytes;
  append(bytes, frontier.clock());
  for (const auto& [key, group] : groups) {
    const auto due = frontier.due(key);
    const FrontierGroup shown{key,
                              due.size(),
                              count(later, key),
                              count(leases, key),
                              group.put_count,
                              group.finished_count,
                              group.soft,
                              group.hard,
                              group.failures,
                              {}};
    append_group(bytes, shown, group.rule);
    for (const Item& item : due) append_item(bytes, item);
  }
  append_items(bytes, std::move(leases));
  append_items(bytes, std::move(later));
  return bytes;
}

std::string frontier_of(const Snapshot& snapshot) {
  const FrontierView view = must(FrontierView::open(snapshot));
  std::string bytes;
  append(bytes, view.info().clock_ms);
  std::vector<Item> items;
  const auto note = [&items](const FrontierEntry& entry) {
    items.push_back({entry.id, std::string(entry.group), entry.priority, std::string(entry.body),
                     entry.not_before_ms, entry.attempt, entry.until_ms});
    return true;
  };
  view.for_each_group([&](const FrontierGroup& group) {
    append_group(bytes, group, group.rule.value_or(view.info().default_rule));
    items.clear();
    must(view.for_each_waiting(group.key, note));
    for (const Item& item : items) {
      if (item.not_before == 0) append_item(bytes, item);
    }
    return true;
  });
  for (const bool leased : {true, false}) {
    items.clear();
    must(leased ? view.for_each_lease(note) : view.for_each_later(note));
    append_items(bytes, std::move(items));
  }
  return bytes;
}

ItemRuns item_runs_of(const Snapshot& snapshot) {
  ItemRuns runs{must(FrontierView::list(snapshot)).at(0).step_count, 0};
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind == SegmentKind::kFrontierItems) runs.count = segment.runs.size();
  }
  return runs;
}

}  // namespace crawlstore::testing::simulation
