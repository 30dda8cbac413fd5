// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <crawlstore/types.h>

namespace crawlstore::frontier {

/// Entries of runs that do not count any more: their items are gone, or have other values. They are
/// told by group, id and the newest run that has one: an entry of the same id in a newer run
/// counts. Threads: one at a time. Memory: about 80 bytes an id. Cost: O(log n).
class DeadEntries {
 public:
  struct Mark {
    RunId run;                ///< the newest one with an entry
    std::uint32_t count = 0;  ///< entries that have not left
  };
  using ByItem = std::map<std::pair<std::uint32_t, std::uint64_t>, Mark>;  ///< group and id

  [[nodiscard]] const ByItem& all() const { return marks_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Entries of a group. Cost: O(log n), and O(1) an id of the group.
  [[nodiscard]] std::uint64_t count(std::uint32_t group) const {
    std::uint64_t count = 0;
    for (auto at = marks_.lower_bound({group, 0}); at != marks_.end() && at->first.first == group;
         ++at) {
      count += at->second.count;
    }
    return count;
  }
  /// Entries of an id that are dead, if one in this run may be; else 0.
  [[nodiscard]] std::uint32_t count(std::uint32_t group, std::uint64_t id, RunId run) const {
    if (marks_.empty()) return 0;
    const auto found = marks_.find({group, id});
    return found != marks_.end() && run <= found->second.run ? found->second.count : 0;
  }

  void add(std::uint32_t group, std::uint64_t id, const Mark& more) {
    Mark& mark = marks_[{group, id}];
    mark.run = std::max(mark.run, more.run);
    mark.count += more.count;
    count_ += more.count;
  }
  /// One of the entries of an id, which has one, has left its run.
  void take(std::uint32_t group, std::uint64_t id) {
    const auto found = marks_.find({group, id});
    if (found == marks_.end()) return;
    --count_;
    if (--found->second.count == 0) marks_.erase(found);
  }
  /// All entries of a group have left.
  void take_all(std::uint32_t group) {
    count_ -= count(group);
    const auto first = marks_.lower_bound({group, 0});
    auto end = first;
    while (end != marks_.end() && end->first.first == group) ++end;
    marks_.erase(first, end);
  }

 private:
  ByItem marks_;
  std::uint64_t count_ = 0;
};

}  // namespace crawlstore::frontier
