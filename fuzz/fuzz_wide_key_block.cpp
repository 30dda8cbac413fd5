// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no bytes crash the parser or make it read outside;
//   - decoded keys ascend strictly, by head and tail;
//   - encoding decoded keys and values again gives a block that is no longer, with the same
//     content;
//   - any set of keys, of 16 bytes, comes back as it was encoded.
//
// Input: one byte (bits 0 and 1: length of values 0, 3, 8 or variable; bit 2: the bytes are keys to
// encode), then the bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <crawlstore/types.h>

#include "check_search.h"
#include "format/endian.h"
#include "format/key_block.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

struct Keys {
  std::vector<std::uint64_t> heads;
  std::vector<std::uint64_t> tails;
  friend bool operator==(const Keys&, const Keys&) = default;
};

/// The keys of a block, or none.
Keys keys_of(const Result<KeyBlock>& block) {
  BlockNumbers heads;
  BlockNumbers tails;
  if (!block || !decode_keys(*block, heads, tails)) return {};
  const auto count = static_cast<std::ptrdiff_t>(block->key_count);
  return {{heads.begin(), heads.begin() + count}, {tails.begin(), tails.begin() + count}};
}

void check_block(std::span<const std::byte> bytes, std::int32_t value_bytes) {
  fuzz::check_search(bytes, value_bytes, kWideKeyBytes);
  const auto block = parse_key_block(bytes, value_bytes, kWideKeyBytes);
  const Keys keys = keys_of(block);
  if (keys.heads.empty()) return;
  require(block->block_bytes <= bytes.size());
  require((block->shares_head ? keys.tails : keys.heads)[0] == block->first_key);
  std::vector<std::byte> values;
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < block->key_count; ++i) {
    require(i == 0 ||
            Key16(keys.heads[i - 1], keys.tails[i - 1]) < Key16(keys.heads[i], keys.tails[i]));
    require(find_key(*block, keys.heads[i], keys.tails[i]) == i);
    const auto value = value_at(*block, i, value_bytes);
    values.insert(values.end(), value.begin(), value.end());
    if (value_bytes == kVariableValue) lengths.push_back(static_cast<std::uint32_t>(value.size()));
  }
  std::vector<std::byte> again;
  encode_wide_key_block(keys.heads, keys.tails, {value_bytes, values, lengths}, again);
  require(again.size() <= block->block_bytes);
  const auto block_again = parse_key_block(again, value_bytes, kWideKeyBytes);
  require(keys_of(block_again) == keys);
  require(std::equal(values.begin(), values.end(), block_again->values.begin(),
                     block_again->values.end()));
}

/// The heads have one byte, so that many are shared.
void check_keys(std::span<const std::byte> bytes) {
  std::set<Key16> sorted;
  for (std::size_t i = 0; i + 8 <= bytes.size() && sorted.size() < kBlockKeysMax; i += 8) {
    sorted.emplace(std::to_integer<std::uint64_t>(bytes[i]), load<std::uint64_t>(&bytes[i]));
  }
  Keys keys;
  for (const Key16& key : sorted) {
    keys.heads.push_back(key.head);
    keys.tails.push_back(key.tail);
  }
  if (sorted.empty()) return;
  std::vector<std::byte> out;
  encode_wide_key_block(keys.heads, keys.tails, {}, out);
  require(keys_of(parse_key_block(out, kNoValue, kWideKeyBytes)) == keys);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array<std::int32_t, 4> kValueBytes{0, 3, 8, kVariableValue};
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if ((data[0] & 4) != 0) check_keys(bytes);
  if ((data[0] & 4) == 0) check_block(bytes, kValueBytes.at(data[0] & 3));
  return 0;
}
