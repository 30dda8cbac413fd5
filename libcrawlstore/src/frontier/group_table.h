// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tsl/robin_set.h>

#include "base/seeded_hash.h"
#include "format/frontier_table.h"
#include "frontier/families.h"
#include "frontier/items.h"

namespace crawlstore::frontier {

/// The rule of a group, and what no default rule has.
struct GroupSetting {
  format::GroupRule rule;
  std::uint64_t blocked_until = 0;
  bool is_active = true;
  std::optional<std::uint32_t> parent{};
};

/// A group, but for its key and a setting of its own. Times are milliseconds since 1970.
struct Group {
  ItemHeap items;               ///< that may be taken, and are in no run
  std::uint64_t soft_time = 0;  ///< before which it should not be visited
  std::uint64_t hard_time = 0;  ///< before which it must not be visited
  std::uint32_t leased_count = 0;
  std::uint32_t later_count = 0;    ///< items whose time has not come
  std::uint32_t failure_count = 0;  ///< since the last success
  bool is_best_known = false;       ///< the schedule has its best item
  bool is_parked = false;           ///< a family has it
  bool is_run_known = false;        ///< the next two are those of its best item in runs
  std::uint32_t put_count = 0;      ///< items that were ever put, up to the highest number
  std::uint32_t finished_count = 0;
  std::uint64_t run_order = 0;
  std::uint64_t run_id = 0;
};

/// All groups, by number: 0, 1, 2 ... in the order in which they came. Threads: one at a time.
/// Memory: about 160 bytes a group, its key, and its items.
class GroupTable {
 public:
  explicit GroupTable(const format::GroupRule& default_rule) : default_{default_rule} {}

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(keys_->size()); }
  [[nodiscard]] std::string_view key(std::uint32_t group) const { return (*keys_)[group]; }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view key) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? std::nullopt : std::optional(*found);
  }
  /// Gives the next number to a key. Returns false if a group has it.
  bool add(std::string_view key) {
    if (find(key)) return false;
    const std::uint32_t number = count();
    keys_->emplace_back(key);
    numbers_.insert(number);
    groups_.emplace_back();
    return true;
  }

  [[nodiscard]] Group& operator[](std::uint32_t group) { return groups_[group]; }
  [[nodiscard]] const Group& operator[](std::uint32_t group) const { return groups_[group]; }

  [[nodiscard]] const GroupSetting& setting(std::uint32_t group) const {
    const auto found = settings_.find(group);
    return found == settings_.end() ? default_ : found->second;
  }
  /// Tells whether the limits of the rule let an item be put into a group; none: into a new one.
  [[nodiscard]] bool takes_put(std::optional<std::uint32_t> group) const {
    const format::GroupRule& rule = group ? setting(*group).rule : default_.rule;
    return (group ? groups_[*group].put_count : 0) < rule.put_max &&
           (group ? groups_[*group].finished_count : 0) < rule.finished_max;
  }
  [[nodiscard]] bool has_setting(std::uint32_t group) const { return settings_.contains(group); }
  void set(std::uint32_t group, const GroupSetting& setting) {
    Group& of = groups_[group];
    const auto before = this->setting(group).parent;
    if (before != setting.parent) {
      if (before) families_.leave(*before, group, of.leased_count);
      if (setting.parent) families_.add(*setting.parent, group, of.leased_count);
      of.is_parked = false;
    }
    settings_.insert_or_assign(group, setting);
    families_.open(group, true);
  }

  [[nodiscard]] const Families& families() const { return families_; }
  /// Tells whether the rule of a group, without its parent's, lets an item be leased now.
  [[nodiscard]] bool has_room(std::uint32_t group, const GroupSetting& setting) const {
    return setting.is_active && leased_count(group) < setting.rule.in_flight_max;
  }
  /// Items of the group, and of its children, that are leased.
  [[nodiscard]] std::uint64_t leased_count(std::uint32_t group) const {
    const Family* const of = families_.is_empty() ? nullptr : families_.find(group);
    return groups_[group].leased_count + (of == nullptr ? 0 : of->leased_count);
  }
  void lease(std::uint32_t group, std::uint32_t count) {
    groups_[group].leased_count += count;
    if (families_.is_empty()) return;
    if (const auto parent = setting(group).parent) families_.lease(*parent, count);
  }
  void end_lease(std::uint32_t group) {
    --groups_[group].leased_count;
    if (families_.is_empty()) return;
    families_.open(group, false);
    const auto parent = setting(group).parent;
    if (!parent) return;
    families_.end_lease(*parent);
    families_.open(*parent, false);
  }
  /// Keeps a group for the time when its parent has room.
  void park(std::uint32_t parent, std::uint32_t group) {
    if (std::exchange(groups_[group].is_parked, true)) return;
    families_.park(parent, group);
  }
  /// The parent may be visited earlier than before, if it is one.
  void note_change(std::uint32_t parent) { families_.open(parent, true); }
  /// Groups that may have room again, or may be visited earlier, since the last call.
  std::vector<std::uint32_t> take_opened() {
    auto opened = families_.take_opened();
    for (const std::uint32_t group : opened) groups_[group].is_parked = false;
    return opened;
  }

 private:
  using Keys = std::deque<std::string>;
  struct KeyHash {
    std::size_t operator()(std::uint32_t group) const { return hash((*keys)[group]); }
    std::size_t operator()(std::string_view key) const { return hash(key); }
    const Keys* keys = nullptr;
    SeededHash hash{};
  };
  struct IsSameKey {
    using is_transparent = void;  // NOLINT(*-identifier-naming): a name of the standard library
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(std::string_view key, std::uint32_t group) const {
      return key == (*keys)[group];
    }
    bool operator()(std::uint32_t group, std::string_view key) const {
      return key == (*keys)[group];
    }
    const Keys* keys = nullptr;
  };
  /// With 32 bits of each hash, so that few keys are compared.
  using Numbers =
      tsl::robin_set<std::uint32_t, KeyHash, IsSameKey, std::allocator<std::uint32_t>, true>;

  GroupSetting default_;
  std::unique_ptr<Keys> keys_ = std::make_unique<Keys>();  // which stay where they are
  Numbers numbers_{0, KeyHash{keys_.get()}, IsSameKey{keys_.get()}};
  std::vector<Group> groups_;
  Families families_;
  std::unordered_map<std::uint32_t, GroupSetting> settings_;  // of groups that have their own
};

}  // namespace crawlstore::frontier
