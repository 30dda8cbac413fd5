// SPDX-License-Identifier: Apache-2.0
#include "format/drum_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

DrumTable valid_table() {
  DrumTable table;
  table.key_scheme = KeyScheme::kUrl;
  table.value_bytes = -1;
  table.next_sequence = 1'000'000;
  table.merge_count = 12;
  table.unparsed_count = 3;
  table.buckets = {{0, {10}, {0}, {0}, 500, 0},
                   {1ull << 62, {0}, {11}, {12}, 0, 40},
                   {1ull << 63, {13}, {14}, {0}, 7, 9}};
  table.consumers = {{0, "", {0}, 0}, {5, "fetcher", {15}, 100}, {16'383, "last", {0}, 0}};
  table.merge_bytes = 1 << 20;
  table.merge_requests = 70'000;
  table.partition_keys_max = 1 << 26;
  table.normalizer = "my own";
  return table;
}

std::string verdict_after(const std::function<void(DrumTable&)>& change) {
  DrumTable table = valid_table();
  change(table);
  return text_of(parse_drum_table(encode_drum_table(table)));
}

TEST(DrumTable, ReturnsWhatWasEncoded) {
  const auto table = parse_drum_table(encode_drum_table(valid_table()));
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_EQ(*table, valid_table());
}

TEST(DrumTable, ReturnsTheLargestTable) {
  DrumTable table = valid_table();
  table.buckets.clear();
  for (std::uint64_t i = 0; i < kBucketsMax; ++i) {
    table.buckets.push_back({i << 48, {3 * i + 1}, {3 * i + 2}, {3 * i + 3}, 1, 1});
  }
  table.consumers.clear();
  for (std::uint32_t id = 0; id <= kConsumersMax; ++id) {
    table.consumers.push_back({{static_cast<std::uint16_t>(id)}, std::to_string(id), {0}, 0});
  }
  const auto parsed = parse_drum_table(encode_drum_table(table));
  ASSERT_TRUE(parsed) << parsed.error().text;
  EXPECT_EQ(*parsed, table);
}

TEST(DrumTable, GivesTheSameBytesForTheSameContent) {
  EXPECT_EQ(encode_drum_table(valid_table()), encode_drum_table(valid_table()));
  EXPECT_EQ(encode_drum_table(valid_table()).size() % 8, 0u);
}

TEST(DrumTable, TakesAnyThreshold) {
  for (const std::uint64_t any : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    DrumTable table = valid_table();
    table.merge_bytes = table.merge_requests = table.partition_keys_max = any;
    const auto parsed = parse_drum_table(encode_drum_table(table));
    ASSERT_TRUE(parsed) << parsed.error().text;
    EXPECT_EQ(*parsed, table);
  }
}

// spec: drum.md#drum rule 1
TEST(DrumTable, RejectsWhatIsNoFlatBuffer) {
  constexpr auto kText = "a drum is not a FlatBuffer of its schema";
  EXPECT_EQ(text_of(parse_drum_table({})), kText);
  EXPECT_EQ(text_of(parse_drum_table(Bytes(64))), kText);
  EXPECT_EQ(text_of(parse_drum_table(Bytes(64, std::byte{0xFF}))), kText);
  Bytes bytes = encode_drum_table(valid_table());
  bytes.pop_back();
  EXPECT_EQ(text_of(parse_drum_table(bytes)), kText);
}

// spec: drum.md#drum rule 1
TEST(DrumTable, SurvivesEverySingleByteChange) {
  const Bytes whole = encode_drum_table(valid_table());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      const auto parsed = parse_drum_table(with(whole, i, static_cast<std::uint8_t>(value)));
      if (parsed) {
        ASSERT_TRUE(parse_drum_table(encode_drum_table(*parsed)));
      }
    }
  }
}

// spec: drum.md#drum rule 2
TEST(DrumTable, RejectsKeysAndValuesItDoesNotKnow) {
  for (const std::uint16_t key_bytes : std::array<std::uint16_t, 4>{0, 7, 12, 24}) {
    EXPECT_EQ(verdict_after([=](auto& t) { t.key_bytes = key_bytes; }),
              "the key length is not supported");
  }
  EXPECT_EQ(verdict_after([](auto& t) { t.key_bytes = 16; }), "accepted");
  EXPECT_EQ(verdict_after([](auto& t) { t.key_scheme = KeyScheme::kUrlRabin; }), "accepted");
  EXPECT_EQ(verdict_after([](auto& t) {
              t.key_scheme = KeyScheme::kUrlRabin;
              t.key_bytes = 16;
            }),
            "Rabin fingerprints have 8 bytes");
  EXPECT_EQ(verdict_after([](auto& t) { t.key_scheme = KeyScheme::kPage; }),
            "page keys have 16 bytes");
  EXPECT_EQ(verdict_after([](auto& t) {
              t.key_scheme = KeyScheme::kPage;
              t.key_bytes = 16;
              t.normalizer.clear();
            }),
            "accepted");
  EXPECT_EQ(verdict_after([](auto& t) { t.key_scheme = KeyScheme{4}; }),
            "the key scheme is unknown");
  constexpr auto kText = "the value length is out of range";
  EXPECT_EQ(verdict_after([](auto& t) { t.value_bytes = -2; }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.value_bytes = (1 << 24) + 1; }), kText);
}

// spec: drum.md#drum rule 3
TEST(DrumTable, RejectsBucketCountsOutOfRange) {
  constexpr auto kText = "the number of buckets is out of range";
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets.clear(); }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets.resize(kBucketsMax + 1); }), kText);
}

// spec: drum.md#drum rule 3
TEST(DrumTable, RejectsFirstKeysThatDoNotAscendFromZero) {
  constexpr auto kText = "the first keys of the buckets do not ascend from zero";
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[0].first_key = 1; }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[2].first_key = 1ull << 62; }), kText);
}

// spec: drum.md#drum rule 4
TEST(DrumTable, RejectsKeysWithoutAPartitionAndTheOtherWayRound) {
  constexpr auto kText = "a bucket has keys but no partition, or the other way round";
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[0].partition = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[0].key_count = 0; }), kText);
}

// spec: drum.md#drum rule 4
TEST(DrumTable, RejectsPendingRequestsWithoutALogAndTheOtherWayRound) {
  constexpr auto kText = "a bucket has pending requests but no key log, or the other way round";
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[1].key_log = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[1].pending_count = 0; }), kText);
}

// spec: drum.md#drum rule 4
TEST(DrumTable, RejectsAnAuxiliaryLogWithoutAKeyLog) {
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[0].aux_log = {99}; }),
            "a bucket has an auxiliary log but no key log");
}

// spec: drum.md#drum rule 5
TEST(DrumTable, RejectsConsumerIdsThatDoNotAscendFromZero) {
  constexpr auto kText = "the ids of the consumers do not ascend from zero";
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[0].id = {1}; }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[1].id = {0}; }), kText);
}

// spec: drum.md#drum rule 5
TEST(DrumTable, RejectsConsumerIdsOutOfRange) {
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[2].id = {16'384}; }),
            "the id of a consumer is out of range");
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers.clear(); }), "there is no consumer 0");
}

// spec: drum.md#drum rule 2
TEST(DrumTable, RejectsNormalizersThatAreNotValid) {
  EXPECT_EQ(verdict_after([](auto& t) { t.normalizer = "a\n"; }),
            "the name of a normaliser is not valid");
  EXPECT_EQ(verdict_after([](auto& t) { t.normalizer = std::string(256, 'a'); }),
            "the name of a normaliser is not valid");
  EXPECT_EQ(verdict_after([](auto& t) { t.key_scheme = KeyScheme::kOpaque; }),
            "keys that are not of URLs have a normaliser");
}

// spec: drum.md#drum rule 6
TEST(DrumTable, RejectsConsumerNamesThatAreNotValid) {
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[1].name = "a\x7F"; }),
            "the name of a consumer is not valid");
}

// spec: drum.md#drum rule 6
TEST(DrumTable, RejectsConsumersOfTheSameName) {
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[1].name = "last"; }),
            "two consumers have the same name");
}

// spec: drum.md#drum rule 7
TEST(DrumTable, RejectsResultsWithoutALogAndTheOtherWayRound) {
  constexpr auto kText = "a consumer has results but no results log, or the other way round";
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[1].results = {0}; }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[1].result_count = 0; }), kText);
}

// spec: drum.md#drum rule 8
TEST(DrumTable, RejectsASegmentNamedTwice) {
  constexpr auto kText = "a segment is named twice";
  EXPECT_EQ(verdict_after([](auto& t) { t.buckets[2].partition = {10}; }), kText);
  EXPECT_EQ(verdict_after([](auto& t) { t.consumers[1].results = {12}; }), kText);
}

}  // namespace
}  // namespace crawlstore::format
