// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inside of Table64, shared by its sources.

#include <string>
#include <vector>

#include "inspector/ui/table64.h"

namespace crawlstore::inspector {

// Pixels at scale 1.
constexpr float kCellPad = 6;
constexpr float kScrollbar = 14;
constexpr float kSwatch = 16;
constexpr float kColumnMax = 460;

struct Table64::Layout {
  ImVec2 origin;       // of the header, on the screen, scrolled
  ImVec2 visible_min;  // of the whole table without the scrollbar
  ImVec2 visible_max;
  float row_height = 0;
  std::uint64_t page = 0;  // whole rows that fit
  std::vector<float> lefts;
};

}  // namespace crawlstore::inspector
