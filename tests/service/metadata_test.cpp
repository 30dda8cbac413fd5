// SPDX-License-Identifier: Apache-2.0
#include "service/core/metadata.h"

#include <string>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::service {
namespace {

using crawlstore::testing::SeededRandom;
using namespace std::string_literals;

TEST(Metadata, ComesBackAsItWas) {
  const Metadata metadata{{"", {""}},
                          {"empty", {}},
                          {"one", {"value"}},
                          {"many", {"a", "", "\xC3\xA9\0z"s, std::string(70'000, 'x')}}};
  EXPECT_EQ(decode_metadata(encode(metadata)), metadata);
  EXPECT_EQ(encode(Metadata{}), "");
  EXPECT_EQ(decode_metadata(""), Metadata{});
}

/// The bytes are those of protobuf's own writer.
TEST(Metadata, HasTheBytesOfTheProtocol) {
  EXPECT_EQ(encode(Metadata{{"k", {"v", "w"}}}), "\x1A\x0B\x0A\x01k\x12\x06\x0A\x01v\x0A\x01w"s);
}

TEST(Metadata, TakesWhatProtobufTakes) {
  // A list in two parts, an entry without one, one without a name, and the last of a name.
  EXPECT_EQ(decode_metadata("\x1A\x0D\x12\x03\x0A\x01v\x0A\x01k\x12\x03\x0A\x01w"s),
            (Metadata{{"k", {"v", "w"}}}));
  EXPECT_EQ(decode_metadata("\x1A\x03\x0A\x01k"s), (Metadata{{"k", {}}}));
  EXPECT_EQ(decode_metadata("\x1A\x05\x12\x03\x0A\x01v"s), (Metadata{{"", {"v"}}}));
  EXPECT_EQ(decode_metadata(encode(Metadata{{"k", {"v"}}}) + encode(Metadata{{"k", {"w"}}})),
            (Metadata{{"k", {"w"}}}));
  // Other fields, of each type.
  EXPECT_EQ(decode_metadata("\x0A\x01u\x28\x80\x01\x31\0\0\0\0\0\0\0\0\x3D\0\0\0\0"s), Metadata{});
}

TEST(Metadata, RefusesOtherBytes) {
  for (const std::string& bytes :
       {"\x1A"s, "\x1A\x05\x0A"s, "\x1A\x02\x0A\x05"s, "\x02\x00"s, "\x1B\x1C"s, "\x28"s, "\x31\0"s,
        "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"s, "\x1A\x04\x12\x02\x0A\x05"s}) {
    EXPECT_FALSE(decode_metadata(bytes)) << bytes;
  }
}

TEST(Metadata, EndsWithAnyBytes) {
  SeededRandom random;
  const std::string whole = encode(Metadata{{"name", {"value", "v"}}, {"other", {}}});
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = whole;
    bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    const auto metadata = decode_metadata(bytes.substr(0, random.below(bytes.size() + 1)));
    if (metadata) {
      EXPECT_EQ(decode_metadata(encode(*metadata)), metadata);
    }
  }
}

}  // namespace
}  // namespace crawlstore::service
