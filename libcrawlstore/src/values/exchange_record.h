// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The small value `.exchange.NAME`: how far a shard has come in its exchange with the others.
/// spec/shards.md, State.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>

namespace crawlstore::values {

/// Ends of steps that are kept.
inline constexpr std::size_t kStepEndsMax = 400;

struct ExchangeRecord {
  std::uint64_t step = 1;
  bool has_ended = false;
  /// Pages that there were at the end of the last steps, of the newest one last: `step` if it has
  /// ended, else the one before.
  std::vector<std::uint64_t> ends;
  std::vector<bool> received;  ///< by shard, of `step`; its own: sent

  /// The newest step that has ended; 0: none.
  [[nodiscard]] std::uint64_t newest_end() const { return has_ended ? step : step - 1; }
  bool operator==(const ExchangeRecord&) const = default;
};

/// The name of the value for a page database.
std::string exchange_value_name(std::string_view database);
/// Whether a value has such a name.
bool is_exchange_value(std::string_view name);

std::vector<std::byte> encode_exchange(const ExchangeRecord& record);
///   shard_count  of the crawl
///   errors       kSegmentInvalid
Result<ExchangeRecord> parse_exchange(std::span<const std::byte> bytes, std::uint32_t shard_count);

}  // namespace crawlstore::values
