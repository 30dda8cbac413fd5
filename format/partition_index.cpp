// SPDX-License-Identifier: Apache-2.0
#include "partition_index.h"

#include <cstring>

#include "base/assert.h"
#include "invalid.h"

namespace crawlstore::format {

namespace {

/// nullptr, or the text that names the broken rule.
const char* check_footer(const PartitionFooter& footer, std::uint64_t payload_bytes) {
  if (footer.magic != kPartitionMagic) {
    return "the magic number of a partition is wrong";
  }
  if (!is_key_bytes(footer.key_bytes) || footer.codec != 1) {
    return "the key length or the codec of a partition is unknown";
  }
  if (footer.reserved != 0 || !is_value_bytes(footer.value_bytes)) {
    return "reserved bytes or the value length of a partition are wrong";
  }
  if (footer.block_count == 0 || footer.block_count > payload_bytes / sizeof(KeyBlockHeader)) {
    return "the block count of a partition is out of range";
  }
  if (footer.key_count < footer.block_count ||
      footer.key_count > footer.block_count * kBlockKeysMax) {
    return "the key count of a partition is out of range";
  }
  const std::uint64_t tail_bytes = partition_tail_bytes(footer.block_count, footer.key_bytes);
  if (tail_bytes > payload_bytes || footer.index_offset_bytes != payload_bytes - tail_bytes ||
      footer.index_offset_bytes < footer.block_count * sizeof(KeyBlockHeader)) {
    return "the index of a partition is out of place";
  }
  const bool is_wide = footer.key_bytes == kWideKeyBytes;  // heads may be equal
  if (footer.last_key < footer.first_key ||
      (!is_wide && footer.last_key - footer.first_key < footer.key_count - 1) ||
      (footer.key_count == 1 && footer.last_key != footer.first_key)) {
    return "the key range of a partition does not fit its key count";
  }
  return nullptr;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): five numbers and the output
void encode_partition_tail(const PartitionIndex& index, std::uint64_t key_count,
                           std::uint64_t last_key, std::int32_t value_bytes,
                           std::uint64_t blocks_bytes, std::vector<std::byte>& out) {
  const std::size_t block_count = index.first_keys.size();
  CRAWLSTORE_ASSERT(block_count != 0 && index.block_offsets.size() == block_count);
  CRAWLSTORE_ASSERT(index.first_tails.empty() || index.first_tails.size() == block_count);
  const std::uint16_t key_bytes = index.first_tails.empty() ? kKeyBytes : kWideKeyBytes;
  const PartitionFooter footer{.key_count = key_count,
                               .block_count = block_count,
                               .index_offset_bytes = blocks_bytes,
                               .first_key = index.first_keys.front(),
                               .last_key = last_key,
                               .key_bytes = key_bytes,
                               .codec = 1,
                               .value_bytes = value_bytes,
                               .reserved = 0,
                               .magic = kPartitionMagic};
  const std::size_t start = out.size();
  out.resize(start + partition_tail_bytes(block_count, key_bytes));
  std::byte* tail = out.data() + start;
  std::memcpy(tail, index.first_keys.data(), block_count * 8);
  if (!index.first_tails.empty()) {
    std::memcpy(tail + block_count * 8, index.first_tails.data(), block_count * 8);
  }
  std::memcpy(tail + block_count * key_bytes, index.block_offsets.data(), block_count * 4);
  store_struct(out.data() + out.size() - sizeof footer, footer);
}

Result<PartitionFooter> parse_partition_footer(std::span<const std::byte> footer_bytes,
                                               std::uint64_t payload_bytes) {
  if (footer_bytes.size() != sizeof(PartitionFooter) || payload_bytes < sizeof(PartitionFooter) ||
      payload_bytes > kPayloadBytesMax || payload_bytes % 8 != 0) {
    return invalid("the length of a partition is out of range", 0);
  }
  const auto footer = load_struct<PartitionFooter>(footer_bytes.data());
  if (const char* broken = check_footer(footer, payload_bytes)) {
    return invalid(broken, payload_bytes - sizeof footer);
  }
  return footer;
}

Result<void> PartitionIndexRules::take(const PartitionIndexEntry& entry) {
  const std::uint64_t i = count_++;
  const bool is_first = i == 0;
  const bool keys_ascend =
      is_first ? entry.first_key.head == footer_.first_key : entry.first_key > last_.first_key;
  const bool offsets_ascend =
      is_first ? entry.offset_bytes == 0
               : entry.offset_bytes >= last_.offset_bytes + sizeof(KeyBlockHeader);
  if (!keys_ascend || entry.first_key.head > footer_.last_key) {
    return invalid("the first keys of a partition do not ascend",
                   footer_.index_offset_bytes + i * 8);
  }
  if (!offsets_ascend || entry.offset_bytes >= footer_.index_offset_bytes) {
    return invalid("the block offsets of a partition do not ascend",
                   footer_.index_offset_bytes + footer_.block_count * footer_.key_bytes + i * 4);
  }
  last_ = entry;
  return {};
}

Result<void> PartitionIndexRules::take_padding(std::span<const std::byte> padding) const {
  if (is_zero(padding)) return {};
  return invalid("padding of a partition is not zero", padding_offset());
}

}  // namespace crawlstore::format
