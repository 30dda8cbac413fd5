// SPDX-License-Identifier: Apache-2.0
//
// Keys, values and auxiliaries of other types.

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"

namespace crawlstore::testing {

/// A key that sorts the other way round.
struct Descending {
  std::uint32_t number = 0;
  friend bool operator<(const Descending& a, const Descending& b) { return a.number > b.number; }
};
std::string text_of(const Descending& key) {
  return std::to_string(key.number);
}

struct Page {
  std::uint32_t status = 7;  // a default that is not zero
  std::uint32_t length = 0;
};

/// Stored as text, whatever its layout.
struct Point {
  int x = 0;
  int y = 0;
};

}  // namespace crawlstore::testing

namespace crawlstore {

template <>
struct KeyTraits<testing::Descending> {
  static std::uint64_t to_bits(testing::Descending key) { return ~std::uint64_t{key.number}; }
  static testing::Descending from_bits(std::uint64_t bits) {
    return {static_cast<std::uint32_t>(~bits)};
  }
};

template <>
struct AuxTraits<testing::Point> {
  using Buffer = std::string;
  static std::span<const std::byte> bytes(const testing::Point& point, Buffer& buffer) {
    buffer = std::to_string(point.x) + ' ' + std::to_string(point.y);
    return std::as_bytes(std::span(buffer));
  }
  static testing::Point load(std::span<const std::byte> bytes) {
    const auto text = StringBytes<std::string>::load(bytes);
    if (text.empty()) return {};
    return {std::stoi(text), std::stoi(text.substr(text.find(' ')))};
  }
};

namespace testing {
namespace {

// covers: D14, E16
TEST(DrumTraits, OrdersSignedKeysWithoutSubtracting) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 4;
  auto drum = must(Drum<std::int64_t>::open(*store, "signed", options));
  CallLog log;
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t key : {kMax, kMin, std::int64_t{-1}, std::int64_t{kMax / 2 + 2}}) {
    must(drum.check(key));
  }
  must(drum.merge(log));
  EXPECT_EQ(log.calls, (Calls{"unique check " + std::to_string(kMin), "unique check -1",
                              "unique check " + std::to_string(kMax),
                              "unique check " + std::to_string(kMax / 2 + 2)}));
}

// covers: D14
TEST(DrumTraits, KeepsTheSignOfEveryComparison) {
  const std::vector<std::int32_t> keys{-2147483647 - 1, -2, -1, 0, 1, 2147483647};
  for (const auto a : keys) {
    for (const auto b : keys) {
      const auto bits_a = KeyTraits<std::int32_t>::to_bits(a);
      const auto bits_b = KeyTraits<std::int32_t>::to_bits(b);
      EXPECT_EQ(a < b, bits_a < bits_b) << a << ' ' << b;
      EXPECT_EQ(KeyTraits<std::int32_t>::from_bits(bits_a), a);
    }
  }
}

// covers: D14, D15
TEST(DrumTraits, FollowsAnOrderOfTheUsers) {
  MemoryStore store;
  auto drum = must(Drum<Descending>::open(*store, "descending"));
  struct Keys {
    std::vector<std::uint32_t> keys;
    void update(const Answer<Descending, NoValue, NoAux>& answer) {
      keys.push_back(answer.key.number);
    }
  } dispatcher;
  for (const std::uint32_t number : {5U, 0U, 4000000000U}) must(drum.update({number}));
  must(drum.merge(dispatcher));
  std::vector<std::uint32_t> stored;
  must(drum_view(*store, "descending").for_each_key([&](Key16 bits, auto) {
    stored.push_back(KeyTraits<Descending>::from_bits(bits.head).number);
    return true;
  }));
  EXPECT_EQ(dispatcher.keys, (std::vector<std::uint32_t>{5, 0, 4000000000U}));
  EXPECT_EQ(stored, (std::vector<std::uint32_t>{4000000000U, 5, 0}));
}

// covers: D15
TEST(DrumTraits, StoresPlainStructs) {
  MemoryStore store;
  auto drum = must(Drum<std::uint64_t, Page>::open(*store, "pages"));
  must(drum.update(1, {404, 17}));
  must(drum.merge());
  const auto page = must(drum.lookup(1));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 404U);
  EXPECT_EQ(page->length, 17U);
}

// covers: D15, D1
TEST(DrumTraits, TellsADefaultValueForAbsentKeys) {
  struct Statuses {
    std::vector<std::uint32_t> seen;
    void unique_key_check(const Answer<std::uint64_t, Page, NoAux>& answer) {
      seen.push_back(answer.value.status);
    }
  } at_once, later;
  MemoryStore store;
  auto drum = must(Drum<std::uint64_t, Page>::open(*store, "pages"));
  must(drum.check(1));
  must(drum.merge(at_once));
  must(drum.check(1));
  must(drum.merge());
  must(drum.take_results(later));
  EXPECT_EQ(at_once.seen, std::vector<std::uint32_t>{7});
  EXPECT_EQ(later.seen, std::vector<std::uint32_t>{7}) << "the answer waited in the file";
}

// covers: D16
TEST(DrumTraits, KeepsSizeAndNulsOfStrings) {
  MemoryStore store;
  const std::string text("a\0b\0", 4);
  {
    auto drum = must(Drum<std::uint64_t, std::string>::open(*store, "strings"));
    must(drum.update(1, text));
    must(drum.merge());
  }
  store.reopen();
  auto drum = must(Drum<std::uint64_t, std::string>::open(*store, "strings"));
  EXPECT_EQ(must(drum.lookup(1)), text);
}

// covers: D16
TEST(DrumTraits, UsesTheTraitsOfTheUser) {
  MemoryStore store;
  auto drum = must(Drum<std::uint64_t, NoValue, Point>::open(*store, "points"));
  struct Points {
    std::vector<Point> seen;
    void unique_key_check(const Answer<std::uint64_t, NoValue, Point>& answer) {
      seen.push_back(answer.aux);
    }
  } dispatcher;
  must(drum.check(1, {-3, 4}));
  must(drum.merge(dispatcher));
  ASSERT_EQ(dispatcher.seen.size(), 1U);
  EXPECT_EQ(dispatcher.seen[0].x, -3);
  EXPECT_EQ(dispatcher.seen[0].y, 4);
}

// covers: D16
TEST(DrumTraits, StoresRawBytesByDefault) {
  MemoryStore store;
  auto drum = must(Drum<std::uint64_t, std::uint32_t>::open(*store, "numbers"));
  must(drum.update(1, 0x01020304));
  must(drum.merge());
  const auto bytes = must(drum_view(*store, "numbers").lookup(1));
  EXPECT_EQ(bytes,
            (std::vector<std::byte>{std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}}));
  EXPECT_EQ(must((lookup<std::uint64_t, std::uint32_t>(drum_view(*store, "numbers"), 1))),
            std::optional<std::uint32_t>(0x01020304));
}

}  // namespace
}  // namespace testing
}  // namespace crawlstore
