// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/seeded_hash.h"
#include "frontier/items.h"

namespace crawlstore::frontier {

/// An item that is leased: taken, and not finished.
struct Lease {
  std::uint32_t group = 0;
  std::uint64_t until = 0;  ///< milliseconds since 1970; 0: for ever
  Item item;
};

/// All leases, by id and by the time at which they end, and what was leased and waits again.
/// Threads: one at a time. Cost: O(log n).
class Leases {
 public:
  using ById = std::unordered_map<std::uint64_t, Lease, SeededHash>;

  [[nodiscard]] std::uint64_t count() const { return by_id_.size(); }
  [[nodiscard]] const ById& all() const { return by_id_; }
  [[nodiscard]] const Lease* find(std::uint64_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &found->second;
  }
  /// The lowest time at which one ends; 0: none does.
  [[nodiscard]] std::uint64_t first_end() const { return ends_.empty() ? 0 : ends_.begin()->first; }

  /// The group of an item that was leased, and waits again.
  [[nodiscard]] std::optional<std::uint32_t> group_of_again(std::uint64_t id) const {
    const auto found = again_.find(id);
    return found == again_.end() ? std::nullopt : std::optional(found->second);
  }

  /// An item that was leased waits again.
  void put_again(std::uint64_t id, std::uint32_t group) { again_.insert_or_assign(id, group); }
  void forget_again(std::uint64_t id) { again_.erase(id); }
  /// Its id is not leased.
  const Lease& put(Lease lease) {
    const std::uint64_t id = lease.item.id;
    if (lease.until != 0) ends_.emplace(lease.until, id);
    return by_id_.emplace(id, std::move(lease)).first->second;
  }
  std::optional<Lease> take(std::uint64_t id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return std::nullopt;
    Lease lease = std::move(found->second);
    by_id_.erase(found);
    if (lease.until != 0) ends_.erase({lease.until, id});
    return lease;
  }
  /// Takes the one that ends first, if it ends at or before `time`; of the same end that of the
  /// lowest id.
  std::optional<Lease> take_ended(std::uint64_t time) {
    if (ends_.empty() || ends_.begin()->first > time) return std::nullopt;
    return take(ends_.begin()->second);
  }
  /// Reads all bodies into memory. errors  those of Body::hold()
  Result<void> hold_bodies() {
    for (auto& [id, lease] : by_id_) CRAWLSTORE_TRY(lease.item.body.hold());
    return {};
  }

 private:
  ById by_id_;
  std::unordered_map<std::uint64_t, std::uint32_t, SeededHash> again_;  // groups
  std::set<std::pair<std::uint64_t, std::uint64_t>> ends_;              // until and id
};

}  // namespace crawlstore::frontier
