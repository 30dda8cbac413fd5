// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <imgui.h>

#include "model/table_source.h"

namespace crawlstore::inspector {

// Pixels at scale 1.
constexpr float kCellPad = 6;
constexpr float kScrollbar = 14;
constexpr float kSwatch = 16;
constexpr float kColumnMax = 460;
constexpr float kUrlLeast = 220;
constexpr float kBorder = 4;  // on each side of a border: there it can be dragged

/// Tells if a column holds URLs, which take the width that is left and are cut in the middle. The
/// columns of a comparison name the pages that they are of.
inline bool is_url_column(const model::Column& column) {
  constexpr std::array<std::string_view, 4> kNames{"url", "page", "from", "to"};
  return column.unit == model::Unit::kText &&
         std::ranges::find(kNames, column.name) != kNames.end();
}

/// The places of the parts of a table in a frame.
struct TableLayout {
  ImVec2 origin;       // the header, on the screen, scrolled
  ImVec2 visible_min;  // the whole table without the scrollbar
  ImVec2 visible_max;
  float row_height = 0;
  std::uint64_t page = 0;  // whole rows that fit
  std::vector<float> lefts;
};

}  // namespace crawlstore::inspector
