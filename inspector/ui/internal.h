// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pieces of Dear ImGui's internal interface that we use, in one place: they may change with
/// its version.

#include <cstddef>
#include <cstdint>
#include <span>

#include <imgui.h>

namespace crawlstore::inspector {

/// The flags of the panes around and in the centre: children with a margin. Where something has no
/// room, at twice the size in a small window, a scrollbar brings it into sight.
constexpr ImGuiWindowFlags kPane =
    ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_HorizontalScrollbar;

/// The range that a scrollbar shows: `page` of `count` rows can be seen.
struct RowRange {
  std::uint64_t page = 0;
  std::uint64_t count = 0;
};

/// A vertical scrollbar of 64 bits in the given rectangle; `first` is the row on top. True when it
/// was changed.
bool draw_row_scrollbar(const char* id, ImVec2 min, ImVec2 max, RowRange range,
                        std::uint64_t& first);

/// A vertical line that can be dragged; changes `width`, of what is left of it, by `factor` a pixel
/// of the mouse: negative = of what is right of it. True when it was changed.
bool draw_splitter(const char* id, ImVec2 min, ImVec2 max, float& width, float factor);

/// Does some of this rectangle of the current window lie where nothing is drawn, and no scrollbar,
/// of this window or of one around it, brings it into sight?
bool is_clipped(ImVec2 min, ImVec2 max);
/// Whether drawing happens between BeginDisabled(true) and its end now.
bool is_disabled();
/// Ends writing in a text field; the text that was written stays.
void leave_text_field();
/// Whether a menu, a box or a question is open.
bool has_popup();
/// Closes all of them.
void close_popups();
/// Scrolls the current window, and those around it, until the rectangle can be seen.
void scroll_into_sight(ImVec2 min, ImVec2 max);

/// The order of the tabs of the tab bar that is being drawn, after its last one. The order that is
/// set is seen in the next frame.
void set_tab_order(std::span<const ImGuiID> order);
std::size_t tab_place(ImGuiID tab);
/// Whether that tab bar still scrolls to the tab in front. It needs frames for that.
bool is_tab_bar_moving();

}  // namespace crawlstore::inspector
