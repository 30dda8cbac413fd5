// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The payload of a `frontier` segment as a plain struct: spec/frontier.md#frontier-tables. Pure
/// functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "frontier_layout.h"

namespace crawlstore::format {

/// 256 item runs and as many pieces fit; later versions may add fields.
inline constexpr std::uint64_t kFrontierTableBytesMax = 65536;

/// Flag: items have ids of the caller's. Without it ids are given, in order.
inline constexpr std::uint32_t kFrontierOwnIds = 1;

/// More than there can be.
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// The rule of groups that have none of their own. Durations are milliseconds.
struct GroupRule {
  std::uint64_t soft_ms = 0;  ///< between visits, where there is a choice
  std::uint64_t hard_ms = 0;  ///< always; at most soft_ms
  std::uint32_t burst = 1;    ///< visits that may come at once after a time without any
  std::uint32_t in_flight_max = 1;
  std::uint64_t put_max = kNoLimit;
  std::uint64_t finished_max = kNoLimit;
  friend bool operator==(const GroupRule&, const GroupRule&) = default;
};

/// An item run, and the steps between which it counts.
struct ItemRunSpan {
  RunId run;
  std::uint64_t first_step = 0;  ///< the step that stored or joined it
  std::uint64_t last_step = 0;   ///< the step that joined it with others; 0: it counts now
  friend bool operator==(const ItemRunSpan&, const ItemRunSpan&) = default;
};

struct FrontierTable {
  bool has_own_ids = false;
  SegmentId groups;  ///< 0: no group has left the journals
  SegmentId items;   ///< 0: there are no runs
  SegmentId steps;   ///< 0: nothing was ever done
  std::uint32_t group_count = 0;
  std::uint64_t waiting_count = 0;
  std::uint64_t leased_count = 0;
  std::uint64_t next_id = 0;     ///< above all ids that were put
  std::uint64_t step_count = 0;  ///< the number of the last step
  std::uint64_t clock_ms = 0;    ///< of the last step
  GroupRule default_rule;
  std::vector<ItemRunSpan> runs;  ///< ascending
  std::vector<RunId> pieces;      ///< in the order of their groups
  std::string pages;  ///< the page database whose pages the items are; empty: they are the caller's
  friend bool operator==(const FrontierTable&, const FrontierTable&) = default;
};

/// `table` keeps the rules.
std::vector<std::byte> encode_frontier_table(const FrontierTable& table);
/// errors  kSegmentInvalid; text names the rule
Result<FrontierTable> parse_frontier_table(std::span<const std::byte> payload);

}  // namespace crawlstore::format
