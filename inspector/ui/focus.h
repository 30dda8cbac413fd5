// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The target of keys that are no command's: one of the panes, and in it one of its stops: links,
/// buttons, fields, tables. Tab and Shift+Tab walk from stop to stop, outside the panel the arrows
/// do, too; Enter or Space does what a click would. Dear ImGui's own walk is not used: it knows no
/// links, and Ctrl+Tab and Alt are its own there.
///
/// A stop is known by its label and its count among those of one label, so that it is found again
/// when others come and go.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>

namespace crawlstore::inspector {

enum class Pane : std::uint8_t { kNavigator, kPanel, kDetails, kStatus };

class FocusWalk {
 public:
  /// To a pane. The panel is as it was left; of the others the preferred stop, or the first.
  void enter(Pane pane);
  /// To the panel, and in it to no stop: another one stands there now.
  void enter_new_panel();
  /// Into the field that filters or searches what the panel shows: that of the table with the keys,
  /// else the first one.
  void enter_filter();
  /// Into the field of that label, as soon as the panel has one.
  void enter_field(std::string_view label) { sought_ = label; }
  /// Asks the table with the keys, or in whose filter somebody writes, or else the first one, for
  /// its next row; what searches bytes is asked for the next place.
  void ask_for_row() { must_step_ = true; }
  /// Whether what was asked for by the two above is not in the panel. Told once.
  bool take_miss() { return std::exchange(has_missed_, false); }

  /// Takes the keys of a frame, before the panes are drawn.
  void begin_frame();
  /// Stops between these two belong to the pane. Its window must be the current one.
  void begin_pane(Pane pane);
  void end_pane(ImU32 ring);

  /// The item in this rectangle, drawn just now, is a stop. True = it was pressed.
  bool stop(std::string_view label, ImVec2 min, ImVec2 max);
  /// After stop(): it is the one to begin with.
  void prefer();
  /// After stop(), for a text field: it is written in.
  void note_active();
  /// A stop that reads keys itself. True = they are its own: it is the one, or the panel's first
  /// such and no such was chosen.
  bool owns_keys(std::string_view label, ImVec2 min, ImVec2 max);
  /// Whether it is the one that was asked for its next row. Call it for a table after owns_keys().
  bool takes_row_step(std::string_view label);

  [[nodiscard]] Pane pane() const { return pane_; }
  /// The label of the stop with the keys; empty = none was chosen.
  [[nodiscard]] const std::string& label() const { return at(pane_).label; }

 private:
  struct Stop {
    std::string label;  // empty = none
    std::size_t number = 0;
    bool is_owner = false;  // reads keys itself
    bool operator==(const Stop& other) const {
      return label == other.label && number == other.number;
    }
  };
  [[nodiscard]] const Stop& at(Pane pane) const { return stops_[static_cast<std::size_t>(pane)]; }
  [[nodiscard]] Stop& at(Pane pane) { return stops_[static_cast<std::size_t>(pane)]; }
  void step(bool is_back);
  void take_keys();
  void scroll_pane() const;
  void find_filter();
  void find_field();
  void press(const Stop& stop);

  Pane pane_ = Pane::kPanel;
  std::array<Stop, 4> stops_{};  // by pane: the one that is chosen
  std::vector<Stop> known_;      // those of pane_, as last drawn
  std::vector<Stop> drawn_;      // those of the pane that is being drawn, so far
  Stop preferred_;
  Pane drawn_pane_ = Pane::kPanel;
  bool is_drawing_ = false;
  bool is_shown_ = false;    // whoever uses the mouse needs no ring
  bool is_blocked_ = false;  // keys are a box's, a menu's or a text field's
  bool is_pressed_ = false;
  bool must_scroll_ = false;
  bool has_owner_ = false;
  bool must_find_filter_ = false;
  std::string sought_;       // label of a field of the panel
  bool must_press_ = false;  // in the next frame
  bool must_step_ = false;   // to the next row
  bool has_missed_ = false;
  ImVec2 ring_min_;
  ImVec2 ring_max_;
  bool has_ring_ = false;
};

}  // namespace crawlstore::inspector
