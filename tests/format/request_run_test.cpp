// SPDX-License-Identifier: Apache-2.0
#include "format/request_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/key_block.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// Columns that own their numbers.
struct Columns {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint16_t> tags;
  std::vector<std::uint32_t> sequences;
  std::vector<std::uint32_t> lengths;
  Bytes values;
  std::int32_t value_bytes = 0;

  [[nodiscard]] KeyRun run() const {
    KeyRun run;
    run.first_sequence = 1000;
    run.value_bytes = value_bytes;
    run.uniform_tag = tags.empty() ? make_tag(Operation::kUpdate, {3}) : std::uint16_t{0};
    run.keys = keys;
    run.tags = tags;
    run.sequences = sequences;
    run.lengths = lengths;
    run.values = values;
    return run;
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes out;
    encode_key_run(run(), out);
    return out;
  }
};

Columns random_columns(std::mt19937_64& random, std::int32_t value_bytes) {
  Columns columns;
  columns.value_bytes = value_bytes;
  const std::size_t count = 1 + random() % 50;
  const bool has_tags = random() % 2 != 0;
  const bool has_sequences = random() % 2 != 0;
  std::uint32_t sequence = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    columns.keys.push_back(random());
    const auto tag =
        make_tag(static_cast<Operation>(random() % 3), {below<std::uint16_t>(random, 16'384)});
    if (has_tags) columns.tags.push_back(tag);
    if (has_sequences) {
      columns.sequences.push_back(sequence);
      sequence += 1 + below(random, 9);
    }
    if (value_bytes == kVariableValue) {
      const bool is_check = has_tags && operation_of(tag) == Operation::kCheck;
      columns.lengths.push_back(is_check ? 0 : below(random, 20));
      bytes += columns.lengths.back();
    }
  }
  columns.values = pattern(
      value_bytes == kVariableValue ? bytes : count * static_cast<std::size_t>(value_bytes));
  return columns;
}

template <class T>
std::vector<T> copy(std::span<const T> column) {
  return {column.begin(), column.end()};
}

/// Header 48 bytes; then keys of 1 bit at 48, tags at 56, sequences at 64, lengths at 72, values
/// at 80.
Columns small_columns() {
  Columns columns;
  columns.keys = {7, 8};
  columns.tags = {make_tag(Operation::kCheck, {0}), make_tag(Operation::kUpdate, {1})};
  columns.sequences = {0, 4};
  columns.lengths = {0, 3};
  columns.values = bytes_of("abc");
  columns.value_bytes = kVariableValue;
  return columns;
}

std::string verdict_of(const Bytes& bytes) {
  std::vector<std::uint64_t> keys;
  return text_of(parse_key_run(bytes, keys));
}

template <class T>
std::string verdict_with(std::size_t offset, T value) {
  return verdict_of(with(small_columns().bytes(), offset, value));
}

TEST(KeyRun, ReturnsRandomColumnsAsTheyWere) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 2000; ++i) {
    const Columns columns = random_columns(random, std::array{0, 1, 8, 13, -1}[random() % 5]);
    const Bytes bytes = columns.bytes();
    std::vector<std::uint64_t> keys;
    const auto run = parse_key_run(bytes, keys);
    ASSERT_TRUE(run) << run.error().text;
    ASSERT_EQ(run->first_sequence, 1000u);
    ASSERT_EQ(run->uniform_tag, columns.run().uniform_tag);
    ASSERT_EQ(copy(run->keys), columns.keys);
    ASSERT_EQ(copy(run->tags), columns.tags);
    ASSERT_EQ(copy(run->sequences), columns.sequences);
    ASSERT_EQ(copy(run->lengths), columns.lengths);
    ASSERT_EQ(copy(run->values), columns.values);
  }
}

TEST(KeyRun, AppendsBehindWhatIsThere) {
  Bytes out = pattern(16);
  encode_key_run(small_columns().run(), out);
  EXPECT_EQ(Bytes(out.begin(), out.begin() + 16), pattern(16));
  EXPECT_EQ(Bytes(out.begin() + 16, out.end()), small_columns().bytes());
}

// spec: drum.md#request-runs rule 1
TEST(KeyRun, RejectsEveryOtherLength) {
  Bytes bytes = small_columns().bytes();
  for (std::size_t length = 0; length < bytes.size() + 64; ++length) {
    Bytes other = bytes;
    other.resize(length);
    ASSERT_EQ(verdict_of(other) == "accepted", length == bytes.size()) << length;
  }
}

// spec: drum.md#request-runs rule 2
TEST(KeyRun, RejectsWrongMagicFlagsAndReservedBytes) {
  EXPECT_EQ(verdict_with(0, std::uint8_t{0}), "the magic number of a key run is wrong");
  EXPECT_EQ(verdict_with(24, std::uint32_t{7}), "a flag of a key run is unknown");
  EXPECT_EQ(verdict_with(36, std::uint8_t{1}),
            "a number in the header of a key run is out of range");
}

// spec: drum.md#packed-keys rule 9
TEST(KeyRun, RejectsKeysThatArePackedInAnotherWay) {
  constexpr auto kRange = "a number in the header of a key run is out of range";
  EXPECT_EQ(verdict_with(34, std::uint16_t{0}), kRange);
  EXPECT_EQ(verdict_with(34, std::uint16_t{65}), kRange);
  constexpr auto kText = "keys are not packed as tightly as they must be";
  EXPECT_EQ(verdict_with(34, std::uint16_t{3}), kText);
  EXPECT_EQ(verdict_with(48, std::uint8_t{0}), "accepted") << "7 and 7";
  EXPECT_EQ(verdict_with(48, std::uint8_t{3}), kText) << "both above the base";
}

// spec: drum.md#packed-keys rule 10
TEST(KeyRun, RejectsKeysThatOverflowAndUnusedBits) {
  EXPECT_EQ(verdict_with(40, ~std::uint64_t{0} - 1), "accepted");
  EXPECT_EQ(verdict_with(40, ~std::uint64_t{0}), "a packed key exceeds 64 bits");
  EXPECT_EQ(verdict_with(48, std::uint8_t{6}), "unused bits of packed keys are not zero");
  EXPECT_EQ(verdict_with(55, std::uint8_t{0x80}), "unused bits of packed keys are not zero");
}

// spec: drum.md#request-runs rule 2
TEST(KeyRun, RejectsPaddingThatIsNotZero) {
  EXPECT_EQ(verdict_with(60, std::uint8_t{1}), "padding of a run is not zero");
  EXPECT_EQ(verdict_with(83, std::uint8_t{1}), "padding of a run is not zero");
}

// spec: drum.md#request-runs rule 3
TEST(KeyRun, RejectsCountsAndValueLengthsOutOfRange) {
  constexpr auto kText = "a number in the header of a key run is out of range";
  EXPECT_EQ(verdict_with(8, std::uint64_t{0}), kText);
  EXPECT_EQ(verdict_with(8, kRequestsPerRunMax + 1), kText);
  EXPECT_EQ(verdict_with(8, ~std::uint64_t{0}), kText);
  EXPECT_EQ(verdict_with(28, std::int32_t{-2}), kText);
  EXPECT_EQ(verdict_with(28, std::int32_t{(1 << 24) + 1}), kText);
}

// spec: drum.md#request-runs rule 1
TEST(KeyRun, RejectsCountsLargerThanTheRun) {
  constexpr auto kText = "a run is cut short";
  EXPECT_EQ(verdict_with(8, kRequestsPerRunMax), kText);
  EXPECT_EQ(verdict_with(28, std::int32_t{1 << 24}), kText);
}

// spec: drum.md#request-runs rule 4
TEST(KeyRun, RejectsUnknownOperations) {
  constexpr auto kText = "an operation in a key run is unknown";
  EXPECT_EQ(verdict_with(56, std::uint16_t{3}), kText);
  Columns columns = small_columns();
  columns.tags.clear();
  columns.lengths = {1, 2};
  EXPECT_EQ(verdict_of(with(columns.bytes(), 32, std::uint16_t{7})), kText);
}

// spec: drum.md#request-runs rule 4
TEST(KeyRun, RejectsAUniformTagBesideAColumnOfTags) {
  EXPECT_EQ(verdict_with(32, std::uint16_t{1}),
            "a number in the header of a key run is out of range");
}

// spec: drum.md#request-runs rule 5
TEST(KeyRun, RejectsSequencesThatDoNotAscend) {
  constexpr auto kText = "the sequence numbers of a key run do not ascend";
  EXPECT_EQ(verdict_with(68, std::uint32_t{0}), kText);
  EXPECT_EQ(verdict_with(68, std::uint32_t{1}), "accepted");
}

// spec: drum.md#request-runs rule 5
TEST(KeyRun, RejectsSequencesThatDoNotBeginWithTheFirst) {
  constexpr auto kText = "the sequence numbers of a key run do not begin with its first";
  EXPECT_EQ(verdict_with(64, std::uint32_t{1}), kText);
  EXPECT_EQ(verdict_with(64, std::uint32_t{5}), kText);
}

// spec: drum.md#request-runs rule 5
TEST(KeyRun, RejectsSequencesThatOverflow) {
  constexpr auto kText = "the sequence numbers of a key run overflow";
  EXPECT_EQ(verdict_with(16, ~std::uint64_t{0} - 4), "accepted");
  EXPECT_EQ(verdict_with(16, ~std::uint64_t{0} - 3), kText);
  Columns columns = small_columns();
  columns.sequences.clear();
  EXPECT_EQ(verdict_of(with(columns.bytes(), 16, ~std::uint64_t{0})), kText);
}

// spec: drum.md#request-runs rule 6
TEST(KeyRun, RejectsAValueThatIsTooLong) {
  EXPECT_EQ(verdict_with(76, kValueBytesMax + 1), "a value or an auxiliary of a run is too long");
}

// spec: drum.md#request-runs rule 6
TEST(KeyRun, RejectsACheckWithAValue) {
  Columns columns = small_columns();
  columns.lengths = {1, 2};
  EXPECT_EQ(verdict_of(columns.bytes()), "a check in a key run has a value");
}

Bytes aux_bytes(const std::vector<std::uint32_t>& lengths, std::uint32_t uniform_length_bytes,
                std::uint64_t count) {
  const Bytes bytes =
      pattern(lengths.empty() ? count * uniform_length_bytes
                              : std::accumulate(lengths.begin(), lengths.end(), 0u));
  AuxRun run;
  run.record_count = count;
  run.uniform_length_bytes = uniform_length_bytes;
  run.lengths = lengths;
  run.bytes = bytes;
  Bytes out;
  encode_aux_run(run, out);
  return out;
}

template <class T>
std::string aux_verdict_with(std::size_t offset, T value) {
  return text_of(parse_aux_run(with(aux_bytes({1, 0, 4}, 0, 3), offset, value)));
}

TEST(AuxRun, ReturnsLengthsOfEachRecord) {
  const Bytes bytes = aux_bytes({1, 0, 4}, 0, 3);
  const auto run = parse_aux_run(bytes);
  ASSERT_TRUE(run);
  EXPECT_EQ(copy(run->lengths), (std::vector<std::uint32_t>{1, 0, 4}));
  EXPECT_EQ(copy(run->bytes), pattern(5));
}

TEST(AuxRun, ReturnsOneLengthForAll) {
  const Bytes bytes = aux_bytes({}, 60, 7);
  const auto run = parse_aux_run(bytes);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->record_count, 7u);
  EXPECT_EQ(run->uniform_length_bytes, 60u);
  EXPECT_EQ(copy(run->bytes), pattern(420));
}

// spec: drum.md#request-runs rule 1
TEST(AuxRun, RejectsEveryOtherLength) {
  for (const Bytes& bytes : {aux_bytes({1, 0, 4}, 0, 3), aux_bytes({}, 5, 3)}) {
    for (std::size_t length = 0; length < bytes.size() + 64; ++length) {
      Bytes other = bytes;
      other.resize(length);
      ASSERT_EQ(parse_aux_run(other).has_value(), length == bytes.size()) << length;
    }
  }
}

// spec: drum.md#request-runs rule 2
TEST(AuxRun, RejectsWrongMagicFlagsAndPadding) {
  EXPECT_EQ(aux_verdict_with(0, std::uint8_t{0}), "the magic number of an auxiliary run is wrong");
  EXPECT_EQ(aux_verdict_with(16, std::uint32_t{2}),
            "a number in the header of an auxiliary run is out of range");
  EXPECT_EQ(aux_verdict_with(44, std::uint8_t{1}), "padding of a run is not zero");
  EXPECT_EQ(aux_verdict_with(26, std::uint8_t{1}),
            "a number in the header of an auxiliary run is out of range");
}

// spec: drum.md#request-runs rule 3
TEST(AuxRun, RejectsCountsOutOfRange) {
  EXPECT_EQ(aux_verdict_with(8, std::uint64_t{0}),
            "a number in the header of an auxiliary run is out of range");
  EXPECT_EQ(aux_verdict_with(8, kRequestsPerRunMax + 1),
            "a number in the header of an auxiliary run is out of range");
  EXPECT_EQ(aux_verdict_with(8, kRequestsPerRunMax), "a run is cut short");
}

// spec: drum.md#request-runs rule 6
TEST(AuxRun, RejectsAnAuxiliaryThatIsTooLong) {
  EXPECT_EQ(aux_verdict_with(32, kAuxBytesMax + 1), "a value or an auxiliary of a run is too long");
}

// spec: drum.md#request-runs rule 7
TEST(AuxRun, RejectsAUniformLengthOutOfRange) {
  constexpr auto kText = "a number in the header of an auxiliary run is out of range";
  EXPECT_EQ(aux_verdict_with(20, std::uint32_t{1}), kText);  // without the flag
  const Bytes bytes = aux_bytes({}, 5, 3);
  EXPECT_EQ(text_of(parse_aux_run(with(bytes, 20, std::uint32_t{0}))), kText);
  EXPECT_EQ(text_of(parse_aux_run(with(bytes, 20, kAuxBytesMax + 1))), kText);
  EXPECT_EQ(text_of(parse_aux_run(with(bytes, 8, kRequestsPerRunMax))), "a run is cut short");
}

TEST(AuxRun, AcceptsAuxiliariesThatAreAllEmpty) {
  const Bytes bytes = aux_bytes({0, 0, 0}, 0, 3);
  const auto run = parse_aux_run(bytes);
  ASSERT_TRUE(run) << run.error().text;
  EXPECT_EQ(run->record_count, 3U);
  EXPECT_TRUE(run->bytes.empty());
  EXPECT_EQ(text_of(parse_aux_run(with(bytes, 24, std::uint16_t{1}))), "accepted") << "no blocks";
}

// spec: drum.md#auxiliary-blocks rule 11
TEST(AuxRun, RejectsUnknownCodecs) {
  EXPECT_EQ(aux_verdict_with(24, std::uint16_t{2}), "the codec of an auxiliary run is unknown");
  EXPECT_EQ(aux_verdict_with(24, std::uint16_t{1}), "padding of a run is not zero")
      << "5 bytes as the length of a block";
}

/// A run of compressed blocks: header 32, three block lengths at 32 with 4 bytes behind them.
Bytes compressed_run() {
  AuxRun run;
  run.record_count = 3000;
  run.uniform_length_bytes = 60;
  const Bytes zeros(3000 * 60);
  run.bytes = zeros;
  Bytes out;
  encode_aux_run(run, out);
  return out;
}

TEST(AuxRun, CompressesInBlocks) {
  const Bytes bytes = compressed_run();
  const auto run = parse_aux_run(bytes);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->bytes.empty());
  EXPECT_EQ(run->blocks.raw_bytes, 180'000u);
  EXPECT_EQ(run->blocks.lengths.size(), 3u);
  EXPECT_LT(bytes.size(), 1000u);
}

// spec: drum.md#request-runs rule 1
TEST(AuxRun, RejectsEveryOtherLengthOfCompressedRuns) {
  const Bytes bytes = compressed_run();
  for (std::size_t length = 0; length < bytes.size() + 64; ++length) {
    Bytes other = bytes;
    other.resize(length);
    ASSERT_EQ(parse_aux_run(other).has_value(), length == bytes.size()) << length;
  }
}

// spec: drum.md#auxiliary-blocks rule 12
TEST(AuxRun, RejectsBlockLengthsThatCannotBe) {
  const Bytes bytes = compressed_run();
  constexpr auto kText = "a block of auxiliaries has a length that cannot be";
  AuxBlocks blocks;
  blocks.raw_bytes = 65536 + 10;
  const auto verdict = [&blocks](std::uint32_t first, std::uint32_t last) {
    const std::vector<std::uint32_t> lengths{first, last};
    blocks.lengths = lengths;
    const char* broken = check_block_lengths(blocks);
    return std::string(broken == nullptr ? "" : broken);
  };
  EXPECT_EQ(verdict(65536, 10), "");
  EXPECT_EQ(verdict(65537, 10), kText);
  EXPECT_EQ(verdict(65536, 11), kText);
  EXPECT_EQ(verdict(257, 1), kText) << "65,535 bytes";
  EXPECT_EQ(verdict(258, 1), "");
  EXPECT_EQ(verdict(258, 0), kText);
  const auto last = static_cast<std::uint32_t>(parse_aux_run(bytes)->blocks.lengths[2]);
  EXPECT_EQ(text_of(parse_aux_run(with(bytes, 40, last - 8))), "a run is too long");
  EXPECT_EQ(text_of(parse_aux_run(with(bytes, 40, ~std::uint32_t{0}))),
            "a value or an auxiliary of a run is too long");
}

}  // namespace
}  // namespace crawlstore::format
