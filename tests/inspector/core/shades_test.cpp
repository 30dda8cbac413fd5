// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/shades.h"

#include <gtest/gtest.h>

namespace crawlstore::inspector {
namespace {

// WCAG 2, 1.4.11: what is not text needs 3.
// acceptance: 18
TEST(Shades, StandOutMoreAndMore) {
  for (const Palette& palette : palettes()) {
    double needed = 3.0;
    for (const Colour shade : shades(palette)) {
      EXPECT_GT(contrast(shade, palette.panel), needed) << palette.name << " " << std::hex << shade;
      needed = contrast(shade, palette.panel) * 1.1;
    }
  }
}

}  // namespace
}  // namespace crawlstore::inspector
