// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pieces of Dear ImGui's internal interface that we use, in one place: they may change with
/// its version.

#include <cstdint>

#include <imgui.h>

namespace crawlstore::inspector {

/// A vertical scrollbar of 64 bits in the given rectangle: `first` of `count` rows, `page` of them
/// visible. True when `first` was changed.
bool draw_row_scrollbar(const char* id, ImVec2 min, ImVec2 max, std::uint64_t& first,
                        std::uint64_t page, std::uint64_t count);

/// A vertical line that can be dragged, `x` pixels to the right of the cursor; changes `width`, the
/// width of what is left of it, or with `sign` -1 right of it, within its bounds.
void draw_splitter(const char* id, ImVec2 min, ImVec2 max, float& width, float sign);

}  // namespace crawlstore::inspector
