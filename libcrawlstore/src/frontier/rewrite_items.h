// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontier/item_run_writer.h"
#include "frontier/state.h"

namespace crawlstore::frontier {

/// Told group, id and order of an item; returns its new order, or nothing: it is gone.
using RewriteItem = std::function<Result<std::optional<std::uint64_t>>(
    std::uint32_t group, std::uint64_t id, std::uint64_t order)>;

/// Adds the items of a state that wait and were never taken to runs, with other orders. Threads:
/// one. Memory: the items of the largest group.
class ItemRewrite {
 public:
  /// gone  gets items that are not added
  ItemRewrite(const State& state, const RewriteItem& rewrite, std::vector<format::Item>& gone)
      : state_(state), rewrite_(rewrite), gone_(gone) {}

  /// Those that may be taken.
  ///   errors  those of ItemWalk::next(), of `rewrite`, and of `out`
  Result<void> add_waiting(ItemRunWriter& out);
  /// Those whose time has not come. errors  as add_waiting()
  Result<void> add_later(ItemRunWriter& out);

 private:
  struct Entry {
    format::Item item;
    std::string body;
  };
  Result<void> add_held(std::uint32_t group);
  Result<void> add_neighbours(ItemRunWriter& out);

  const State& state_;
  const RewriteItem& rewrite_;
  std::vector<format::Item>& gone_;
  std::vector<Entry> entries_;  // of one group, and of one time
};

}  // namespace crawlstore::frontier
