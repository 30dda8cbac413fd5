// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "container/participant.h"

namespace crawlstore {

/// The open parts of a store, in the order in which they were opened. A part is found and leaves in
/// O(log n): a store may have a queue for each of 20,000 hosts.
///
/// Ownership: the parts are others' and stay until erase(). Threads: one at a time.
class OpenParts {
 public:
  /// Adds a part, of whose kind and name there is none yet. Nothing changes when memory is out.
  void insert(Participant* part) {
    Parts added{part};
    const bool is_new = by_kind_[part->kind].emplace(part->name(), added.cbegin()).second;
    CRAWLSTORE_ASSERT(is_new);
    parts_.splice(parts_.end(), added);  // iterators stay valid
  }
  /// No effect if it is not there.
  void erase(const Participant* part) {
    if (find(part->kind, part->name()) != part) return;
    ByName& by_name = by_kind_[part->kind];
    const auto found = by_name.find(part->name());
    parts_.erase(found->second);
    by_name.erase(found);
  }
  void clear() {
    by_kind_.clear();
    parts_.clear();
  }

  /// The part of this kind and name, or nullptr.
  [[nodiscard]] Participant* find(SegmentKind kind, std::string_view name) const {
    const auto by_name = by_kind_.find(kind);
    if (by_name == by_kind_.end()) return nullptr;
    const auto found = by_name->second.find(name);
    return found == by_name->second.end() ? nullptr : *found->second;
  }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] auto begin() const { return parts_.begin(); }
  [[nodiscard]] auto end() const { return parts_.end(); }

 private:
  using Parts = std::list<Participant*>;
  using ByName = std::map<std::string, Parts::const_iterator, std::less<>>;

  Parts parts_;
  std::map<SegmentKind, ByName> by_kind_;  // each part of parts_ once
};

}  // namespace crawlstore
