// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The things on the screen, in words: filled while a frame is drawn, asked by scripts and tests.
/// So a script clicks on what something is called, not on where it happens to be.

#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>

namespace crawlstore::inspector {

struct ProbeItem {
  std::string label;  ///< of things that can be clicked; empty = text only
  std::string text;
  ImVec2 min;
  ImVec2 max;
  /// Some of it cannot be seen, and no scrollbar brings it into sight.
  bool is_clipped = false;
};

class Probe {
 public:
  /// Off, nothing is kept: a window that nobody scripts pays for nothing.
  void turn_on() { is_on_ = true; }
  [[nodiscard]] bool is_on() const { return is_on_; }
  void begin_frame() { items_.clear(); }
  /// Items that are noted between these two scroll by means that ImGui does not know: rows of
  /// tables, lines of bytes, tabs.
  void begin_scrolled() { ++scrolled_depth_; }
  void end_scrolled() { --scrolled_depth_; }
  void note(std::string_view label, std::string_view text, ImVec2 min, ImVec2 max);
  /// Notes the last item that ImGui drew.
  void note_item(std::string_view label, std::string_view text) {
    if (is_on_) note(label, text, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  }
  [[nodiscard]] const std::vector<ProbeItem>& items() const { return items_; }
  /// The item of that label, or of that text, when no label is it; nullptr = none.
  [[nodiscard]] const ProbeItem* find(std::string_view label) const;
  /// Whether any item's text holds this.
  [[nodiscard]] bool shows(std::string_view text) const;

 private:
  bool is_on_ = false;
  int scrolled_depth_ = 0;
  std::vector<ProbeItem> items_;
};

}  // namespace crawlstore::inspector
