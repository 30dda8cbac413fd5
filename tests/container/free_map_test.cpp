// SPDX-License-Identifier: Apache-2.0
#include "container/free_map.h"

#include <gmock/gmock.h>

#include "support/random.h"

namespace crawlstore::testing {
namespace {

using container::FreeMap;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

FreeMap map_of(std::initializer_list<Extent> extents) {
  FreeMap map;
  for (const Extent& extent : extents) map.insert(extent);
  return map;
}

TEST(FreeMap, JoinsWhatTouches) {
  const auto map = map_of({{0, 10}, {20, 10}, {10, 10}});
  EXPECT_THAT(map.extents(), ElementsAre(Extent{0, 30}));
}

TEST(FreeMap, KeepsApartWhatDoesNotTouch) {
  const auto map = map_of({{20, 10}, {0, 10}});
  EXPECT_THAT(map.extents(), ElementsAre(Extent{0, 10}, Extent{20, 10}));
}

TEST(FreeMap, IgnoresEmptyExtents) {
  EXPECT_THAT(map_of({{5, 0}}).extents(), IsEmpty());
}

TEST(FreeMap, TakesTheSmallestThatFits) {
  auto map = map_of({{0, 50}, {100, 20}, {200, 30}});
  EXPECT_THAT(map.take(20), Optional(Extent{100, 20}));
}

TEST(FreeMap, TakesTheLowestAmongEquals) {
  auto map = map_of({{100, 20}, {0, 20}});
  EXPECT_THAT(map.take(10), Optional(Extent{0, 10}));
}

TEST(FreeMap, ReturnsNothingWhenNothingFits) {
  auto map = map_of({{0, 10}, {20, 10}});
  EXPECT_EQ(map.take(11), std::nullopt);
}

TEST(FreeMap, TakesTheLowestBelowAnEnd) {
  auto map = map_of({{0, 5}, {10, 20}, {40, 10}});
  EXPECT_THAT(map.take_below(10, 50), Optional(Extent{10, 10}));
}

TEST(FreeMap, TakesNothingThatPassesTheEnd) {
  auto map = map_of({{10, 20}});
  EXPECT_EQ(map.take_below(10, 19), std::nullopt);
}

TEST(FreeMap, TakesFromTheMiddleOfAnExtent) {
  auto map = map_of({{0, 100}});
  EXPECT_THAT(map.take_from(10, 50), Optional(Extent{50, 10}));
  EXPECT_THAT(map.extents(), ElementsAre(Extent{0, 50}, Extent{60, 40}));
}

TEST(FreeMap, TakesNothingBelowTheStart) {
  auto map = map_of({{0, 100}, {200, 5}});
  EXPECT_EQ(map.take_from(10, 95), std::nullopt);
}

TEST(FreeMap, TakesExactlyWhatIsAskedFor) {
  auto map = map_of({{0, 100}});
  EXPECT_TRUE(map.take_exact({20, 30}));
  EXPECT_THAT(map.extents(), ElementsAre(Extent{0, 20}, Extent{50, 50}));
}

TEST(FreeMap, RefusesToTakeWhatIsNotAllFree) {
  auto map = map_of({{0, 100}});
  EXPECT_FALSE(map.take_exact({90, 20}));
  EXPECT_EQ(map.total_bytes(), 100U);
}

TEST(FreeMap, CutsOffTheEnd) {
  auto map = map_of({{0, 10}, {20, 10}, {40, 10}});
  map.cut(25);
  EXPECT_THAT(map.extents(), ElementsAre(Extent{0, 10}, Extent{20, 5}));
}

TEST(FreeMap, CountsItsBytes) {
  auto map = map_of({{0, 10}, {20, 10}});
  map.take(4);
  EXPECT_EQ(map.total_bytes(), 16U);
}

/// One flag a unit: the simplest map that can be right.
class FlagModel {
 public:
  void set(Extent extent, bool free) {
    for (std::uint64_t i = extent.offset_bytes; i < extent.end_bytes(); ++i) flags_[i] = free;
  }
  [[nodiscard]] bool is_all(Extent extent, bool free) const {
    for (std::uint64_t i = extent.offset_bytes; i < extent.end_bytes(); ++i) {
      if (flags_[i] != free) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<Extent> extents() const {
    std::vector<Extent> all;
    for (std::uint64_t i = 0; i < kUnits; ++i) {
      if (!flags_[i]) continue;
      if (all.empty() || all.back().end_bytes() != i) all.push_back({i, 0});
      ++all.back().length_bytes;
    }
    return all;
  }
  static constexpr std::uint64_t kUnits = 200;

 private:
  std::array<bool, kUnits> flags_{};
};

TEST(FreeMap, AgreesWithAModelOfFlags) {
  Random random(1);
  FreeMap map;
  FlagModel model;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t offset = random.below(FlagModel::kUnits - 20);
    const Extent extent{offset, 1 + random.below(20)};
    const auto take = [&](const std::optional<Extent>& taken) {
      if (!taken) return;
      ASSERT_TRUE(model.is_all(*taken, true));
      model.set(*taken, false);
    };
    const std::uint64_t choice = random.below(5);
    if (choice == 0) take(map.take(extent.length_bytes));
    if (choice == 1) take(map.take_below(extent.length_bytes, extent.offset_bytes));
    if (choice == 2) take(map.take_from(extent.length_bytes, extent.offset_bytes));
    if (choice >= 3 && model.is_all(extent, false)) {
      map.insert(extent);
      model.set(extent, true);
    }
    ASSERT_EQ(map.extents(), model.extents());
  }
}

}  // namespace
}  // namespace crawlstore::testing
