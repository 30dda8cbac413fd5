// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pieces of Dear ImGui's internal interface that we use, in one place: they may change with
/// its version.

#include <cstdint>

#include <imgui.h>

namespace crawlstore::inspector {

/// What a scrollbar shows: `page` of `count` rows can be seen.
struct RowRange {
  std::uint64_t page = 0;
  std::uint64_t count = 0;
};

/// A vertical scrollbar of 64 bits in the given rectangle; `first` is the row on top. True when it
/// was changed.
bool draw_row_scrollbar(const char* id, ImVec2 min, ImVec2 max, RowRange range,
                        std::uint64_t& first);

/// A vertical line that can be dragged, `x` pixels to the right of the cursor; changes `width`, the
/// width of what is left of it, or with `sign` -1 right of it, within its bounds.
void draw_splitter(const char* id, ImVec2 min, ImVec2 max, float& width, float sign);

}  // namespace crawlstore::inspector
