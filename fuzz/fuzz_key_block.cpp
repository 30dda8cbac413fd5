// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no bytes crash the parsers or make them read outside;
//   - a search for one key, with bounds alone checked, stays inside, and finds what is decoded;
//   - decoded keys ascend strictly, from the first key of the block;
//   - encoding decoded keys and values again gives no longer block, with the same content;
//   - values lie inside the block, whatever the lengths say;
//   - any set of keys comes back as it was encoded; an accepted footer's index lies inside.
//
// Input: one byte (bits 0 and 1: length of values 0, 3, 8 or variable; bit 2: the bytes are keys to
// encode, bit 3: they are a partition's index and footer), then the bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "check_search.h"
#include "format/endian.h"
#include "format/key_block.h"
#include "format/partition_index.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Keys = std::array<std::uint64_t, kBlockKeysMax>;

void check_block(std::span<const std::byte> bytes, std::int32_t value_bytes) {
  fuzz::check_search(bytes, value_bytes, kKeyBytes);
  const auto block = parse_key_block(bytes, value_bytes);
  Keys keys;
  if (!block || !decode_keys(*block, keys)) return;
  require(block->key_count <= kBlockKeysMax && block->block_bytes <= bytes.size());
  require(keys[0] == block->first_key);
  std::vector<std::byte> values;
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < block->key_count; ++i) {
    require(i == 0 || keys[i - 1] < keys[i]);
    require(find_key(*block, keys[i], 0) == i);
    const auto value = value_at(*block, i, value_bytes);
    values.insert(values.end(), value.begin(), value.end());
    if (value_bytes == kVariableValue) lengths.push_back(static_cast<std::uint32_t>(value.size()));
  }
  std::vector<std::byte> again;
  encode_key_block(std::span(keys).first(block->key_count), value_bytes, values, lengths, again);
  require(again.size() <= block->block_bytes);
  const auto block_again = parse_key_block(again, value_bytes);
  Keys keys_again;
  require(block_again.has_value() && decode_keys(*block_again, keys_again).has_value());
  require(std::equal(keys.begin(), keys.begin() + block->key_count, keys_again.begin()));
  require(std::equal(values.begin(), values.end(), block_again->values.begin(),
                     block_again->values.end()));
}

void check_keys(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i + 8 <= bytes.size() && keys.size() < kBlockKeysMax; i += 8) {
    keys.push_back(load<std::uint64_t>(bytes.data() + i));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (keys.empty()) return;
  std::vector<std::byte> out;
  encode_key_block(keys, kNoValue, {}, {}, out);
  const auto block = parse_key_block(out, kNoValue);
  Keys decoded;
  require(block.has_value() && block->block_bytes == out.size());
  require(decode_keys(*block, decoded).has_value() && block->key_count == keys.size());
  require(std::equal(keys.begin(), keys.end(), decoded.begin()));
}

void check_partition(std::span<const std::byte> bytes) {
  const auto tail = bytes.last(std::min(bytes.size(), sizeof(PartitionFooter)));
  const auto footer = parse_partition_footer(tail, bytes.size());
  if (!footer) return;
  const auto index = bytes.first(bytes.size() - 64).subspan(footer->index_offset_bytes);
  const auto offsets = index.subspan(footer->block_count * footer->key_bytes);
  require(footer->block_count * 4 <= offsets.size());
  PartitionIndexRules rules(*footer);
  for (std::uint64_t i = 0; i < footer->block_count; ++i) {
    const std::uint64_t offset = load<std::uint32_t>(offsets.data() + i * 4) * 8U;
    if (!rules.take({load<std::uint64_t>(index.data() + i * 8), offset})) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array<std::int32_t, 4> kValueBytes{0, 3, 8, kVariableValue};
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if ((data[0] & 4) != 0) check_keys(bytes);
  if ((data[0] & 8) != 0) check_partition(bytes);
  if ((data[0] & 12) == 0) check_block(bytes, kValueBytes.at(data[0] & 3));
  return 0;
}
