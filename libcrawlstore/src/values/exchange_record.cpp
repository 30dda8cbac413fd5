// SPDX-License-Identifier: Apache-2.0
#include "values/exchange_record.h"

#include <algorithm>

#include <crawlstore/values.h>

#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::values {
namespace {

constexpr std::string_view kPrefix = ".exchange.";
constexpr std::size_t kHeaderBytes = 16;
constexpr std::uint32_t kHasEnded = 1;

std::size_t bitmap_bytes(std::size_t shard_count) {
  return (shard_count + 7) / 8;
}

Error broken(const char* text) {
  return {Errc::kSegmentInvalid, 0, {}, Error::kNoOffset, text};
}

}  // namespace

std::string exchange_value_name(std::string_view database) {
  return std::string(kPrefix) + std::string(database);
}

bool is_exchange_value(std::string_view name) {
  return name.starts_with(kPrefix);
}

std::vector<std::byte> encode_exchange(const ExchangeRecord& record) {
  std::vector<std::byte> bytes(kHeaderBytes + 8 * record.ends.size() +
                               bitmap_bytes(record.received.size()));
  format::store<std::uint64_t>(&bytes[0], record.step);
  format::store<std::uint32_t>(&bytes[8], record.has_ended ? kHasEnded : 0);
  format::store<std::uint32_t>(&bytes[12], static_cast<std::uint32_t>(record.ends.size()));
  std::size_t at = kHeaderBytes;
  for (const std::uint64_t end : record.ends) {
    format::store<std::uint64_t>(&bytes[at], end);
    at += 8;
  }
  for (std::size_t shard = 0; shard < record.received.size(); ++shard) {
    if (record.received[shard]) bytes[at + shard / 8] |= std::byte(1U << shard % 8);
  }
  return bytes;
}

Result<ExchangeRecord> parse_exchange(std::span<const std::byte> bytes, std::uint32_t shard_count) {
  const auto invalid = [](const char* text) { return tl::unexpected<Error>(broken(text)); };
  if (bytes.size() < kHeaderBytes) return invalid("the state of an exchange is too short");
  ExchangeRecord record;
  record.step = format::load<std::uint64_t>(bytes.data());
  const auto flags = format::load<std::uint32_t>(bytes.data() + 8);
  const std::size_t end_count = format::load<std::uint32_t>(bytes.data() + 12);
  if (record.step == 0 || flags > kHasEnded) {
    return invalid("the step of an exchange, or its flags, are out of range");
  }
  record.has_ended = flags == kHasEnded;
  if (end_count != std::min<std::uint64_t>(record.newest_end(), kStepEndsMax) ||
      bytes.size() != kHeaderBytes + 8 * end_count + bitmap_bytes(shard_count)) {
    return invalid("the state of an exchange has another length than its steps and shards give");
  }
  std::size_t at = kHeaderBytes;
  for (std::size_t i = 0; i < end_count; ++i, at += 8) {
    record.ends.push_back(format::load<std::uint64_t>(&bytes[at]));
  }
  if (!std::ranges::is_sorted(record.ends)) return invalid("steps of an exchange end backwards");
  for (std::size_t shard = 0; shard < 8 * (bytes.size() - at); ++shard) {
    const bool bit = (std::to_integer<unsigned>(bytes[at + shard / 8]) >> shard % 8 & 1U) != 0;
    if (shard < shard_count) {
      record.received.push_back(bit);
    } else if (bit) {
      return invalid("the exchange has received from a shard that there is not");
    }
  }
  return record;
}

}  // namespace crawlstore::values
