// SPDX-License-Identifier: Apache-2.0
#include "model/parse_text.h"

#include <cstdint>
#include <optional>
#include <string>

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

TEST(ParseCount, TakesExponentsAndUnits) {
  EXPECT_EQ(parse_count("1e6"), 1'000'000U);
  EXPECT_EQ(parse_count("2.5E3"), 2500U);
  EXPECT_EQ(parse_count("1M"), 1'000'000U);
  EXPECT_EQ(parse_count("1.5k"), 1500U);
  EXPECT_EQ(parse_count("12K"), 12'000U);
  EXPECT_EQ(parse_count("1,500G"), 1'500'000'000'000U);
  EXPECT_EQ(parse_count("18.446744073709551615e18"), ~std::uint64_t{0});
  EXPECT_EQ(parse_count("1.50e1"), 15U);
}

TEST(ParseCount, RejectsWhatIsNoWholeNumberInTheEnd) {
  for (const char* text : {"1e", "e6", "M", "1.M", ".5M", "1.5e0", "1.2345k", "1e-3", "1e+6",
                           "1e20", "1e6M", "1m", "1KiB", "-1k", "1 k", "19e18", "1.-5k"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
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

TEST(ParseDuration, TakesNumbersWithAUnit) {
  using namespace std::chrono_literals;
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("2s"), 2s);
  EXPECT_EQ(parse_duration("1.5 s"), 1500ms);
  EXPECT_EQ(parse_duration("3min"), 3min);
  EXPECT_EQ(parse_duration("3 m"), 3min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("1.5d"), 36h);
  EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(ParseDuration, RejectsWhatIsNoTime) {
  for (const char* text :
       {"", "2", "s", "-2s", "2x", "2 s s", "1.2.3s", "2s ", "1e3s", "inf s", "9999999999999h"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(ParseScore, TakesDecimalsAndPowers) {
  EXPECT_EQ(parse_score("0"), 0.0);
  EXPECT_EQ(parse_score("0.25"), 0.25);
  EXPECT_EQ(parse_score("1.5e-7"), 1.5e-7);
}

TEST(ParseScore, RejectsWhatIsNoScore) {
  for (const char* text : {"", "-1", "-0", "nan", "inf", "1e999", "1 ", " 1", "1,5", "one"}) {
    EXPECT_EQ(parse_score(text), std::nullopt) << text;
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

TEST(ParseTime, TakesDatesAndTimesWithTheirOffset) {
  EXPECT_EQ(parse_time("1970-01-01"), 0);
  EXPECT_EQ(parse_time("1970-01-01T00:00:00.000001Z"), 1);
  EXPECT_EQ(parse_time("2023-11-14T22:13:20Z"), 1'700'000'000'000'000);
  EXPECT_EQ(parse_time("2023-11-14T23:43:20.5+01:30"), 1'700'000'000'500'000);
  EXPECT_EQ(parse_time("2023-11-14T21:13:20-01:00"), 1'700'000'000'000'000);
  EXPECT_EQ(parse_time("2024-02-29"), 1'709'164'800'000'000);
  EXPECT_EQ(parse_time("9999-12-31T23:59:59.999999Z"), 253'402'300'799'999'999);
}

TEST(ParseTime, RejectsWhatIsNoTime) {
  for (const char* text : {"",
                           "2023",
                           "2023-11",
                           "2023-13-01",
                           "2023-02-29",
                           "2023-11-14T",
                           "2023-11-14 22:13:20Z",
                           "2023-11-14T22:13:20",
                           "2023-11-14T22:13Z",
                           "2023-11-14T24:00:00Z",
                           "2023-11-14T22:60:00Z",
                           "2023-11-14T22:13:60Z",
                           "2023-11-14T22:13:20.Z",
                           "2023-11-14T22:13:20.1234567Z",
                           "2023-11-14T22:13:20z",
                           "2023-11-14T22:13:20Z ",
                           "2023-11-14T22:13:20+1:00",
                           "1969-12-31T23:59:59Z",
                           "1970-01-01T00:00:00+00:01",
                           "-2023-11-14",
                           "+2023-11-14"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

TEST(ParseHexBytes, TakesPairsOfDigits) {
  EXPECT_EQ(parse_hex_bytes(""), "");
  EXPECT_EQ(parse_hex_bytes("00fFA5"), std::string("\x00\xFF\xA5", 3));
  for (const char* text : {"0", "0g", "-1", "+1", "0x", " 1", "000"}) {
    EXPECT_EQ(parse_hex_bytes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace crawlstore::model
