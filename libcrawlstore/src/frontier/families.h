// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace crawlstore::frontier {

/// A group that is the parent of others.
struct Family {
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> parked;  ///< children that wait until the parent has room; some twice
  std::uint64_t leased_count = 0;     ///< items of the children
  bool is_open = false;               ///< somebody has to look at those that are parked
  bool is_changed = false;            ///< and at all others
};

/// All families, by the parent. Threads: one at a time. Memory: some 100 bytes a parent, and 8 a
/// child. Cost: constant, but for add() and leave(), which look through the children.
class Families {
 public:
  [[nodiscard]] bool is_empty() const { return families_.empty(); }
  [[nodiscard]] const Family* find(std::uint32_t parent) const {
    const auto found = families_.find(parent);
    return found == families_.end() ? nullptr : &found->second;
  }
  void add(std::uint32_t parent, std::uint32_t child, std::uint64_t leased_count) {
    Family& of = families_[parent];
    of.children.push_back(child);
    of.leased_count += leased_count;
  }
  void leave(std::uint32_t parent, std::uint32_t child, std::uint64_t leased_count) {
    Family& of = families_[parent];
    of.children.erase(std::ranges::find(of.children, child));
    of.leased_count -= leased_count;
    open(parent, false);
    if (of.children.empty()) families_.erase(parent);
  }
  void lease(std::uint32_t parent, std::uint64_t count) { families_[parent].leased_count += count; }
  void end_lease(std::uint32_t parent) { --families_[parent].leased_count; }
  void park(std::uint32_t parent, std::uint32_t child) {
    families_[parent].parked.push_back(child);
  }
  /// The parent may have room again; or, where it is changed, may be visited earlier. Nothing where
  /// it is no parent.
  void open(std::uint32_t parent, bool is_changed) {
    const auto found = families_.find(parent);
    if (found == families_.end()) return;
    if (!found->second.is_open) opened_.push_back(parent);
    found->second.is_open = true;
    found->second.is_changed |= is_changed;
  }
  /// The groups to look at since the last call: parents that were opened, and their children.
  std::vector<std::uint32_t> take_opened() {
    std::vector<std::uint32_t> groups;
    for (const std::uint32_t parent : std::exchange(opened_, {})) {
      groups.push_back(parent);
      const auto found = families_.find(parent);
      if (found == families_.end()) continue;
      Family& of = found->second;
      const auto parked = std::exchange(of.parked, {});
      groups.insert(groups.end(), parked.begin(), parked.end());
      if (of.is_changed) groups.insert(groups.end(), of.children.begin(), of.children.end());
      of.is_open = of.is_changed = false;
    }
    return groups;
  }

 private:
  std::unordered_map<std::uint32_t, Family> families_;
  std::vector<std::uint32_t> opened_;
};

}  // namespace crawlstore::frontier
