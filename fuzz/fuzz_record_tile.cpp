// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parser or a look at any record, or makes them read outside it, also
//     when the bytes change between the two;
//   - each record that is given keeps the rules of records;
//   - an accepted tile has the same records after it was encoded and parsed again, in no more
//   bytes.
//
// Input: two bytes (a place that changes after parsing), one byte (what it becomes), the payload.

#include <cstdint>
#include <span>
#include <vector>

#include "format/endian.h"
#include "format/record_tile.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

std::vector<PageRecord> records_of(const RecordTile& tile) {
  std::vector<PageRecord> records;
  for (std::uint32_t i = 0; i < tile.page_count(); ++i) {
    const auto record = tile.record(i);
    if (!record) continue;
    require(check_page_record(*record) == nullptr);
    records.push_back(*record);
  }
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  Bytes payload(bytes.begin() + 3, bytes.end());
  const auto tile = RecordTile::parse(payload);
  if (!tile) return 0;
  require(tile->page_count() >= 1 && tile->page_count() <= kTilePagesMax);
  const auto records = records_of(*tile);
  if (tile->check()) {
    require(records.size() == tile->page_count());
    Bytes again;
    encode_record_tile(records, again);
    require(again.size() <= payload.size());
    const auto parsed = RecordTile::parse(again);
    require(parsed.has_value() && parsed->check().has_value() && records_of(*parsed) == records);
  }
  payload[load<std::uint16_t>(bytes.data()) % payload.size()] = bytes[2];
  (void)records_of(*tile);
  return 0;
}
