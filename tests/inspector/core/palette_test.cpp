// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/palette.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

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

// WCAG 2, 1.4.11: what is not text needs 3.
// acceptance: 18
TEST(Palettes, KeepKindsVisibleAndApart) {
  for (const Palette& palette : palettes()) {
    std::set<Colour> different(palette.kinds.begin(), palette.kinds.end());
    EXPECT_EQ(different.size(), palette.kinds.size()) << palette.name;
    for (const Colour kind : palette.kinds) {
      EXPECT_GE(contrast(kind, palette.panel), 3.0) << palette.name << " " << std::hex << kind;
    }
  }
}

TEST(Palettes, GiveEveryKindAndShareAnOpaqueColour) {
  for (const Palette& palette : palettes()) {
    for (unsigned kind = 0; kind < 300; ++kind) {
      EXPECT_EQ(kind_colour(palette, kind) >> 24U, 0xffU) << kind;
    }
    EXPECT_EQ(kind_colour(palette, 0), palette.kinds[0]);
    EXPECT_EQ(space_colour(palette, "drum_partition", 2), kind_colour(palette, 2));
    std::set<Colour> own;
    for (const char* name : {"directory", "superblocks", "held", "free"}) {
      own.insert(space_colour(palette, name, 0));
      EXPECT_EQ(space_colour(palette, name, 0) >> 24U, 0xffU) << name;
    }
    EXPECT_GE(own.size(), 3U) << "held, free and the file's own structures look different";
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
