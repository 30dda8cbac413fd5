// SPDX-License-Identifier: Apache-2.0
#include "key_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "lower_bits.h"

namespace crawlstore::format {

namespace {

constexpr std::uint64_t kBlockBytesMax = 0xFFFF'FFF8;
constexpr std::uint32_t kNarrowBitsMin = 8;

/// The places of the parts of a block; all offsets from the start of the block.
struct Layout {
  std::uint32_t low_bits = 0;
  std::uint64_t upper_words = 0;
  std::uint64_t lower_words = 0;
  std::uint64_t halves = 0;
  [[nodiscard]] std::uint64_t lower_offset() const {
    return sizeof(KeyBlockHeader) + upper_words * 8;
  }
  [[nodiscard]] std::uint64_t halves_offset() const { return lower_offset() + lower_words * 8; }
  [[nodiscard]] std::uint64_t keys_end() const { return halves_offset() + halves * 8; }
};

/// The parts for `distance_count` distances of which the last is `distance_max`.
Layout layout_of(std::uint64_t distance_max, std::uint64_t distance_count, std::uint32_t low_bits) {
  const std::uint64_t high = distance_max >> low_bits;  // high + distance_count may overflow
  return {low_bits, high / 64 + (high % 64 + distance_count - 1) / 64 + 1,
          (distance_count * low_bits + 63) / 64};
}

/// The smallest layout. Its size is convex in low_bits up to rounding, with the minimum at the
/// first l where distance_max >> (l + 1) <= distance_count; rounding matters for few keys only.
Layout smallest_layout(std::uint64_t distance_max, std::uint64_t distance_count) {
  if (distance_count == 0) {
    return {};
  }
  const int excess = std::countl_zero(distance_count) - std::countl_zero(distance_max);
  std::uint32_t from = static_cast<std::uint32_t>(std::max(excess - 2, 0));
  std::uint32_t to = static_cast<std::uint32_t>(std::max(excess + 2, 0));
  if (distance_count < 128) {
    from = 0;
    to = 63;
  }
  Layout best = layout_of(distance_max, distance_count, from);
  for (std::uint32_t low_bits = from + 1; low_bits <= std::min(to, 63u); ++low_bits) {
    const Layout other = layout_of(distance_max, distance_count, low_bits);
    if (other.keys_end() < best.keys_end()) {
      best = other;
    }
  }
  return best;
}

/// Sets the unary-coded upper bits; the words are zero before. No branches: the word that is being
/// filled is stored again for each key.
void write_upper(std::span<const std::uint64_t> keys, std::uint32_t low_bits, std::byte* words) {
  const std::uint64_t first_key = keys[0];
  std::uint64_t word = 0;
  std::uint64_t word_index = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const std::uint64_t position = ((keys[i] - first_key) >> low_bits) + i - 1;
    const bool goes_on = position / 64 == word_index;
    word_index = position / 64;
    word = (word & -static_cast<std::uint64_t>(goes_on)) | std::uint64_t{1} << (position % 64);
    store(words + word_index * 8, word);
  }
}

/// Each store writes 8 bytes: one lower part, and before it the bits of the part before that share
/// its first byte. Needs kNarrowBitsMin bits, so that these bits come from one part, and 8 bytes of
/// room behind the lower bits, which become zero.
void write_lower_narrow(std::span<const std::uint64_t> keys, std::uint32_t low_bits,
                        std::byte* out) {
  const GroupShape shape(low_bits);
  const std::uint64_t first_key = keys[0];
  const std::uint64_t mask = low_mask(low_bits);
  std::uint64_t before = 0;
  const auto add = [&](std::uint64_t key, std::byte* group, std::size_t k) {
    const std::uint64_t low = (key - first_key) & mask;
    store(group + shape.bytes[k], low << shape.shifts[k] | before >> (low_bits - shape.shifts[k]));
    before = low;
  };
  std::size_t i = 1;
  for (; i + GroupShape::kParts <= keys.size(); i += GroupShape::kParts, out += low_bits) {
    for (std::size_t k = 0; k < GroupShape::kParts; ++k) {
      add(keys[i + k], out, k);
    }
  }
  for (std::size_t k = 0; i + k < keys.size(); ++k) {
    add(keys[i + k], out, k);
  }
}

/// Lower parts of any length; the words are zero before.
void write_lower_any(std::span<const std::uint64_t> keys, std::uint32_t low_bits, std::byte* out) {
  std::uint64_t bit = 0;
  for (const std::uint64_t key : keys.subspan(1)) {
    const std::uint64_t low = (key - keys[0]) & low_mask(low_bits);
    std::byte* word = out + bit / 64 * 8;
    const std::uint64_t shift = bit % 64;
    store(word, load<std::uint64_t>(word) | low << shift);
    if (shift + low_bits > 64) {
      store(word + 8, low >> (64 - shift));
    }
    bit += low_bits;
  }
}

/// For each byte the places of its set bits, and how many there are.
struct BitPlaces {
  std::array<std::array<std::uint16_t, 8>, 256> places{};
  std::array<std::uint8_t, 256> counts{};
  constexpr BitPlaces() {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      for (std::uint16_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) {
          places[byte][counts[byte]++] = bit;
        }
      }
    }
  }
};
constexpr BitPlaces kBitPlaces;

/// Room for the place of every bit that can be set, and for the rest of the last eight written.
using UpperPlaces = std::array<std::uint16_t, kUpperWordsMax * 64 + 8>;

/// Writes the places of all set bits; returns how many. Takes a byte at a time, eight places at
/// once of which only the set ones stay: no branch depends on the data.
std::size_t read_upper(std::span<const std::byte> upper, UpperPlaces& places) {
  std::uint16_t* out = places.data();
  for (std::size_t i = 0; i < upper.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(upper[i]);
    const auto start = static_cast<std::uint16_t>(i * 8);
    for (std::size_t k = 0; k < 8; ++k) {
      out[k] = static_cast<std::uint16_t>(kBitPlaces.places[byte][k] + start);
    }
    out += kBitPlaces.counts[byte];
  }
  return static_cast<std::size_t>(out - places.data());
}

/// Returns false if order is broken or a sum overflows. Strict: equal numbers break it too.
template <bool kIsStrict>
bool join_parts(const KeyBlock& block, const std::uint16_t* places, std::uint64_t* out) {
  const LowerBits lower(block.lower, block.low_bits);
  const std::uint64_t first_key = block.first_key;
  const std::uint32_t low_bits = block.low_bits;
  const std::size_t count = block.key_count - 1u;
  const std::uint64_t scale = std::uint64_t{1} << low_bits;
  std::uint64_t base = first_key;  // first_key - (i << low_bits)
  std::uint64_t previous = first_key;
  std::size_t ascents = 0;
  const auto add = [&](std::size_t i, std::uint64_t low) {
    const std::uint64_t key = base + (std::uint64_t{places[i]} << low_bits) + low;
    ascents += (kIsStrict ? key > previous : key >= previous) ? 1 : 0;
    previous = key;
    base -= scale;
    out[i] = key;
  };
  const std::size_t grouped = lower.group_count(count) * GroupShape::kParts;
  std::size_t start = 0;
  for (std::size_t i = 0; i < grouped; i += GroupShape::kParts, start += low_bits) {
    for (std::size_t k = 0; k < GroupShape::kParts; ++k) {
      add(i + k, lower.in_group(start, k));
    }
  }
  for (std::size_t i = grouped; i < count; ++i) {
    add(i, lower.at(i));
  }
  // The highest upper part is the last; when it does not overflow, no distance does, and a sum
  // that wraps around shows as a descent.
  const std::uint64_t highest = count == 0 ? 0 : places[count - 1] - (count - 1);
  return ascents == count && (highest >> 1 >> (63 - low_bits)) == 0;
}

/// Takes the lengths and the values, which begin at block.block_bytes, and moves that to their end.
Result<void> take_values(std::span<const std::byte> bytes, std::int32_t value_bytes,
                         KeyBlock& block) {
  std::uint64_t offset = block.block_bytes;
  std::uint64_t length = 0;
  if (value_bytes == kVariableValue) {
    const std::uint64_t column = std::uint64_t{block.key_count} * 4;
    if (round_up(column, 8) > bytes.size() - offset) {
      return invalid("a key block is cut short in its lengths", offset);
    }
    block.lengths = bytes.subspan(offset, column);
    if (!is_zero(bytes.subspan(offset + column, round_up(column, 8) - column))) {
      return invalid("padding of a key block is not zero", offset + column);
    }
    for (std::uint64_t i = 0; i < column; i += 4) {
      const auto one = load<std::uint32_t>(block.lengths.data() + i);
      if (one > kValueBytesMax) {
        return invalid("a value in a key block is too long", offset + i);
      }
      length += one;
    }
    offset += round_up(column, 8);
  } else {
    length = std::uint64_t{block.key_count} * static_cast<std::uint32_t>(value_bytes);
  }
  const std::uint64_t padded = round_up(length, 8);
  if (padded > bytes.size() - offset) {
    return invalid("a key block is cut short in its values", offset);
  }
  block.values = bytes.subspan(offset, length);
  if (!is_zero(bytes.subspan(offset + length, padded - length))) {
    return invalid("padding of a key block is not zero", offset + length);
  }
  if (offset + padded > kBlockBytesMax) {
    return invalid("a key block is too long", 0);
  }
  block.block_bytes = static_cast<std::uint32_t>(offset + padded);
  return {};
}

/// The numbers that are coded.
template <bool kIsStrict>
Result<void> decode(const KeyBlock& block, BlockNumbers& out) {
  UpperPlaces places;  // not initialised: only what read_upper() writes is read
  out[0] = block.first_key;
  if (read_upper(block.upper, places) != block.key_count - 1u ||
      !join_parts<kIsStrict>(block, places.data(), out.data() + 1)) {
    return invalid("the keys of a key block do not ascend or are too few or too many",
                   sizeof(KeyBlockHeader));
  }
  return {};
}

/// Whether heads with their tails ascend strictly, and not all heads are the same.
bool do_wide_keys_ascend(std::span<const std::uint64_t> heads,
                         std::span<const std::uint64_t> tails) {
  bool ascend = heads.size() == 1 || heads.front() != heads.back();
  for (std::size_t i = 1; i < heads.size(); ++i) {
    ascend &= heads[i] > heads[i - 1] || tails[i] > tails[i - 1];
  }
  return ascend;
}

/// One block: `coded` ascends; `halves` are as they are.
void encode(std::span<const std::uint64_t> coded, std::span<const std::uint64_t> halves,
            bool shares_head, const BlockValues& values, std::vector<std::byte>& out) {
  const auto count = coded.size();
  CRAWLSTORE_ASSERT(count != 0 && count <= kBlockKeysMax && is_value_bytes(values.bytes));
  CRAWLSTORE_ASSERT(values.lengths.size() == (values.bytes == kVariableValue ? count : 0));
  CRAWLSTORE_ASSERT(values.bytes == kVariableValue ||
                    values.values.size() == count * static_cast<std::size_t>(values.bytes));
  CRAWLSTORE_DCHECK(std::is_sorted(coded.begin(), coded.end()));
  Layout layout = smallest_layout(coded.back() - coded.front(), count - 1);
  layout.halves = halves.size();
  const std::uint64_t lengths_bytes = round_up(values.lengths.size() * 4, 8);
  const std::uint64_t block_bytes =
      layout.keys_end() + lengths_bytes + round_up(values.values.size(), 8);
  CRAWLSTORE_ASSERT(block_bytes <= kBlockBytesMax && layout.upper_words <= kUpperWordsMax);

  const std::size_t start = out.size();
  out.resize(start + block_bytes + 8);  // 8 for the last store of write_lower_narrow()
  std::byte* block = out.data() + start;
  KeyBlockHeader header{};
  header.first_key = coded.front();
  header.key_count = static_cast<std::uint16_t>(count);
  header.upper_words = static_cast<std::uint16_t>(layout.upper_words);
  header.low_bits = static_cast<std::uint8_t>(layout.low_bits);
  header.shares_head = shares_head ? 1 : 0;
  store_struct(block, header);
  if (count > 1) {
    write_upper(coded, layout.low_bits, block + sizeof header);
    std::byte* lower = block + layout.lower_offset();
    if (layout.low_bits >= kNarrowBitsMin && layout.low_bits <= kNarrowBitsMax) {
      write_lower_narrow(coded, layout.low_bits, lower);
    } else if (layout.low_bits != 0) {
      write_lower_any(coded, layout.low_bits, lower);
    }
  }
  if (!halves.empty()) {
    std::memcpy(block + layout.halves_offset(), halves.data(), halves.size_bytes());
  }
  std::byte* behind = block + layout.keys_end();
  if (!values.lengths.empty()) {
    std::memcpy(behind, values.lengths.data(), values.lengths.size_bytes());
  }
  if (!values.values.empty()) {
    std::memcpy(behind + lengths_bytes, values.values.data(), values.values.size());
  }
  out.resize(start + block_bytes);
}

}  // namespace

std::uint64_t key_block_bytes(std::uint64_t distance, std::uint32_t key_count) {
  CRAWLSTORE_ASSERT(key_count > 0 && key_count <= kBlockKeysMax);
  return smallest_layout(distance, key_count - 1).keys_end();
}

void encode_key_block(std::span<const std::uint64_t> keys, std::int32_t value_bytes,
                      std::span<const std::byte> values, std::span<const std::uint32_t> lengths,
                      std::vector<std::byte>& out) {
  CRAWLSTORE_DCHECK(std::is_sorted(keys.begin(), keys.end(), std::less_equal<>()));
  encode(keys, {}, false, {value_bytes, values, lengths}, out);
}

void encode_wide_key_block(std::span<const std::uint64_t> heads,
                           std::span<const std::uint64_t> tails, const BlockValues& values,
                           std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!heads.empty() && heads.size() == tails.size());
  const bool shares_head = heads.size() > 1 && heads.front() == heads.back();
  CRAWLSTORE_DCHECK(shares_head ? std::is_sorted(tails.begin(), tails.end(), std::less_equal<>())
                                : do_wide_keys_ascend(heads, tails));
  if (shares_head) {
    encode(tails, heads.first(1), true, values, out);
  } else {
    encode(heads, tails, false, values, out);
  }
}

Result<KeyBlock> parse_key_block_bounds(std::span<const std::byte> bytes, std::int32_t value_bytes,
                                        std::uint16_t key_bytes) {
  CRAWLSTORE_ASSERT(is_value_bytes(value_bytes) && is_key_bytes(key_bytes));
  if (bytes.size() < sizeof(KeyBlockHeader)) {
    return invalid("a key block is cut short in its header", 0);
  }
  const auto header = load_struct<KeyBlockHeader>(bytes.data());
  if (header.key_count == 0 || header.key_count > kBlockKeysMax) {
    return invalid("the key count of a key block is out of range", 0);
  }
  if (header.low_bits > 63 || !is_zero(std::as_bytes(std::span(header.reserved)))) {
    return invalid("the low bits or reserved bytes of a key block are wrong", 0);
  }
  if ((header.upper_words == 0) != (header.key_count == 1) || header.upper_words > kUpperWordsMax) {
    return invalid("the upper bits of a key block have a wrong length", 0);
  }
  const bool is_wide = key_bytes == kWideKeyBytes;
  if (header.shares_head > 1 || (header.shares_head == 1 && (!is_wide || header.key_count == 1))) {
    return invalid("a key block says wrongly that its keys share their head", 0);
  }
  const bool shares_head = header.shares_head == 1;
  const std::uint64_t low_bit_count = std::uint64_t{header.key_count - 1u} * header.low_bits;
  const std::uint64_t halves = shares_head ? 1 : header.key_count;
  const Layout layout{header.low_bits, header.upper_words, (low_bit_count + 63) / 64,
                      is_wide ? halves : 0};
  if (layout.keys_end() > bytes.size()) {
    return invalid("a key block is cut short in its keys", 0);
  }
  KeyBlock block;
  block.first_key = header.first_key;
  block.key_count = header.key_count;
  block.block_bytes = static_cast<std::uint32_t>(layout.keys_end());
  block.low_bits = header.low_bits;
  block.shares_head = shares_head;
  block.upper_words = header.upper_words;
  block.upper = bytes.subspan(sizeof header, layout.upper_words * 8);
  block.lower = bytes.subspan(layout.lower_offset(), layout.lower_words * 8);
  block.halves = bytes.subspan(layout.halves_offset(), layout.halves * 8);
  CRAWLSTORE_TRY(take_values(bytes, value_bytes, block));
  return block;
}

Result<KeyBlock> parse_key_block(std::span<const std::byte> bytes, std::int32_t value_bytes,
                                 std::uint16_t key_bytes) {
  CRAWLSTORE_TRY(auto block, parse_key_block_bounds(bytes, value_bytes, key_bytes));
  const std::uint64_t lower_offset = sizeof(KeyBlockHeader) + block.upper.size();
  if (!block.upper.empty() && is_zero(block.upper.last(8))) {
    return invalid("the last upper word of a key block is zero", lower_offset - 8);
  }
  const std::uint64_t low_bit_count = std::uint64_t{block.key_count - 1u} * block.low_bits;
  if (low_bit_count % 64 != 0 &&
      load<std::uint64_t>(block.lower.last(8).data()) >> (low_bit_count % 64) != 0) {
    return invalid("padding of a key block is not zero", lower_offset + block.lower.size() - 8);
  }
  return block;
}

Result<void> decode_keys(const KeyBlock& block, BlockNumbers& out) {
  CRAWLSTORE_ASSERT(block.halves.empty());
  return decode<true>(block, out);
}

Result<void> decode_keys(const KeyBlock& block, BlockNumbers& heads, BlockNumbers& tails) {
  if (block.halves.empty()) return decode<true>(block, heads);
  const std::size_t count = block.key_count;
  CRAWLSTORE_ASSERT(block.halves.size() == (block.shares_head ? 1 : count) * 8);
  if (block.shares_head) {
    std::fill_n(heads.begin(), count, load<std::uint64_t>(block.halves.data()));
    return decode<true>(block, tails);
  }
  CRAWLSTORE_TRY(decode<false>(block, heads));
  std::memcpy(tails.data(), block.halves.data(), block.halves.size());
  if (!do_wide_keys_ascend(std::span(heads).first(count), std::span(tails).first(count))) {
    return invalid("the keys of a key block do not ascend, or share a head that is repeated",
                   sizeof(KeyBlockHeader));
  }
  return {};
}

std::span<const std::byte> value_at(const KeyBlock& block, std::uint32_t index,
                                    std::int32_t value_bytes) {
  if (value_bytes != kVariableValue) {
    const auto length = static_cast<std::size_t>(value_bytes);
    return block.values.subspan(index * length, length);
  }
  std::size_t begin = 0;
  for (std::uint32_t i = 0; i < index; ++i) {
    begin += load<std::uint32_t>(block.lengths.data() + i * 4);
  }
  return variable_value(block, index, begin);
}

}  // namespace crawlstore::format
