// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/key_block.h"
#include "format/request_run.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

struct Columns {
  std::int32_t value_bytes = 0;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> sequences;
  std::vector<std::uint16_t> tags;
  std::vector<std::uint8_t> verdicts;
  std::vector<std::uint32_t> value_lengths;
  std::vector<std::uint32_t> aux_lengths;
  Bytes values;
  Bytes auxes;

  [[nodiscard]] Bytes bytes() const {
    ResultRun run;
    run.value_bytes = value_bytes;
    run.keys = keys;
    run.sequences = sequences;
    run.tags = tags;
    run.verdicts = verdicts;
    run.value_lengths = value_lengths;
    run.aux_lengths = aux_lengths;
    run.values = values;
    run.auxes = auxes;
    Bytes out;
    encode_result_run(run, out);
    return out;
  }
};

Columns random_columns(std::mt19937_64& random, std::int32_t value_bytes, std::size_t count) {
  Columns columns;
  columns.value_bytes = value_bytes;
  std::size_t value_sum = 0;
  std::size_t aux_sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    columns.keys.push_back(random());
    columns.sequences.push_back(random());
    columns.tags.push_back(make_tag(static_cast<Operation>(random() % 3), {9}));
    columns.verdicts.push_back(below<std::uint8_t>(random, 2));
    columns.aux_lengths.push_back(below(random, 70));
    aux_sum += columns.aux_lengths.back();
    if (value_bytes != kVariableValue) continue;
    columns.value_lengths.push_back(below(random, 20));
    value_sum += columns.value_lengths.back();
  }
  columns.values = pattern(
      value_bytes == kVariableValue ? value_sum : count * static_cast<std::size_t>(value_bytes));
  columns.auxes = pattern(aux_sum);
  return columns;
}

template <class T>
std::vector<T> copy(std::span<const T> column) {
  return {column.begin(), column.end()};
}

/// Three records with values of any length. Header 24 bytes; then keys at 24, sequences at 48, tags
/// at 72, verdicts at 80, value lengths at 88, auxiliary lengths at 104, values at 120.
Bytes sample() {
  std::mt19937_64 random(9);
  Columns columns = random_columns(random, kVariableValue, 3);
  columns.value_lengths = {1, 2, 3};
  columns.aux_lengths = {3, 0, 1};
  columns.values = pattern(6);
  columns.auxes = pattern(4);
  return columns.bytes();
}

template <class T>
std::string verdict_with(std::size_t offset, T value) {
  return text_of(parse_result_run(with(sample(), offset, value)));
}

TEST(ResultRun, ReturnsRandomColumnsAsTheyWere) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 2000; ++i) {
    const Columns columns =
        random_columns(random, std::array{0, 1, 8, 13, -1}[random() % 5], 1 + random() % 40);
    const Bytes bytes = columns.bytes();
    const auto run = parse_result_run(bytes);
    ASSERT_TRUE(run) << run.error().text;
    ASSERT_EQ(run->value_bytes, columns.value_bytes);
    ASSERT_EQ(copy(run->keys), columns.keys);
    ASSERT_EQ(copy(run->sequences), columns.sequences);
    ASSERT_EQ(copy(run->tags), columns.tags);
    ASSERT_EQ(copy(run->verdicts), columns.verdicts);
    ASSERT_EQ(copy(run->value_lengths), columns.value_lengths);
    ASSERT_EQ(copy(run->aux_lengths), columns.aux_lengths);
    ASSERT_EQ(copy(run->values), columns.values);
    ASSERT_EQ(copy(run->auxes), columns.auxes);
  }
}

// spec: drum.md#result-runs rule 1
TEST(ResultRun, RejectsEveryOtherLength) {
  const Bytes bytes = sample();
  for (std::size_t length = 0; length < bytes.size() + 64; ++length) {
    Bytes other = bytes;
    other.resize(length);
    ASSERT_EQ(parse_result_run(other).has_value(), length == bytes.size()) << length;
  }
}

// spec: drum.md#result-runs rule 1
TEST(ResultRun, RejectsCountsThatOverflow) {
  EXPECT_EQ(verdict_with(8, ~std::uint64_t{0}), "a run is cut short");
  EXPECT_EQ(verdict_with(8, (std::uint64_t{1} << 61) + 3), "a run is cut short");
  EXPECT_EQ(verdict_with(16, std::int32_t{1 << 24}), "a run is cut short");
}

// spec: drum.md#result-runs rule 2
TEST(ResultRun, RejectsWrongMagicReservedBytesAndPadding) {
  EXPECT_EQ(verdict_with(0, std::uint8_t{0}), "the magic number of a result run is wrong");
  EXPECT_EQ(verdict_with(20, std::uint32_t{1}),
            "a number in the header of a result run is out of range");
  EXPECT_EQ(verdict_with(78, std::uint8_t{1}), "padding of a run is not zero");
  EXPECT_EQ(verdict_with(127, std::uint8_t{1}), "padding of a run is not zero");
}

// spec: drum.md#result-runs rule 3
TEST(ResultRun, RejectsCountsAndValueLengthsOutOfRange) {
  constexpr auto kText = "a number in the header of a result run is out of range";
  EXPECT_EQ(verdict_with(8, std::uint64_t{0}), kText);
  EXPECT_EQ(verdict_with(16, std::int32_t{-2}), kText);
}

// spec: drum.md#result-runs rule 4
TEST(ResultRun, RejectsUnknownOperationsAndVerdicts) {
  EXPECT_EQ(verdict_with(74, std::uint16_t{7}), "an operation in a result run is unknown");
  EXPECT_EQ(verdict_with(82, std::uint8_t{2}), "a verdict in a result run is unknown");
}

// spec: drum.md#result-runs rule 5
TEST(ResultRun, RejectsValuesAndAuxiliariesThatAreTooLong) {
  constexpr auto kText = "a value or an auxiliary of a run is too long";
  EXPECT_EQ(verdict_with(88, kValueBytesMax + 1), kText);
  EXPECT_EQ(verdict_with(104, kAuxBytesMax + 1), kText);
}

}  // namespace
}  // namespace crawlstore::format
