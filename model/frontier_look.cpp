// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_look.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/frontier_rule.h"

namespace crawlstore::model {
namespace {

/// Counts those of ascending times that lie in ]after_ms, until_ms].
std::uint64_t count_between(const std::vector<std::uint64_t>& times, std::uint64_t after_ms,
                            std::uint64_t until_ms) {
  const auto first = std::ranges::upper_bound(times, after_ms);
  const auto last = std::upper_bound(first, times.end(), until_ms);
  return static_cast<std::uint64_t>(last - first);
}

class GroupRows final : public TableSource {
 public:
  GroupRows(std::shared_ptr<const FrontierLook> look, std::uint64_t now_ms, bool is_in_memory)
      : look_(std::move(look)), now_ms_(now_ms), is_in_memory_(is_in_memory) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override { return look_->groups.size(); }
  [[nodiscard]] Result<std::vector<Row>> rows(std::uint64_t first,
                                              std::size_t count_max) const override {
    std::vector<Row> rows;
    for (std::uint64_t i = first; i < row_count() && rows.size() < count_max; ++i) {
      rows.push_back(row_of(look_->groups[i]));
    }
    return rows;
  }
  [[nodiscard]] bool is_in_memory() const override { return is_in_memory_; }

 private:
  [[nodiscard]] Row row_of(const GroupState& state) const {
    const FrontierGroup& group = state.group;
    const FrontierRule& rule = look_->info.default_rule;
    return {group.key,
            group.waiting_count,
            group.later_count,
            group.leased_count,
            due_cell(state, rule, now_ms_),
            why_not_now(state, rule, now_ms_),
            std::uint64_t{group.failure_count},
            group.rule ? Cell(format_rule(*group.rule)) : Cell()};
  }

  std::shared_ptr<const FrontierLook> look_;
  std::uint64_t now_ms_;
  bool is_in_memory_;
  std::string name_ = "groups";
  std::vector<Column> columns_{{"group", Unit::kText},
                               {"waiting_count", Unit::kCount},
                               {"later_count", Unit::kCount},
                               {"leased_count", Unit::kCount},
                               {"due_in_seconds", Unit::kFromNow},
                               {"why", Unit::kText},
                               {"failure_count", Unit::kCount},
                               {"rule", Unit::kText}};
};

class RowsFromNow final : public TableSource {
 public:
  RowsFromNow(std::shared_ptr<const TableSource> rows, const FromNow& names, std::uint64_t now_ms)
      : rows_(std::move(rows)), columns_(rows_->columns()), now_ms_(now_ms) {
    const auto time = std::ranges::find(columns_, names.time_us, &Column::name);
    at_ = static_cast<std::size_t>(time - columns_.begin());
    columns_.insert(time, {std::string(names.name), Unit::kFromNow});
  }

  [[nodiscard]] const std::string& name() const override { return rows_->name(); }
  [[nodiscard]] const std::vector<Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override { return rows_->row_count(); }
  [[nodiscard]] Result<std::vector<Row>> rows(std::uint64_t first,
                                              std::size_t count_max) const override {
    CRAWLSTORE_TRY(auto rows, rows_->rows(first, count_max));
    for (Row& row : rows) {
      Cell from_now;
      if (at_ < row.size()) {
        if (const auto* time_us = std::get_if<std::int64_t>(&row[at_])) {
          from_now = seconds_from(now_ms_, static_cast<std::uint64_t>(*time_us / 1000));
        }
      }
      row.insert(row.begin() + static_cast<std::ptrdiff_t>(std::min(at_, row.size())), from_now);
    }
    return rows;
  }
  [[nodiscard]] bool is_in_memory() const override { return rows_->is_in_memory(); }

 private:
  std::shared_ptr<const TableSource> rows_;
  std::vector<Column> columns_;
  std::size_t at_ = 0;
  std::uint64_t now_ms_;
};

/// Keys of parents, each looked up once. Texts that are asked for need not stay.
class ParentKeys {
 public:
  explicit ParentKeys(const FrontierView& frontier) : frontier_(frontier) {}

  /// Returns the key of the parent of a group; nothing if it has none.
  const std::optional<std::string>& of(std::string_view key) {
    const auto [found, is_new] = keys_.try_emplace(std::string(key));
    if (!is_new) return found->second;
    const auto group = frontier_.group(key);
    if (group && group->rule) found->second = group->rule->parent;
    return found->second;
  }

 private:
  const FrontierView& frontier_;
  std::unordered_map<std::string, std::optional<std::string>> keys_;
};

void sort_by_due(FrontierLook& look) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  order.reserve(look.groups.size());
  for (std::size_t i = 0; i < look.groups.size(); ++i) {
    const auto due = due_ms(look.groups[i], look.info.default_rule);
    if (due) look.due_ms.push_back(*due);
    order.emplace_back(due.value_or(UINT64_MAX), i);
  }
  std::ranges::sort(look.due_ms);
  std::ranges::sort(order, [&look](const auto& a, const auto& b) {
    return std::tie(a.first, look.groups[a.second].group.key) <
           std::tie(b.first, look.groups[b.second].group.key);
  });
  std::vector<GroupState> sorted;
  sorted.reserve(order.size());
  for (const auto& [due, i] : order) sorted.push_back(std::move(look.groups[i]));
  look.groups = std::move(sorted);
}

/// The key of the parent of a group; nullptr: it has none.
const std::string* parent_key(const FrontierGroup& group) {
  return group.rule && group.rule->parent ? &*group.rule->parent : nullptr;
}

/// Notes a lease of an item of the group.
void note_own_lease(GroupState& state, std::uint64_t until_ms) {
  state.lease_ends_ms.push_back(until_ms);
  if (until_ms != 0 && !state.first_return_ms) state.first_return_ms = until_ms;
}

using GroupsByKey = std::unordered_map<std::string_view, GroupState*>;

/// Gives all children the state of their parent, which one reads of many.
void set_parents(std::vector<GroupState>& groups, const GroupsByKey& by_key) {
  std::unordered_map<std::string_view, std::shared_ptr<const ParentState>> parents;
  for (GroupState& state : groups) {
    const std::string* const key = parent_key(state.group);
    const auto found = key == nullptr ? by_key.end() : by_key.find(*key);
    if (found == by_key.end()) continue;
    auto& parent = parents[found->first];
    if (parent == nullptr) {
      const GroupState& of = *found->second;
      parent = std::make_shared<const ParentState>(ParentState{of.group, of.lease_ends_ms});
    }
    state.parent = parent;
  }
}

}  // namespace

const GroupState* FrontierLook::find(std::string_view key) const {
  const auto found = std::ranges::find_if(
      groups, [key](const GroupState& state) { return state.group.key == key; });
  return found == groups.end() ? nullptr : &*found;
}

Result<FrontierLook> look_at(const FrontierView& frontier) {
  CRAWLSTORE_TRY(auto look, read_look(frontier));
  sort_by_due(look);
  return look;
}

Result<FrontierLook> read_look(const FrontierView& frontier) {
  FrontierLook look;
  look.info = frontier.info();
  look.next_due_ms = frontier.next_due_ms();
  look.groups.reserve(static_cast<std::size_t>(look.info.group_count));
  frontier.for_each_group([&look](const FrontierGroup& group) {
    look.groups.push_back({group});
    return true;
  });
  GroupsByKey by_key;
  by_key.reserve(look.groups.size());
  for (GroupState& state : look.groups) by_key.emplace(state.group.key, &state);
  CRAWLSTORE_TRY(frontier.for_each_later([&](const FrontierEntry& entry) {
    look.later_ms.push_back(entry.not_before_ms);
    const auto found = by_key.find(entry.group);
    if (found != by_key.end() && !found->second->first_later_ms) {
      found->second->first_later_ms = entry.not_before_ms;
    }
    return true;
  }));
  CRAWLSTORE_TRY(frontier.for_each_lease([&](const FrontierEntry& entry) {
    const std::uint64_t until_ms = entry.until_ms.value_or(0);
    if (until_ms != 0) {
      look.lease_ends_ms.push_back(until_ms);
    } else {
      ++look.endless_count;
    }
    const auto found = by_key.find(entry.group);
    if (found == by_key.end()) return true;
    note_own_lease(*found->second, until_ms);
    const std::string* const parent = parent_key(found->second->group);
    const auto above = parent == nullptr ? by_key.end() : by_key.find(*parent);
    if (above != by_key.end()) above->second->lease_ends_ms.push_back(until_ms);
    return true;
  }));
  set_parents(look.groups, by_key);
  return look;
}

Result<std::optional<GroupState>> group_state(const FrontierView& frontier, std::string_view key) {
  auto group = frontier.group(key);
  if (!group) return std::optional<GroupState>();
  GroupState state{std::move(*group)};
  const auto parent = std::make_shared<ParentState>();
  if (const std::string* const above = parent_key(state.group)) {
    if (auto found = frontier.group(*above)) {
      parent->group = std::move(*found);
      state.parent = parent;
    }
  }
  ParentKeys parents(frontier);
  CRAWLSTORE_TRY(frontier.for_each_lease([&](const FrontierEntry& entry) {
    const std::uint64_t until_ms = entry.until_ms.value_or(0);
    const std::optional<std::string>& above = parents.of(entry.group);
    if (entry.group == key) {
      note_own_lease(state, until_ms);
    } else if (above == key) {
      state.lease_ends_ms.push_back(until_ms);
    }
    const std::string& shared = parent->group.key;
    if (state.parent && (entry.group == shared || above == shared)) {
      parent->lease_ends_ms.push_back(until_ms);
    }
    return true;
  }));
  if (state.group.later_count > 0) {
    CRAWLSTORE_TRY(frontier.for_each_later([&](const FrontierEntry& entry) {
      if (entry.group == key) state.first_later_ms = entry.not_before_ms;
      return !state.first_later_ms;
    }));
  }
  return std::optional(std::move(state));
}

Timeline timeline_at(const FrontierLook& look, std::uint64_t now_ms) {
  Timeline timeline;
  const auto count = [&look](DueCounts& into, std::uint64_t after_ms, std::uint64_t until_ms) {
    into.group_count = count_between(look.due_ms, after_ms, until_ms);
    into.later_count = count_between(look.later_ms, after_ms, until_ms);
    into.lease_end_count = count_between(look.lease_ends_ms, after_ms, until_ms);
  };
  count(timeline.overdue, 0, now_ms);
  // A group without a visit is due at 0.
  timeline.overdue.group_count = static_cast<std::uint64_t>(
      std::ranges::upper_bound(look.due_ms, now_ms) - look.due_ms.begin());
  std::uint64_t at_ms = now_ms;
  for (DueCounts& interval : timeline.intervals) {
    count(interval, at_ms, at_ms + Timeline::kIntervalMs);
    at_ms += Timeline::kIntervalMs;
  }
  count(timeline.beyond, at_ms, UINT64_MAX);
  return timeline;
}

std::shared_ptr<const TableSource> group_rows(std::shared_ptr<const FrontierLook> look,
                                              std::uint64_t now_ms, bool is_in_memory) {
  return std::make_shared<GroupRows>(std::move(look), now_ms, is_in_memory);
}

std::shared_ptr<const TableSource> rows_from_now(std::shared_ptr<const TableSource> rows,
                                                 const FromNow& columns, std::uint64_t now_ms) {
  return std::make_shared<RowsFromNow>(std::move(rows), columns, now_ms);
}

}  // namespace crawlstore::model
