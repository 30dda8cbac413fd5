// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A frontier as its header describes it: one list of items that is looked through at each call.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <crawlstore/frontier_view.h>

namespace crawlstore::testing {

class FrontierModel {
 public:
  struct Item {
    std::uint64_t id = 0;
    std::string group;
    double priority = 0;
    std::string body;
    std::uint64_t not_before = 0;
    std::uint32_t attempt = 0;
    std::optional<std::uint64_t> until;  // of one that is leased; 0: for ever
    friend bool operator==(const Item&, const Item&) = default;
  };
  struct Group {
    std::uint64_t number = 0;
    FrontierRule rule;
    std::uint64_t soft = 0;
    std::uint64_t hard = 0;
    std::uint32_t failures = 0;
    std::uint64_t put_count = 0;
    std::uint64_t finished_count = 0;
    bool has_own_rule = false;
  };

  explicit FrontierModel(const FrontierRule& rule) : rule_(rule) {}

  void set_default_rule(const FrontierRule& rule) {
    rule_ = rule;
    for (auto& [key, of] : groups_) {
      if (!of.has_own_rule) of.rule = rule;
    }
  }
  /// Returns false if a limit of the group refuses it.
  bool put(const FrontierItem& item) {
    const auto known = groups_.find(std::string(item.group));
    const Group of = known == groups_.end() ? Group{0, rule_} : known->second;
    if (of.put_count >= of.rule.put_max.value_or(UINT32_MAX)) return false;
    if (of.finished_count >= of.rule.finished_max.value_or(UINT32_MAX)) return false;
    ++group(std::string(item.group)).put_count;
    const std::uint64_t id = item.id.value_or(next_id_);
    next_id_ = std::max(next_id_, id + 1);
    items_.push_back({id,
                      std::string(item.group),
                      item.priority,
                      std::string(item.body),
                      item.not_before_ms <= clock_ ? 0 : item.not_before_ms,
                      0,
                      {}});
    return true;
  }
  /// The time is given.
  std::vector<Item> take(const TakeOptions& options) {
    const auto& [count, per_group, lease_ms, now, order, only, groups_max, in_flight_max] = options;
    const std::uint64_t begin = std::max(clock_, now.value());
    std::vector<Item> taken;
    if (count == 0 || groups_max == 0 || !is_due(begin)) return taken;
    set_clock(*now);
    std::set<std::string> visited;
    for (std::size_t left = groups_max; left != 0 && taken.size() < count;) {
      const auto key = next_group(visited, order, only);
      if (!key) break;
      visited.insert(*key);
      Group& of = group(*key);
      auto due = due_of(*key);
      const std::size_t leased = leased_count(*key);
      std::size_t more = of.rule.in_flight_max - leased;
      more = std::min(more, in_flight_max - std::min<std::size_t>(in_flight_max, leased));
      if (of.rule.parent) {
        more = std::min(more,
                        group(*of.rule.parent).rule.in_flight_max - leased_count(*of.rule.parent));
      }
      due.resize(std::min({due.size(), count - taken.size(), std::size_t{per_group}, more}));
      if (due.empty()) continue;
      --left;
      for (Item* item : due) {
        item->until = lease_ms == 0 ? 0 : clock_ + lease_ms;
        ++item->attempt;
        item->not_before = 0;
        taken.push_back(*item);
      }
      charge(of);
      if (of.rule.parent) charge(group(*of.rule.parent));
    }
    return taken;
  }
  void finish(std::uint64_t id, std::uint64_t now) {
    set_clock(now);
    std::erase_if(items_, [&](const Item& item) {
      if (item.id != id || item.attempt == 0) return false;
      group(item.group).failures = 0;
      ++group(item.group).finished_count;
      return true;
    });
  }
  void give_back(const GivenBack& back, std::uint64_t now) {
    set_clock(now);
    Item* const item = find(back.id);
    if (item == nullptr || !item->until) return;
    item->until.reset();
    item->not_before = back.not_before_ms <= clock_ ? 0 : back.not_before_ms;
    if (!back.is_failure) return;
    Group& of = group(item->group);
    of.failures = std::min(of.failures + 1, 6U);
    of.soft = std::max(of.soft, clock_ + (of.rule.delay_ms << of.failures));
    of.hard = std::max(of.hard, clock_ + (of.rule.hard_ms << of.failures));
  }
  /// Returns whether it waited in this group.
  bool remove(const std::string& key, std::uint64_t id) {
    return std::erase_if(items_, [&](const Item& item) {
             return item.id == id && item.group == key && !item.until;
           }) != 0;
  }
  bool update(const FrontierUpdate& to) {
    Item* const item = find(to.item.id);
    if (item == nullptr || item->until || item->group != to.item.group) return false;
    item->priority = to.priority;
    item->not_before = to.not_before_ms <= clock_ ? 0 : to.not_before_ms;
    if (to.body) item->body = *to.body;
    return true;
  }
  /// Other priorities for what waits and was never taken; nothing: the item goes.
  template <class PriorityOf>
  void rewrite(const PriorityOf& priority_of) {
    std::erase_if(items_, [&](Item& item) {
      if (item.attempt != 0) return false;
      const std::optional<double> priority = priority_of(item.group, item.id, item.priority);
      if (priority) item.priority = *priority;
      return !priority;
    });
  }
  void extend(std::uint64_t id, std::uint64_t until, std::uint64_t now) {
    set_clock(now);
    Item* const item = find(id);
    if (item == nullptr || !item->until) return;
    item->until = until;
    if (until != 0 && until <= clock_) item->until.reset();
  }
  /// Returns false if the parent cannot be one.
  bool set_rule(const std::string& key, const FrontierRule& rule) {
    if (rule.parent) {
      const auto parent = groups_.find(*rule.parent);
      if (*rule.parent == key) return false;
      if (parent != groups_.end() && parent->second.rule.parent) return false;
      for (const auto& [other, of] : groups_) {
        if (of.rule.parent == key) return false;
      }
    }
    group(key);
    if (rule.parent) group(*rule.parent);
    group(key).rule = rule;
    group(key).has_own_rule = true;
    return true;
  }
  void drop_group(const std::string& key) {
    std::erase_if(items_, [&](const Item& item) { return item.group == key && !item.until; });
  }
  void set_clock(std::uint64_t now) {
    clock_ = std::max(clock_, now);
    for (Item& item : items_) {
      if (item.until && *item.until != 0 && *item.until <= clock_) item.until.reset();
      if (item.not_before <= clock_) item.not_before = 0;
    }
  }

  [[nodiscard]] std::vector<Item> items() const {
    auto items = items_;
    std::ranges::sort(items, {}, &Item::id);
    return items;
  }
  /// Items of a group that may be taken, the first to leave first.
  [[nodiscard]] std::vector<Item> due(const std::string& key) const {
    std::vector<Item> due;
    for (const Item& item : items_) {
      if (item.group == key && !item.until && item.not_before <= clock_) due.push_back(item);
    }
    std::ranges::sort(due, leaves_before);
    return due;
  }
  [[nodiscard]] std::size_t waiting_count() const { return items_.size() - leased_count(); }
  [[nodiscard]] std::size_t leased_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(items_, [](const Item& item) { return item.until.has_value(); }));
  }
  [[nodiscard]] const std::map<std::string, Group>& groups() const { return groups_; }
  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  [[nodiscard]] std::uint64_t next_id() const { return next_id_; }

 private:
  static bool leaves_before(const Item& a, const Item& b) {
    return std::tuple(a.attempt == 0, -a.priority, a.id) <
           std::tuple(b.attempt == 0, -b.priority, b.id);
  }
  Group& group(const std::string& key) {
    return groups_.try_emplace(key, Group{groups_.size(), rule_}).first->second;
  }
  Item* find(std::uint64_t id) {
    const auto found = std::ranges::find(items_, id, &Item::id);
    return found == items_.end() ? nullptr : &*found;
  }
  void charge(Group& of) const {
    const auto next = [&](std::uint64_t time, std::uint64_t ms) {
      const std::uint64_t interval = ms << of.failures;
      return std::min(std::max(clock_, time) + interval, clock_ + of.rule.burst * interval);
    };
    of.soft = next(of.soft, of.rule.delay_ms);
    of.hard = next(of.hard, of.rule.hard_ms);
  }
  /// Items of a group and of those whose parent it is.
  [[nodiscard]] std::size_t leased_count(const std::string& key) const {
    return static_cast<std::size_t>(std::ranges::count_if(items_, [&](const Item& item) {
      return item.until && (item.group == key || groups_.at(item.group).rule.parent == key);
    }));
  }
  /// Items of a group that may be taken, the first to leave first.
  std::vector<Item*> due_of(const std::string& key) {
    std::vector<Item*> due;
    for (Item& item : items_) {
      if (item.group == key && !item.until && item.not_before <= clock_) due.push_back(&item);
    }
    std::ranges::sort(due, [](const Item* a, const Item* b) { return leaves_before(*a, *b); });
    return due;
  }
  [[nodiscard]] static std::uint64_t from(std::uint64_t next, std::uint64_t interval,
                                          const Group& of) {
    const std::uint64_t early = (of.rule.burst - 1) * (interval << of.failures);
    return std::max(of.rule.blocked_until_ms, next - std::min(next, early));
  }
  [[nodiscard]] bool has_room(const std::string& key) const {
    const FrontierRule& rule = groups_.at(key).rule;
    return rule.is_active && leased_count(key) < rule.in_flight_max;
  }
  /// The group to visit: by its best item or its time, or else by its hard time.
  std::optional<std::string> next_group(const std::set<std::string>& visited, TakeOrder order,
                                        std::optional<std::string_view> only = {}) {
    std::optional<std::tuple<double, std::uint64_t, std::string>> ready;
    std::optional<std::tuple<std::uint64_t, std::uint64_t, std::string>> longest;
    std::optional<std::tuple<std::uint64_t, std::uint64_t, std::string>> early;
    for (const auto& [key, of] : groups_) {
      const auto due = due_of(key);
      if (only.value_or(key) != key) continue;
      if (visited.contains(key) || due.empty() || !has_room(key)) continue;
      if (of.rule.parent && !has_room(*of.rule.parent)) continue;
      const std::tuple best(-due.front()->priority, due.front()->id, key);
      const Group& above = of.rule.parent ? groups_.at(*of.rule.parent) : of;
      const std::uint64_t hard =
          std::max(from(of.hard, of.rule.hard_ms, of), from(above.hard, above.rule.hard_ms, above));
      const std::uint64_t soft = std::max({hard, from(of.soft, of.rule.delay_ms, of),
                                           from(above.soft, above.rule.delay_ms, above)});
      if (soft <= clock_) {
        const std::tuple here(soft, of.number, key);
        if (!longest || here < *longest) longest = here;
        if (!ready || best < *ready) ready = best;
      } else if (hard <= clock_ && (!early || std::tuple(hard, of.number, key) < *early)) {
        early.emplace(hard, of.number, key);
      }
    }
    if (longest && order == TakeOrder::kLongestWaiting) return std::get<2>(*longest);
    if (ready) return std::get<2>(*ready);
    if (early) return std::get<2>(*early);
    return std::nullopt;
  }
  /// Whether something may have changed by this time: a lease ends, or an item comes due.
  bool is_due(std::uint64_t now) {
    FrontierModel later = *this;
    for (const Item& item : items_) {
      if (item.until && *item.until != 0 && *item.until <= now) return true;
      if (!item.until && item.not_before != 0 && item.not_before <= now) return true;
    }
    later.set_clock(now);
    return later.next_group({}, TakeOrder::kBest).has_value();
  }

  FrontierRule rule_;
  std::vector<Item> items_;
  std::map<std::string, Group> groups_;
  std::uint64_t clock_ = 0;
  std::uint64_t next_id_ = 0;
};

}  // namespace crawlstore::testing
