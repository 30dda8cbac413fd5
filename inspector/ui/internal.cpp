// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/internal.h"

#include <algorithm>
#include <cmath>

#include <imgui_internal.h>

#include "inspector/core/pane_layout.h"

#if IMGUI_VERSION_NUM < 18600
#error "Dear ImGui 1.86 or newer is needed"
#endif

namespace crawlstore::inspector {
namespace {

/// Rows are told to ImGui in lines of so many pixels, so that small tables get a usable thumb.
constexpr std::uint64_t kLinePixels = 16;
/// 2^58 rows of 16 pixels are what a signed 64-bit number takes.
constexpr std::uint64_t kRowsMax = std::uint64_t{1} << 58U;

}  // namespace

bool draw_row_scrollbar(const char* id, ImVec2 min, ImVec2 max, RowRange range,
                        std::uint64_t& first) {
  const auto pixels = [](std::uint64_t rows) {
    const std::uint64_t shown = std::min(rows, kRowsMax) * kLinePixels;
    return static_cast<ImS64>(shown);
  };
  ImS64 scroll = pixels(first);
  const ImS64 before = scroll;
  ImGui::ScrollbarEx(ImRect(min, max), ImGui::GetID(id), ImGuiAxis_Y, &scroll, pixels(range.page),
                     pixels(range.count), ImDrawFlags_RoundCornersNone);
  if (scroll == before) return false;
  first = static_cast<std::uint64_t>(std::max<ImS64>(scroll, 0)) / kLinePixels;
  return true;
}

bool draw_splitter(const char* id, ImVec2 min, ImVec2 max, float& width, float factor) {
  const ImGuiID item = ImGui::GetID(id);
  const ImRect box(min, max);
  if (!ImGui::ItemAdd(box, item)) return false;
  bool is_hovered = false;
  bool is_held = false;
  ImGui::ButtonBehavior(box, item, &is_hovered, &is_held);
  if (is_hovered || is_held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const float before = width;
  if (is_held && ImGui::GetIO().MouseDelta.x != 0) {
    width = std::clamp(width + factor * ImGui::GetIO().MouseDelta.x, PaneLayout::kWidthMin,
                       PaneLayout::kWidthMax);
  }
  const ImU32 colour = ImGui::GetColorU32(is_held      ? ImGuiCol_SeparatorActive
                                          : is_hovered ? ImGuiCol_SeparatorHovered
                                                       : ImGuiCol_Separator);
  const float middle = (min.x + max.x) / 2;
  ImGui::GetWindowDrawList()->AddLine(ImVec2(middle, min.y), ImVec2(middle, max.y), colour);
  return width != before;
}

bool is_clipped(ImVec2 min, ImVec2 max) {
  const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
  ImRect item(min, max);
  // Inside the window; then the window inside the one around it, and so on.
  for (bool is_first = true; window != nullptr; window = window->ParentWindow, is_first = false) {
    if ((window->Flags & ImGuiWindowFlags_Tooltip) != 0) return false;
    // The rectangle is clipped like ImGui's, but not to the visible part of the windows around it
    // just now.
    ImRect room = window->InnerRect;
    room.Expand(ImVec2(-std::floor(window->WindowPadding.x / 2), 0));
    if (is_first && window->DC.MenuBarAppending) room = window->MenuBarRect();
    room.Expand(1);  // of rounding
    const bool is_wide = item.Min.x < room.Min.x || item.Max.x > room.Max.x;
    const bool is_tall = item.Min.y < room.Min.y || item.Max.y > room.Max.y;
    if ((is_wide && !window->ScrollbarX) || (is_tall && !window->ScrollbarY)) return true;
    if ((window->Flags & ImGuiWindowFlags_ChildWindow) == 0) break;
    item = window->Rect();
  }
  return false;
}

bool is_disabled() {
  return (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
}

void leave_text_field() {
  ImGui::ClearActiveID();
}

bool has_popup() {
  return ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

void close_popups() {
  if (has_popup()) ImGui::ClosePopupToLevel(0, true);
}

void scroll_into_sight(ImVec2 min, ImVec2 max) {
  (void)ImGui::ScrollToBringRectIntoView(ImGui::GetCurrentWindow(), ImRect(min, max));
}

std::size_t tab_place(ImGuiID tab) {
  const ImVector<ImGuiTabItem>& tabs = ImGui::GetCurrentContext()->CurrentTabBar->Tabs;
  return static_cast<std::size_t>(std::ranges::find(tabs, tab, &ImGuiTabItem::ID) - tabs.begin());
}

bool is_tab_bar_moving() {
  const ImGuiTabBar& bar = *ImGui::GetCurrentContext()->CurrentTabBar;
  return bar.ScrollingAnim != bar.ScrollingTarget;
}

void set_tab_order(std::span<const ImGuiID> order) {
  ImVector<ImGuiTabItem>& tabs = ImGui::GetCurrentContext()->CurrentTabBar->Tabs;
  std::ranges::stable_sort(tabs, {}, [order](const ImGuiTabItem& tab) {
    return std::ranges::find(order, tab.ID) - order.begin();
  });
}

}  // namespace crawlstore::inspector
