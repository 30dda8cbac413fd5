// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parser or makes it read outside it;
//   - an accepted table follows every rule that one payload can show: buckets ascend from zero,
//     consumers ascend from 0, counts fit segments, names are valid and unique;
//   - it takes no more memory than a small multiple of the payload;
//   - it is the same after it was encoded and parsed again.
//
// Input: the payload of a drum segment.

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "format/drum_table.h"
#include "format/name.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

void check_buckets(const DrumTable& table) {
  require(!table.buckets.empty() && table.buckets.size() <= kBucketsMax);
  require(table.buckets.front().first_key == 0);
  for (std::size_t i = 0; i < table.buckets.size(); ++i) {
    const DrumBucket& bucket = table.buckets[i];
    require(i == 0 || table.buckets[i - 1].first_key < bucket.first_key);
    require(static_cast<bool>(bucket.partition) == (bucket.key_count != 0));
    require(static_cast<bool>(bucket.key_log) == (bucket.pending_count != 0));
    require(!bucket.aux_log || bucket.key_log);
  }
}

void check_consumers(const DrumTable& table, std::size_t input_bytes) {
  require(!table.consumers.empty() && table.consumers.front().id == ConsumerId{});
  std::set<std::string> names;
  std::size_t name_bytes = 0;
  for (const DrumConsumer& consumer : table.consumers) {
    require(consumer.id.value <= kConsumersMax && is_valid_name(consumer.name));
    require(static_cast<bool>(consumer.results) == (consumer.result_count != 0));
    require(names.insert(consumer.name).second);
    name_bytes += consumer.name.size();
  }
  require(name_bytes <= input_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto table = parse_drum_table(bytes);
  if (!table) return 0;
  check_buckets(*table);
  check_consumers(*table, size);
  require(table->buckets.size() * 48 <= size && table->consumers.size() * 4 <= size);
  require(parse_drum_table(encode_drum_table(*table)) == table);
  return 0;
}
