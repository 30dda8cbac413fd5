// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/types.h>

namespace crawlstore::inspector {
namespace {

TEST(Palettes, AreDarkLightAndContrast) {
  ASSERT_EQ(palettes().size(), 3U);
  EXPECT_EQ(palettes()[0].name, "dark");
  EXPECT_EQ(palettes()[1].name, "light");
  EXPECT_EQ(palettes()[2].name, "contrast");
  for (const Palette& palette : palettes()) EXPECT_EQ(&find_palette(palette.name), &palette);
  EXPECT_EQ(&find_palette("no such"), palettes().data());
  EXPECT_EQ(&find_palette(""), palettes().data());
}

// WCAG 2 AA for small text.
// acceptance: 18
TEST(Palettes, KeepEveryTextReadable) {
  for (const Palette& palette : palettes()) {
    for (const Colour behind : {palette.window, palette.panel}) {
      EXPECT_GE(contrast(palette.text, behind), 4.5) << palette.name;
      EXPECT_GE(contrast(palette.faint, behind), 4.5) << palette.name;
      EXPECT_GE(contrast(palette.link, behind), 4.5) << palette.name;
      EXPECT_GE(contrast(palette.good, behind), 4.5) << palette.name;
      EXPECT_GE(contrast(palette.warning, behind), 4.5) << palette.name;
      EXPECT_GE(contrast(palette.bad, behind), 4.5) << palette.name;
    }
    for (const Colour behind : {palette.raised, palette.hovered, palette.selected}) {
      EXPECT_GE(contrast(palette.text, behind), 4.5) << palette.name;
    }
  }
  EXPECT_GE(contrast(find_palette("contrast").text, find_palette("contrast").panel), 7.0);
}

/// Colours that pieces of a file can have: any two may be neighbours on the map.
std::vector<Colour> marks(const Palette& palette) {
  std::vector<Colour> colours;
  for (unsigned kind = 0; kind <= kKindColoursMax; ++kind) {
    colours.push_back(kind_colour(palette, kind));
  }
  for (const char* name : {"directory", "held", "identity", "root"}) {
    colours.push_back(space_colour(palette, name, 0));
  }
  return colours;
}

// WCAG 2, 1.4.11: what is not text needs 3.
// acceptance: 18
TEST(Palettes, KeepHuesAndKindsVisible) {
  for (const Palette& palette : palettes()) {
    const std::set<Colour> different(palette.hues.begin(), palette.hues.end());
    EXPECT_EQ(different.size(), palette.hues.size()) << palette.name;
    for (const Colour hue : palette.hues) {
      EXPECT_GE(contrast(hue, palette.panel), 3.0) << palette.name << " " << std::hex << hue;
    }
    for (const Colour mark : marks(palette)) {
      EXPECT_GE(contrast(mark, palette.panel), 3.0) << palette.name << " " << std::hex << mark;
      EXPECT_EQ(mark >> 24U, 0xffU) << "opaque";
    }
  }
}

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

double dot(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Triple linear_of(Colour colour) {
  Triple linear{};
  for (unsigned i = 0; i < 3; ++i) {
    const double part = static_cast<double>(colour >> (8 * i) & 0xffU) / 255.0;
    linear[i] = part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  }
  return linear;
}

enum class Cones : std::uint8_t { kAll, kNoLong, kNoMiddle, kNoShort };

/// Linear sRGB as people without one kind of cones see it: Vienot, Brettel, Mollon 1999 for
/// protanopia and deuteranopia, Brettel, Vienot, Mollon 1997 with two half planes for tritanopia.
Triple seen_with(Cones cones, const Triple& linear) {
  constexpr Matrix kAll{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  constexpr Matrix kNoLong{{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}};
  constexpr Matrix kNoMiddle{
      {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};
  constexpr Matrix kNoShort{
      {{1.01277, 0.13548, -0.14826}, {-0.01243, 0.86812, 0.14431}, {0.07589, 0.80500, 0.11911}}};
  constexpr Matrix kNoShortBeyond{
      {{0.93678, 0.18979, -0.12657}, {0.06154, 0.81526, 0.12320}, {-0.37562, 1.12767, 0.24796}}};
  const bool is_beyond = dot({0.03901, -0.02788, -0.01113}, linear) < 0;
  const Matrix& short_ones = is_beyond ? kNoShortBeyond : kNoShort;
  const std::array all{&kAll, &kNoLong, &kNoMiddle, &short_ones};
  const Matrix& matrix = *all[static_cast<std::size_t>(cones)];
  Triple seen{};
  for (unsigned i = 0; i < 3; ++i) seen[i] = std::clamp(dot(matrix[i], linear), 0.0, 1.0);
  return seen;
}

/// CIELAB under D65.
Triple lab_of(const Triple& linear) {
  const auto root = [](double t) {
    return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  };
  const double x = root(dot({0.4124564, 0.3575761, 0.1804375}, linear) / 0.95047);
  const double y = root(dot({0.2126729, 0.7151522, 0.0721750}, linear));
  const double z = root(dot({0.0193339, 0.1191920, 0.9503041}, linear) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(Cones cones, Colour a, Colour b) {
  const Triple left = lab_of(seen_with(cones, linear_of(a)));
  const Triple right = lab_of(seen_with(cones, linear_of(b)));
  return std::hypot(left[0] - right[0], left[1] - right[1], left[2] - right[2]);
}

// CIE 1976: 2.3 is what a practised eye just sees in large areas side by side.
// acceptance: 18
TEST(Palettes, KeepAnyTwoKindsApartAlsoForDichromats) {
  for (const Palette& palette : palettes()) {
    const std::vector<Colour> colours = marks(palette);
    for (std::size_t i = 0; i < colours.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto apart = [&](Cones cones) { return distance(cones, colours[i], colours[j]); };
        EXPECT_GE(apart(Cones::kAll), 15) << palette.name << " " << i << " " << j;
        EXPECT_GE(apart(Cones::kNoLong), 11) << palette.name << " " << i << " " << j;
        EXPECT_GE(apart(Cones::kNoMiddle), 11) << palette.name << " " << i << " " << j;
        EXPECT_GE(apart(Cones::kNoShort), 11) << palette.name << " " << i << " " << j;
      }
    }
  }
}

TEST(Distance, IsThatOfPaperAndEye) {
  EXPECT_NEAR(distance(Cones::kAll, rgb(0x000000), rgb(0xffffff)), 100, 0.01);
  // sRGB's red is L 53.24 a 80.09 b 67.20.
  EXPECT_NEAR(distance(Cones::kAll, rgb(0xff0000), rgb(0x000000)), 117.34, 0.1);
  // Greys stay; red and olive, far apart for most, are alike without long cones.
  for (const Cones cones : {Cones::kNoLong, Cones::kNoMiddle, Cones::kNoShort}) {
    EXPECT_LT(distance(cones, rgb(0x808080), rgb(0x828282)), 1);
    EXPECT_NEAR(distance(cones, rgb(0x000000), rgb(0xffffff)), 100, 0.1);
  }
  EXPECT_GT(distance(Cones::kAll, rgb(0xcc0000), rgb(0x4b4b00)), 50);
  EXPECT_LT(distance(Cones::kNoLong, rgb(0xcc0000), rgb(0x4b4b00)), 6);
}

TEST(Palettes, GiveEachGroupOfKindsAHue) {
  // Degrees in CIELAB; no two ranges touch.
  constexpr std::array<std::pair<double, double>, 5> kRanges{
      {{234, 293}, {34, 77}, {134, 194}, {85, 115}, {309, 359}}};
  for (const Palette& palette : palettes()) {
    for (unsigned kind = 1; kind <= kKindColoursMax; ++kind) {
      const Triple lab = lab_of(linear_of(kind_colour(palette, kind)));
      const double degrees = std::atan2(lab[2], lab[1]) * 180 / 3.14159265358979;
      const auto [low, high] = kRanges.at(static_cast<std::size_t>(kind_group(kind)));
      EXPECT_GE(degrees < 0 ? degrees + 360 : degrees, low) << palette.name << " " << kind;
      EXPECT_LE(degrees < 0 ? degrees + 360 : degrees, high) << palette.name << " " << kind;
      EXPECT_GE(std::hypot(lab[1], lab[2]), 15) << "no grey " << palette.name << " " << kind;
    }
    for (const char* name : {"superblock", "directory", "held", "identity", "root"}) {
      const Colour own = space_colour(palette, name, 0);
      const Triple lab = lab_of(linear_of(own));
      EXPECT_LE(std::hypot(lab[1], lab[2]), 8) << "grey " << palette.name;
    }
  }
}

TEST(Palettes, GiveEveryKindAndShareAnOpaqueColour) {
  for (const Palette& palette : palettes()) {
    for (unsigned kind = 0; kind < 300; ++kind) {
      EXPECT_EQ(kind_colour(palette, kind) >> 24U, 0xffU) << kind;
    }
    EXPECT_EQ(space_colour(palette, "drum_partition", 2), kind_colour(palette, 2));
    EXPECT_EQ(space_colour(palette, "superblocks", 0), kind_colour(palette, 0));
    EXPECT_EQ(space_colour(palette, "superblock", 0), kind_colour(palette, 0));
    EXPECT_EQ(space_colour(palette, "table", 0), space_colour(palette, "directory", 0));
    for (const char* unused : {"free", "zeros", "behind"}) {
      EXPECT_EQ(space_colour(palette, unused, 0), palette.panel) << unused;
    }
  }
  EXPECT_EQ(kind_group(static_cast<unsigned>(SegmentKind::kFreshKeys)), KindGroup::kPages);
  EXPECT_EQ(kind_group(static_cast<unsigned>(SegmentKind::kPageContents)), KindGroup::kPages);
  EXPECT_EQ(kind_group(static_cast<unsigned>(SegmentKind::kGoneLinks)), KindGroup::kLinks);
  EXPECT_EQ(kind_group(static_cast<unsigned>(SegmentKind::kQueueEntries)), KindGroup::kQueues);
  EXPECT_EQ(kind_group(static_cast<unsigned>(SegmentKind::kValues)), KindGroup::kScores);
  for (const SegmentKind kind : {SegmentKind::kFrontier, SegmentKind::kFrontierGroups,
                                 SegmentKind::kFrontierItems, SegmentKind::kFrontierSteps}) {
    EXPECT_EQ(kind_group(static_cast<unsigned>(kind)), KindGroup::kQueues);
  }
}

TEST(Contrast, IsWcags) {
  EXPECT_NEAR(contrast(rgb(0x000000), rgb(0xffffff)), 21.0, 1e-9);
  EXPECT_NEAR(contrast(rgb(0x123456), rgb(0x123456)), 1.0, 1e-9);
  EXPECT_NEAR(contrast(rgb(0x777777), rgb(0xffffff)), 4.48, 0.01);
  EXPECT_NEAR(contrast(rgb(0xff0000), rgb(0xffffff)), 4.00, 0.01);
  EXPECT_NEAR(contrast(rgb(0x0000ff), rgb(0xffffff)), 8.59, 0.01);
  EXPECT_EQ(contrast(rgb(0x0000ff), rgb(0xffff00)), contrast(rgb(0xffff00), rgb(0x0000ff)));
}

TEST(Colour, IsStoredAsBlueGreenRed) {
  EXPECT_EQ(rgb(0x123456), 0xff563412U);
  EXPECT_EQ(with_alpha(rgb(0x123456), 0x80), 0x80563412U);
}

}  // namespace
}  // namespace crawlstore::inspector
