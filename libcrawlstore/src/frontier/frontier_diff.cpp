// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the items of one group are in memory at a time, by key, those of both states.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <crawlstore/tools/frontier_diff.h>

#include "base/inside.h"
#include "container/reader.h"
#include "format/queue_run.h"
#include "frontier/group_items.h"

namespace crawlstore {
namespace {

using frontier::DiffItem;
using frontier::GroupItems;
using frontier::GroupSetting;
using frontier::SnapshotState;
using frontier::State;
using GroupNumber =
    std::optional<std::uint32_t>;  // of a group; nothing: the state does not have it

/// Tells whether a group is visited less often than it was.
bool is_slower(const frontier::GroupTable& groups, std::uint32_t group,
               const frontier::GroupTable& old_groups, std::uint32_t old_group) {
  return groups[group].failure_count > old_groups[old_group].failure_count ||
         groups.setting(group).rule.soft_ms > old_groups.setting(old_group).rule.soft_ms;
}

/// Equal ones are equal items; by key.
auto rank_of(const DiffItem& item) {
  return std::tuple(item.key, item.is_leased, item.order, item.time, item.attempt, item.body_hash);
}

FrontierFields fields_of(const DiffItem& a, const DiffItem& b) {
  return {.priority = a.order != b.order,
          .time = a.is_leased == b.is_leased && a.time != b.time,
          .attempt = a.attempt != b.attempt,
          .body = a.body_hash != b.body_hash};
}

const GroupSetting* setting_of(const State& state, std::uint32_t group) {
  return state.groups().has_setting(group) ? &state.groups().setting(group) : nullptr;
}

bool is_same_setting(const GroupSetting* a, const GroupSetting* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->rule == b->rule && a->blocked_until == b->blocked_until && a->is_active == b->is_active;
}

/// One frontier, in both states or in one.
class FrontierComparison {
 public:
  FrontierComparison(const FrontiersDiffSink& sink, const FrontiersDiffOptions& options,
                     bool& in_new, FrontierDiff& out)
      : sink_(sink), options_(options), in_new_(in_new), out_(out), wants_items_(sink.item) {}

  /// Compares; nullptr: that state does not have it.
  ///   skips_runs  it is the same frontier of the same store
  Result<void> run(const SnapshotState* older, const SnapshotState* newer, bool skips_runs) {
    std::uint64_t clock = 0;
    for (const auto* const state : {older, newer}) {
      if (state == nullptr) continue;
      clock = std::max(clock, state->info.clock_ms);
      total_ += state->info.waiting_count + state->info.leased_count;
    }
    const GroupItems::How how{.by_body = out_.by_body, .clock = clock};
    if (older != nullptr) older_.emplace(*older, how);
    if (newer != nullptr) newer_.emplace(*newer, how);
    if (skips_runs) {
      older_->skip_runs_of(*newer_);
      newer_->skip_runs_of(*older_);
    }
    for (auto* const side : {&older_, &newer_}) {
      in_new_ = side == &newer_;
      if (!*side) continue;
      CRAWLSTORE_TRY((*side)->list_later());
    }
    std::vector<bool> is_known(newer_ ? newer_->state().groups().count() : 0);
    const std::uint32_t old_count = older_ ? older_->state().groups().count() : 0;
    for (std::uint32_t group = 0; group < old_count; ++group) {
      const auto there = newer_ ? newer_->state().groups().find(older_->state().groups().key(group))
                                : GroupNumber();
      if (there) is_known[*there] = true;
      CRAWLSTORE_TRY(compare_group(group, there));
    }
    for (std::uint32_t group = 0; group < is_known.size(); ++group) {
      if (!is_known[group]) CRAWLSTORE_TRY(compare_group({}, group));
    }
    if (newer == nullptr) out_.gone_item_count = total_;
    if (older == nullptr) out_.added_item_count = total_;
    return {};
  }

 private:
  Result<void> compare_group(GroupNumber old_group, GroupNumber new_group) {
    tell_group(old_group, new_group);
    const bool is_counted = !older_ || !newer_;
    if (is_counted && !wants_items_) return {};
    const std::string_view key = old_group ? older_->state().groups().key(*old_group)
                                           : newer_->state().groups().key(*new_group);
    const auto read = [&](bool in_new, std::optional<GroupItems>& side, GroupNumber group,
                          std::vector<DiffItem>& items) -> Result<void> {
      items.clear();
      if (!group) return {};
      in_new_ = in_new;
      const auto advance = [&](std::uint64_t count) { return this->advance(count); };
      CRAWLSTORE_TRY(side->read(*group, old_group == new_group, advance, items));
      std::sort(items.begin(), items.end(),
                [](const DiffItem& a, const DiffItem& b) { return rank_of(a) < rank_of(b); });
      return {};
    };
    CRAWLSTORE_TRY(read(false, older_, old_group, old_items_));
    CRAWLSTORE_TRY(read(true, newer_, new_group, new_items_));
    CRAWLSTORE_TRY(compare_items(key));
    old_items_.clear();
    new_items_.clear();
    return advance(1);
  }

  void tell_group(GroupNumber old_group, GroupNumber new_group) {
    FrontierChange change = FrontierChange::kChanged;
    if (!old_group) {
      change = FrontierChange::kAdded;
    } else if (!new_group) {
      change = FrontierChange::kGone;
    } else {
      const State& a = older_->state();
      const State& b = newer_->state();
      if (is_same_setting(setting_of(a, *old_group), setting_of(b, *new_group)) &&
          a.groups()[*old_group].failure_count == b.groups()[*new_group].failure_count) {
        return;
      }
      if (is_slower(b.groups(), *new_group, a.groups(), *old_group)) ++out_.slowed_group_count;
    }
    ++(change == FrontierChange::kAdded  ? out_.added_group_count
       : change == FrontierChange::kGone ? out_.gone_group_count
                                         : out_.changed_group_count);
    if (!sink_.group) return;
    FrontierGroupDiff diff{.frontier = out_.name, .change = change};
    if (old_group) diff.older = frontier::group_of(older_->state(), *old_group);
    if (new_group) diff.newer = frontier::group_of(newer_->state(), *new_group);
    sink_.group(diff);
  }

  /// Items of one group. Equal ones cancel each other; the others of a key are pairs, in order.
  Result<void> compare_items(std::string_view group) {
    auto a = old_items_.begin();
    auto b = new_items_.begin();
    std::vector<const DiffItem*> gone;
    std::vector<const DiffItem*> added;
    while (a != old_items_.end() || b != new_items_.end()) {
      const std::uint64_t key =
          b == new_items_.end() || (a != old_items_.end() && a->key < b->key) ? a->key : b->key;
      gone.clear();
      added.clear();
      for (;;) {
        const bool has_a = a != old_items_.end() && a->key == key;
        const bool has_b = b != new_items_.end() && b->key == key;
        if (!has_a && !has_b) break;
        if (has_a && has_b && rank_of(*a) == rank_of(*b)) {
          ++a;
          ++b;
        } else if (has_a && (!has_b || rank_of(*a) < rank_of(*b))) {
          gone.push_back(&*a++);
        } else {
          added.push_back(&*b++);
        }
      }
      for (std::size_t i = 0; i < std::max(gone.size(), added.size()); ++i) {
        CRAWLSTORE_TRY(tell_item(group, i < gone.size() ? gone[i] : nullptr,
                                 i < added.size() ? added[i] : nullptr));
      }
    }
    return {};
  }

  Result<void> tell_item(std::string_view group, const DiffItem* older, const DiffItem* newer) {
    FrontierItemDiff diff{.frontier = out_.name, .group = group, .change = change_of(older, newer)};
    ++count_of(diff.change);
    if (!wants_items_) return {};
    if (older != nullptr && newer != nullptr) diff.fields = fields_of(*older, *newer);
    std::array<std::string, 2> bodies;
    const auto entry_of = [&](bool in_new, const DiffItem* item,
                              std::optional<FrontierEntry>& entry) -> Result<void> {
      if (item == nullptr) return {};
      in_new_ = in_new;
      CRAWLSTORE_TRY(bodies[in_new ? 1 : 0], (in_new ? newer_ : older_)->body(*item));
      entry = FrontierEntry{.id = item->id,
                            .group = group,
                            .priority = format::queue_priority(item->order),
                            .attempt = item->attempt,
                            .body = bodies[in_new ? 1 : 0]};
      if (item->is_leased) {
        entry->until_ms = item->time;
      } else {
        entry->not_before_ms = item->time;
      }
      return {};
    };
    CRAWLSTORE_TRY(entry_of(false, older, diff.older));
    CRAWLSTORE_TRY(entry_of(true, newer, diff.newer));
    wants_items_ = sink_.item(diff);
    return {};
  }

  static FrontierChange change_of(const DiffItem* older, const DiffItem* newer) {
    if (older == nullptr) return FrontierChange::kAdded;
    if (newer == nullptr) return FrontierChange::kGone;
    if (older->is_leased == newer->is_leased) return FrontierChange::kChanged;
    return newer->is_leased ? FrontierChange::kLeased : FrontierChange::kReturned;
  }

  std::uint64_t& count_of(FrontierChange change) {
    switch (change) {
      case FrontierChange::kAdded:
        return out_.added_item_count;
      case FrontierChange::kGone:
        return out_.gone_item_count;
      case FrontierChange::kLeased:
        return out_.leased_item_count;
      case FrontierChange::kReturned:
        return out_.returned_item_count;
      case FrontierChange::kChanged:
        break;
    }
    return out_.changed_item_count;
  }

  /// Items that are skipped are not done one by one, so that the bar may end early.
  Result<void> advance(std::uint64_t count) {
    constexpr std::uint64_t kDoneAStep = 4096;
    const std::uint64_t step = done_ / kDoneAStep;
    done_ = std::min(total_, done_ + count);
    unreported_ += count;
    if (!options_.progress || (done_ / kDoneAStep == step && unreported_ < kDoneAStep)) return {};
    unreported_ = 0;
    if (options_.progress(done_, total_)) return {};
    return fail(Errc::kCancelled, "it was cancelled");
  }

  const FrontiersDiffSink& sink_;
  const FrontiersDiffOptions& options_;
  bool& in_new_;  // the state that is being read
  FrontierDiff& out_;
  bool wants_items_;
  std::optional<GroupItems> older_;
  std::optional<GroupItems> newer_;
  std::vector<DiffItem> old_items_;
  std::vector<DiffItem> new_items_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t unreported_ = 0;
};

using format::SegmentEntry;

/// All segments of a frontier.
std::map<SegmentId, const SegmentEntry*> segments_of(const Snapshot& snapshot,
                                                     const SegmentEntry& frontier) {
  std::map<SegmentId, const SegmentEntry*> segments;
  Inside::of(snapshot).directory().for_each_segment([&](const SegmentEntry& entry) {
    if (entry.id == frontier.id || entry.owner == frontier.id) segments[entry.id] = &entry;
  });
  return segments;
}

/// Whether all runs of a frontier are the same in two states of one store.
bool has_same_runs(const Snapshot& older, const SegmentEntry& a, const Snapshot& newer,
                   const SegmentEntry& b) {
  if (a.id != b.id) return false;
  return std::ranges::equal(
      segments_of(older, a), segments_of(newer, b), [](const auto& x, const auto& y) {
        return x.first == y.first &&
               std::ranges::equal(x.second->runs, y.second->runs, frontier::is_same_run);
      });
}

bool is_frontier_damage(const Error& error) {
  return category(error.code) == ErrorCategory::kDamage || error.code == Errc::kIo;
}

/// A state, and where it has a frontier; nullptr: it has none of the name.
struct FrontierPlace {
  const Snapshot& snapshot;
  const SegmentEntry* entry = nullptr;
};

Result<void> compare_places(const FrontierPlace& older, const FrontierPlace& newer,
                            FrontierComparison& comparison, bool& in_new, FrontierDiff& out) {
  const bool is_both = older.entry != nullptr && newer.entry != nullptr;
  const bool is_same = is_both && older.snapshot.uuid() == newer.snapshot.uuid() &&
                       older.entry->id == newer.entry->id;
  const auto read_info = [&](bool of_new, const FrontierPlace& place,
                             FrontierInfo& info) -> Result<void> {
    if (place.entry == nullptr) return {};
    in_new = of_new;
    CRAWLSTORE_TRY(info, frontier::read_info(place.snapshot, *place.entry));
    return {};
  };
  CRAWLSTORE_TRY(read_info(false, older, out.old_info));
  CRAWLSTORE_TRY(read_info(true, newer, out.new_info));
  if (is_same && has_same_runs(older.snapshot, *older.entry, newer.snapshot, *newer.entry)) {
    return {};
  }
  if (is_both) {
    out.by_body = !is_same && !(out.old_info.has_own_ids && out.new_info.has_own_ids);
    out.default_rule_differs = !(out.old_info.default_rule == out.new_info.default_rule);
  }
  std::array<std::optional<SnapshotState>, 2> states;
  const auto read_state = [&](bool of_new, const FrontierPlace& place) -> Result<void> {
    if (place.entry == nullptr) return {};
    in_new = of_new;
    CRAWLSTORE_TRY(states[of_new ? 1 : 0],
                   frontier::read_snapshot_state(place.snapshot, *place.entry));
    return {};
  };
  CRAWLSTORE_TRY(read_state(false, older));
  CRAWLSTORE_TRY(read_state(true, newer));
  return comparison.run(states[0] ? &*states[0] : nullptr, states[1] ? &*states[1] : nullptr,
                        is_same);
}

}  // namespace

std::string_view name_of(FrontierChange change) {
  constexpr std::array<std::string_view, 5> kNames{"added", "gone", "leased", "returned",
                                                   "changed"};
  return kNames.at(static_cast<std::size_t>(change));
}

bool FrontierFields::any() const {
  return priority || time || attempt || body;
}

std::string FrontierFields::text() const {
  std::string text;
  const auto add = [&text](bool differs, const char* name) {
    if (differs) text += (text.empty() ? "" : " ") + std::string(name);
  };
  add(priority, "priority");
  add(attempt, "attempt");
  add(body, "body");
  add(time, "time");
  return text;
}

bool FrontierDiff::differs() const {
  return in_old != in_new || default_rule_differs ||
         (added_item_count | gone_item_count | leased_item_count | returned_item_count |
          changed_item_count | added_group_count | gone_group_count | changed_group_count) != 0 ||
         old_error || new_error;
}

Result<std::vector<FrontierDiff>> diff_frontiers(const Snapshot& older, const Snapshot& newer,
                                                 const FrontiersDiffSink& sink,
                                                 const FrontiersDiffOptions& options) {
  std::map<std::string_view, std::array<const SegmentEntry*, 2>> names;
  for (const SegmentEntry* const entry : frontier::list_frontiers(older))
    names[entry->name][0] = entry;
  for (const SegmentEntry* const entry : frontier::list_frontiers(newer))
    names[entry->name][1] = entry;
  std::vector<FrontierDiff> all;
  for (const auto& [name, entries] : names) {
    FrontierDiff diff{.name = std::string(name),
                      .in_old = entries[0] != nullptr,
                      .in_new = entries[1] != nullptr};
    bool in_new = false;
    FrontierComparison comparison(sink, options, in_new, diff);
    const auto compared =
        compare_places({older, entries[0]}, {newer, entries[1]}, comparison, in_new, diff);
    if (!compared) {
      const Error& error = compared.error();
      if (!options.past_damage || error.code == Errc::kCancelled || !is_frontier_damage(error)) {
        if (error.code != Errc::kCancelled && sink.failed) sink.failed(in_new);
        return tl::unexpected<Error>(error);
      }
      (in_new ? diff.new_error : diff.old_error) = error;
    }
    all.push_back(std::move(diff));
  }
  return all;
}

}  // namespace crawlstore
