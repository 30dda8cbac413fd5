// SPDX-License-Identifier: Apache-2.0
#include "format/short_numbers.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "support/seeded.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Numbers = std::vector<std::uint32_t>;

struct Parts {
  Bytes selectors;
  Bytes data;
};

Parts encoded(const Numbers& numbers) {
  Parts parts{Bytes(selector_bytes(numbers.size())), Bytes(numbers.size() * 4)};
  parts.data.resize(encode_short_numbers(numbers, parts.selectors, parts.data));
  return parts;
}

/// The numbers that both decoders make of the parts; the test fails where they differ. The bytes
/// stand at the end of their memory, so that sanitizers see what is read behind them.
std::optional<Numbers> decoded(const Parts& parts, std::size_t count, std::size_t* used = nullptr) {
  const Bytes selectors(parts.selectors);
  const Bytes data(parts.data);
  Numbers fast(count, 77);
  Numbers portable(count, 78);
  const auto length = decode_short_numbers(selectors, data, fast);
  EXPECT_EQ(length, decode_short_numbers_portable(selectors, data, portable));
  if (!length) return std::nullopt;
  EXPECT_EQ(fast, portable);
  if (used != nullptr) *used = *length;
  return fast;
}

// spec: links.md#short-numbers rule 1
TEST(ShortNumbers, TakesNoOneTwoOrFourBytes) {
  const Parts parts = encoded({0, 1, 255, 256, 65'535, 65'536, 0xffffffff});
  EXPECT_EQ(hex_of(parts.selectors), "94 3e");
  EXPECT_EQ(hex_of(parts.data), "01 ff 00 01 ff ff 00 00 01 00 ff ff ff ff");
}

TEST(ShortNumbers, ReturnsEveryMixtureOfLengths) {
  static constexpr std::array<std::uint32_t, 4> kOfLength{0, 0x81, 0x8182, 0x81828384};
  for (unsigned mixture = 0; mixture < 65'536; ++mixture) {
    Numbers numbers;
    for (unsigned i = 0; i < 8; ++i) numbers.push_back(kOfLength[mixture >> (2 * i) & 3] - i % 2);
    if (mixture % 3 == 0) numbers.resize(mixture % 8);
    for (std::uint32_t& number : numbers) number = number == ~0U ? 0 : number;
    ASSERT_EQ(decoded(encoded(numbers), numbers.size()), numbers) << mixture;
  }
}

TEST(ShortNumbers, ReturnsRandomNumbers) {
  SeededRandom random;
  for (int round = 0; round < 2'000; ++round) {
    Numbers numbers(random.below(100));
    for (auto& number : numbers)
      number = static_cast<std::uint32_t>(random.next() >> random.below(64));
    ASSERT_EQ(decoded(encoded(numbers), numbers.size()), numbers);
  }
}

TEST(ShortNumbers, SaysHowLongTheDataAreWhenMoreFollows) {
  Parts parts = encoded({5, 300, 70'000, 0, 9});
  const std::size_t length = parts.data.size();
  parts.data.resize(length + 50, std::byte{0xee});
  std::size_t used = 0;
  EXPECT_EQ(decoded(parts, 5, &used), (Numbers{5, 300, 70'000, 0, 9}));
  EXPECT_EQ(used, length);
}

// spec: links.md#short-numbers rule 2
TEST(ShortNumbers, RefusesDataThatAreTooShortWhereverTheyEnd) {
  Numbers numbers;
  for (std::uint32_t i = 0; i < 40; ++i) numbers.push_back(i * i * i * i * 40);
  Parts parts = encoded(numbers);
  while (!parts.data.empty()) {
    parts.data.pop_back();
    EXPECT_EQ(decoded(parts, numbers.size()), std::nullopt) << parts.data.size();
  }
}

// spec: links.md#short-numbers rule 2
TEST(ShortNumbers, RefusesSelectorsBehindTheLastNumber) {
  for (std::size_t count = 1; count < 12; ++count) {
    Parts parts = encoded(Numbers(count, 3));
    parts.data.resize(100);
    for (std::size_t i = count; i < parts.selectors.size() * 4; ++i) {
      Parts changed = parts;
      changed.selectors[i / 4] |= static_cast<std::byte>(1U << (i % 4 * 2));
      EXPECT_EQ(decoded(changed, count), std::nullopt) << count;
    }
  }
}

TEST(ShortNumbers, BothDecodersAgreeOnHostileBytes) {
  SeededRandom random;
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t count = random.below(60);
    Parts parts{Bytes(selector_bytes(count)), Bytes(random.below(200))};
    for (std::byte& byte : parts.selectors) byte = static_cast<std::byte>(random.next());
    for (std::byte& byte : parts.data) byte = static_cast<std::byte>(random.next());
    if (count % 4 != 0 && random.one_in(2)) parts.selectors.back() &= std::byte{3};
    (void)decoded(parts, count);
  }
}

}  // namespace
}  // namespace crawlstore::format
