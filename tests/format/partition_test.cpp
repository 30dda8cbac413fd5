// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/key_block.h"
#include "format/partition_index.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// Three blocks of two keys: 10 11, 20 21, 30 31.
Bytes valid_partition() {
  Bytes out;
  PartitionIndex index;
  for (const std::uint64_t key : {10u, 20u, 30u}) {
    index.first_keys.push_back(key);
    index.block_offsets.push_back(static_cast<std::uint32_t>(out.size() / 8));
    encode_key_block(std::vector<std::uint64_t>{key, key + 1}, kNoValue, {}, {}, out);
  }
  encode_partition_tail(index, 6, 31, kNoValue, out.size(), out);
  return out;
}

PartitionFooter valid_footer() {
  const Bytes bytes = valid_partition();
  return load_struct<PartitionFooter>(bytes.data() + bytes.size() - 64);
}

std::string verdict_after(const std::function<void(PartitionFooter&)>& change) {
  PartitionFooter footer = valid_footer();
  change(footer);
  return text_of(parse_partition_footer(bytes_of_struct(footer), valid_partition().size()));
}

std::string index_verdict(const Bytes& partition) {
  const PartitionFooter footer = valid_footer();
  const std::span<const std::byte> bytes(partition);
  const auto index =
      bytes.subspan(footer.index_offset_bytes, bytes.size() - 64 - footer.index_offset_bytes);
  PartitionIndexRules rules(footer);
  for (std::uint64_t i = 0; i < footer.block_count; ++i) {
    const PartitionIndexEntry entry{
        load<std::uint64_t>(index.data() + i * 8),
        load<std::uint32_t>(index.data() + footer.block_count * 8 + i * 4) * 8U};
    if (const auto taken = rules.take(entry); !taken) return text_of(taken);
  }
  return text_of(rules.take_padding(index.subspan(footer.block_count * 12)));
}

TEST(Partition, ReturnsWhatWasEncoded) {
  const Bytes bytes = valid_partition();
  const auto footer = parse_partition_footer(std::span(bytes).last(64), bytes.size());
  ASSERT_TRUE(footer);
  EXPECT_EQ(footer->key_count, 6u);
  EXPECT_EQ(footer->block_count, 3u);
  EXPECT_EQ(footer->first_key, 10u);
  EXPECT_EQ(footer->last_key, 31u);
  EXPECT_EQ(footer->index_offset_bytes, bytes.size() - 64 - 24 - 16);
  EXPECT_EQ(index_verdict(bytes), "accepted");
}

// spec: drum.md#partition rule 1
TEST(Partition, RejectsAPayloadThatIsNoMultipleOf8) {
  EXPECT_EQ(text_of(parse_partition_footer(bytes_of_struct(valid_footer()), 65)),
            "the length of a partition is out of range");
}

// spec: drum.md#partition rule 1
TEST(Partition, RejectsAShortFooter) {
  EXPECT_EQ(text_of(parse_partition_footer(Bytes(63), 200)),
            "the length of a partition is out of range");
  EXPECT_EQ(text_of(parse_partition_footer(Bytes(64), 56)),
            "the length of a partition is out of range");
}

// spec: drum.md#partition rule 1
TEST(Partition, RejectsAnUnknownFooter) {
  EXPECT_EQ(verdict_after([](auto& f) { f.magic ^= 1; }),
            "the magic number of a partition is wrong");
  constexpr auto kUnknown = "the key length or the codec of a partition is unknown";
  EXPECT_EQ(verdict_after([](auto& f) { f.key_bytes = 12; }), kUnknown);
  EXPECT_EQ(verdict_after([](auto& f) { f.codec = 2; }), kUnknown);
  constexpr auto kReserved = "reserved bytes or the value length of a partition are wrong";
  EXPECT_EQ(verdict_after([](auto& f) { f.reserved = 1; }), kReserved);
  EXPECT_EQ(verdict_after([](auto& f) { f.value_bytes = -2; }), kReserved);
  EXPECT_EQ(verdict_after([](auto& f) { f.value_bytes = (1 << 24) + 1; }), kReserved);
}

// spec: drum.md#partition rule 2
TEST(Partition, RejectsCountsOutOfRange) {
  constexpr auto kBlocks = "the block count of a partition is out of range";
  EXPECT_EQ(verdict_after([](auto& f) { f.block_count = 0; }), kBlocks);
  EXPECT_EQ(verdict_after([](auto& f) { f.block_count = ~0ull / 3; }), kBlocks);
  constexpr auto kKeys = "the key count of a partition is out of range";
  EXPECT_EQ(verdict_after([](auto& f) { f.key_count = 2; }), kKeys);
  EXPECT_EQ(verdict_after([](auto& f) { f.key_count = 3 * 512 + 1; }), kKeys);
}

// spec: drum.md#partition rule 3
TEST(Partition, RejectsAnIndexOutOfPlace) {
  constexpr auto kText = "the index of a partition is out of place";
  EXPECT_EQ(verdict_after([](auto& f) { f.index_offset_bytes += 8; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.block_count = 5; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.block_count = 2; }), kText);
}

// spec: drum.md#partition rule 4
TEST(Partition, RejectsARangeThatDoesNotFitTheCount) {
  constexpr auto kText = "the key range of a partition does not fit its key count";
  EXPECT_EQ(verdict_after([](auto& f) { f.last_key = 9; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.last_key = 14; }), kText);
}

// spec: drum.md#partition rule 5
TEST(Partition, RejectsFirstKeysThatDoNotAscend) {
  constexpr auto kText = "the first keys of a partition do not ascend";
  const std::size_t at = valid_footer().index_offset_bytes;
  EXPECT_EQ(index_verdict(with(valid_partition(), at, std::uint64_t{9})), kText);
  EXPECT_EQ(index_verdict(with(valid_partition(), at + 8, std::uint64_t{10})), kText);
  EXPECT_EQ(index_verdict(with(valid_partition(), at + 16, std::uint64_t{32})), kText);
}

// spec: drum.md#partition rule 6
TEST(Partition, RejectsOffsetsThatDoNotAscend) {
  constexpr auto kText = "the block offsets of a partition do not ascend";
  const std::size_t at = valid_footer().index_offset_bytes + 3 * 8;
  EXPECT_EQ(index_verdict(with(valid_partition(), at, std::uint32_t{1})), kText);
  EXPECT_EQ(index_verdict(with(valid_partition(), at + 4, std::uint32_t{1})), kText);
  EXPECT_EQ(index_verdict(with(valid_partition(), at + 8, ~std::uint32_t{0})), kText);
}

// spec: drum.md#partition rule 7
TEST(Partition, RejectsPaddingThatIsNotZero) {
  const std::size_t at = valid_footer().index_offset_bytes + 3 * 8 + 3 * 4;
  EXPECT_EQ(index_verdict(with(valid_partition(), at, std::uint8_t{1})),
            "padding of a partition is not zero");
}

}  // namespace
}  // namespace crawlstore::format
