// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/style.h"

#include <imgui.h>

namespace crawlstore::inspector {
namespace {

void set(ImGuiCol item, Colour colour) {
  ImGui::GetStyle().Colors[item] = ImGui::ColorConvertU32ToFloat4(colour);
}

void apply_colours(const Palette& palette) {
  set(ImGuiCol_Text, palette.text);
  set(ImGuiCol_TextDisabled, palette.faint);
  set(ImGuiCol_WindowBg, palette.window);
  set(ImGuiCol_ChildBg, palette.panel);
  set(ImGuiCol_PopupBg, palette.panel);
  set(ImGuiCol_Border, palette.border);
  set(ImGuiCol_FrameBg, palette.raised);
  set(ImGuiCol_FrameBgHovered, palette.hovered);
  set(ImGuiCol_FrameBgActive, palette.hovered);
  set(ImGuiCol_MenuBarBg, palette.window);
  set(ImGuiCol_ScrollbarBg, palette.window);
  set(ImGuiCol_ScrollbarGrab, palette.hovered);
  set(ImGuiCol_ScrollbarGrabHovered, palette.faint);
  set(ImGuiCol_ScrollbarGrabActive, palette.accent);
  set(ImGuiCol_CheckMark, palette.accent);
  set(ImGuiCol_SliderGrab, palette.accent);
  set(ImGuiCol_SliderGrabActive, palette.accent);
  set(ImGuiCol_Button, palette.raised);
  set(ImGuiCol_ButtonHovered, palette.hovered);
  set(ImGuiCol_ButtonActive, palette.selected);
  set(ImGuiCol_Header, palette.selected);
  set(ImGuiCol_HeaderHovered, palette.hovered);
  set(ImGuiCol_HeaderActive, palette.selected);
  set(ImGuiCol_Separator, palette.border);
  set(ImGuiCol_SeparatorHovered, palette.accent);
  set(ImGuiCol_SeparatorActive, palette.accent);
  set(ImGuiCol_Tab, palette.window);
  set(ImGuiCol_TabHovered, palette.hovered);
  set(ImGuiCol_TabActive, palette.selected);
  set(ImGuiCol_TabUnfocused, palette.window);
  set(ImGuiCol_TabUnfocusedActive, palette.selected);
  set(ImGuiCol_TextSelectedBg, palette.selected);
  set(ImGuiCol_PlotHistogram, palette.accent);
  set(ImGuiCol_NavHighlight, palette.accent);
}

}  // namespace

void apply_style(const Palette& palette, float scale) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.WindowPadding = ImVec2(8, 6);
  style.FramePadding = ImVec2(6, 3);
  style.ItemSpacing = ImVec2(8, 4);
  style.WindowRounding = 0;
  style.WindowBorderSize = 0;
  style.ChildBorderSize = 0;
  style.FrameRounding = 3;
  style.TabRounding = 3;
  style.PopupRounding = 4;
  style.ScrollbarSize = 14;
  style.ScrollbarRounding = 3;
  style.ScaleAllSizes(scale);
  // Lines are triangles, not texels: the same in OpenGL and in our own rasteriser.
  style.AntiAliasedLinesUseTex = false;
  apply_colours(palette);
}

}  // namespace crawlstore::inspector
