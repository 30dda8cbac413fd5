// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the counts of first_row_of() add up to the key count of the footer; a block that is
// read and holds another number of keys is an error.
#include "drum/partition_rows.h"

#include <algorithm>

#include "format/endian.h"

namespace crawlstore::drum {

tl::unexpected<Error> PartitionRows::invalid(const char* text, std::uint64_t payload_offset) const {
  return fail(Errc::kSegmentInvalid, text, lookup_->reader().run().offset_bytes + payload_offset);
}

Result<std::shared_ptr<const PartitionRows>> PartitionRows::open(
    std::shared_ptr<const PartitionLookup> lookup) {
  std::unique_ptr<PartitionRows> rows(new PartitionRows(std::move(lookup)));
  const auto& footer = rows->lookup_->footer();
  CRAWLSTORE_TRY(const auto last, rows->key_count_of(footer.block_count - 1));
  // No block holds more than kBlockKeysMax. If the last one alone explains the difference to that,
  // all others are full.
  const std::uint64_t missing = footer.block_count * format::kBlockKeysMax - footer.key_count;
  if (missing != format::kBlockKeysMax - last) CRAWLSTORE_TRY(rows->count_all());
  return std::shared_ptr<const PartitionRows>(std::move(rows));
}

/// Returns the key count of the block's header, from 1 to kBlockKeysMax.
Result<std::uint32_t> PartitionRows::key_count_of(std::uint64_t block) const {
  CRAWLSTORE_TRY(const auto place, lookup_->block_place(block));
  if (place.length_bytes < sizeof(format::KeyBlockHeader)) {
    return invalid("a key block is cut short", place.offset_bytes);
  }
  CRAWLSTORE_TRY(const auto bytes,
                 lookup_->reader().bytes(place.offset_bytes, sizeof(format::KeyBlockHeader)));
  const std::uint32_t count = format::load_struct<format::KeyBlockHeader>(bytes.data()).key_count;
  if (count == 0 || count > format::kBlockKeysMax) {
    return invalid("a key block holds no number of keys that can be", place.offset_bytes);
  }
  return count;
}

Result<void> PartitionRows::count_all() {
  const auto& footer = lookup_->footer();
  std::uint64_t row = 0;
  for (std::uint64_t block = 0; block < footer.block_count; ++block) {
    CRAWLSTORE_TRY(const auto count, key_count_of(block));
    first_rows_.push_back(row);
    row += count;
  }
  if (row == footer.key_count) return {};
  return invalid("the blocks of a partition do not hold as many keys as it says", 0);
}

std::uint64_t PartitionRows::first_row_of(std::uint64_t block) const {
  if (block == lookup_->block_count()) return key_count();
  return first_rows_.empty() ? block * format::kBlockKeysMax : first_rows_[block];
}

Result<void> PartitionRows::read_block(std::uint64_t index, Block& out) const {
  CRAWLSTORE_TRY(const auto place, lookup_->block_place(index));
  CRAWLSTORE_TRY(const auto block, lookup_->block(index));
  out.block = block;
  out.first_row = first_row_of(index);
  out.offset_bytes = lookup_->reader().run().offset_bytes + place.offset_bytes;
  if (out.end_row() != first_row_of(index + 1)) {
    return invalid("a key block holds another number of keys than its partition needs",
                   place.offset_bytes);
  }
  if (const auto decoded = format::decode_keys(out.block, out.keys, out.tails); !decoded) {
    return invalid(decoded.error().text, place.offset_bytes);
  }
  CRAWLSTORE_TRY(const auto first_key, lookup_->first_key(index));
  if (first_key == Key16{out.keys[0], out.tails[0]}) return {};
  return invalid("the first key of a block is not the one the index says", place.offset_bytes);
}

Result<void> PartitionRows::read_block_of(std::uint64_t row, Block& out) const {
  if (first_rows_.empty()) return read_block(row / format::kBlockKeysMax, out);
  const auto after = std::upper_bound(first_rows_.begin(), first_rows_.end(), row);
  return read_block(static_cast<std::uint64_t>(after - first_rows_.begin()) - 1, out);
}

Result<std::uint64_t> PartitionRows::lower_bound(Key16 key) const {
  if (key.head < lookup_->footer().first_key) return 0;
  if (key.head > lookup_->footer().last_key) return key_count();
  CRAWLSTORE_TRY(const auto index, lookup_->find_block(key));
  Block block;
  CRAWLSTORE_TRY(read_block(index, block));
  std::uint32_t position = 0;
  const auto is_below = [&](std::uint32_t i) { return Key16{block.keys[i], block.tails[i]} < key; };
  for (std::uint32_t end = block.block.key_count; position < end;) {
    const std::uint32_t middle = position + (end - position) / 2;
    if (is_below(middle)) {
      position = middle + 1;
    } else {
      end = middle;
    }
  }
  return block.first_row + position;
}

}  // namespace crawlstore::drum
