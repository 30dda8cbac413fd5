// SPDX-License-Identifier: Apache-2.0
#include "values/values_content.h"

#include <algorithm>
#include <memory>
#include <string>

#include "container/description_parts.h"
#include "format/field.h"
#include "format/invalid.h"
#include "format/small_values.h"
#include "values/exchange_record.h"
#include "values/stored_values.h"

namespace crawlstore::values {
namespace {

constexpr std::size_t kShownBytesMax = 64;

/// Each byte in two digits, and dots for those that are too many.
std::string hex_of(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kShownBytesMax))) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return bytes.size() > kShownBytesMax ? text + "..." : text;
}

Result<container::RunContentPtr> check_payload(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(const auto values, format::parse_values(payload));
  Shard shard;
  for (const format::SmallValue& value : values) {
    if (value.name != kShardName) continue;
    CRAWLSTORE_TRY(shard, shard_in(value.bytes));
  }
  for (const format::SmallValue& value : values) {
    if (is_exchange_value(value.name)) CRAWLSTORE_TRY(parse_exchange(value.bytes, shard.count));
  }
  return std::make_unique<const container::RunContent>(values.size());
}

}  // namespace

Result<container::RunContentPtr> check_values(const container::PayloadSource& payload,
                                              const container::ContentProgress& progress) {
  if (payload.length_bytes > format::kValuesBytesMax) {
    return format::invalid("the length of values is out of range");
  }
  return container::check_whole<check_payload>(payload, progress);
}

Result<bool> verify_values(container::SegmentVerifier& segments,
                           const format::SegmentEntry& entry) {
  const format::RunRef& run = entry.runs.front();
  CRAWLSTORE_TRY(const auto* const content, segments.content_of(entry, run));
  if (content == nullptr) return true;
  if (entry.name != format::kValuesName) {
    segments.broken(entry.id, run.offset_bytes, "small values have another name than `values`");
  }
  return true;
}

void describe_values(container::Description& out, const container::RunSource& source) {
  const format::RunRef& run = source.run();
  const std::uint64_t header_bytes =
      std::min<std::uint64_t>(run.payload_bytes, sizeof(format::ValuesHeader));
  const std::size_t mark = out.mark();
  const auto read = source.read(0, std::min(run.payload_bytes, format::kValuesBytesMax));
  const std::span<const std::byte> bytes = read.bytes;
  out.open("header", "struct", {run.offset_bytes, header_bytes});
  out.add_fields(format::describe_values_header(
                     bytes.first(std::min<std::uint64_t>(bytes.size(), header_bytes))),
                 run.offset_bytes);
  out.close();
  const auto values = format::parse_values(bytes);
  container::note_problems(out, mark, run.offset_bytes, read, container::error_of(values));
  if (!values) return;
  const auto place_of = [&](const void* begin, std::size_t length) {
    const auto at = static_cast<std::uint64_t>(static_cast<const std::byte*>(begin) - bytes.data());
    return Extent{run.offset_bytes + at, length};
  };
  const std::uint64_t lengths_bytes = values->size() * sizeof(format::ValueLengths);
  const Extent lengths{run.offset_bytes + header_bytes, lengths_bytes};
  const std::size_t shown = std::min(values->size(), out.entries_max());
  out.open("lengths", "list", lengths, std::to_string(2 * values->size()));
  out.add_fields(
      format::describe_numbers({.name = "lengths", .width = 2},
                               bytes.subspan(header_bytes, shown * sizeof(format::ValueLengths))),
      lengths.offset_bytes);
  out.close();
  const std::uint64_t contents_bytes = run.payload_bytes - header_bytes - lengths_bytes;
  out.open("values", "list", {lengths.end_bytes(), contents_bytes}, std::to_string(values->size()));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, value] = (*values)[i];
    const Extent place = place_of(name.data(), name.size() + value.size());
    out.open("values[" + std::to_string(i) + "]", "struct", place);
    out.add("name", "string", place_of(name.data(), name.size()), std::string(name));
    if (!value.empty()) {
      out.add("bytes", "bytes", place_of(value.data(), value.size()), hex_of(value));
    }
    out.close();
  }
  out.close();
}

}  // namespace crawlstore::values
