// SPDX-License-Identifier: Apache-2.0
#include "model/parse_text.h"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

TEST(ParseCount, TakesSeparatorsBetweenDigits) {
  EXPECT_EQ(parse_count("0"), 0U);
  EXPECT_EQ(parse_count("1,234,567"), 1'234'567U);
  EXPECT_EQ(parse_count("1_234_567"), 1'234'567U);
  EXPECT_EQ(parse_count("1'234'567"), 1'234'567U);
  EXPECT_EQ(parse_count("0x1f"), 31U);
  EXPECT_EQ(parse_count("18446744073709551615"), ~std::uint64_t{0});
}

TEST(ParseCount, RejectsWhatIsNoNumber) {
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1,", ",1", "1,,2", "0x", "1.5", "ten",
                           "18446744073709551616"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

TEST(ParseBytes, KnowsUnitsOf1024AndOf1000) {
  EXPECT_EQ(parse_bytes("256MiB"), 256ULL << 20);
  EXPECT_EQ(parse_bytes("256 mib"), 256ULL << 20);
  EXPECT_EQ(parse_bytes("1GB"), 1'000'000'000U);
  EXPECT_EQ(parse_bytes("4KiB"), 4096U);
  EXPECT_EQ(parse_bytes("4kB"), 4000U);
  EXPECT_EQ(parse_bytes("12B"), 12U);
  EXPECT_EQ(parse_bytes("1,000,000"), 1'000'000U);
  EXPECT_EQ(parse_bytes("1.5GiB"), 3ULL << 29);
  EXPECT_EQ(parse_bytes("2TiB"), 2ULL << 40);
}

TEST(ParseBytes, RejectsWhatIsNoSize) {
  for (const char* text : {"", "MiB", "12 apples", "1M", "1.5.5GiB", "-1GiB", "1e3", "nan", "inf",
                           "1 GiB ", "18446744073709551615KiB", "99999999999999999999GiB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(ParseUuid, TakesHyphensOrNone) {
  const auto uuid = parse_uuid("00112233-4455-6677-8899-aabbccddeeff");
  ASSERT_TRUE(uuid);
  EXPECT_EQ(to_string(*uuid), "00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(parse_uuid("00112233445566778899AABBCCDDEEFF"), uuid);
}

TEST(ParseUuid, RejectsOtherLengthsAndDigits) {
  EXPECT_EQ(parse_uuid(""), std::nullopt);
  EXPECT_EQ(parse_uuid("00112233445566778899aabbccddeef"), std::nullopt);
  EXPECT_EQ(parse_uuid("00112233445566778899aabbccddeefff"), std::nullopt);
  EXPECT_EQ(parse_uuid("0011223344556677 899aabbccddeeff0"), std::nullopt);
  EXPECT_EQ(parse_uuid("gg112233445566778899aabbccddeeff"), std::nullopt);
}

}  // namespace
}  // namespace crawlstore::model
