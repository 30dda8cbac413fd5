// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The open panels in their order, and the one in front. Invariant: while a frame is drawn, the
/// one in front is open. The tab bar of ImGui has an order of its own, which dragging changes:
/// it is taken after each frame, and given only when another layout comes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspector/ui/app_state.h"
#include "inspector/ui/panel.h"

namespace crawlstore::inspector {

class Tabs {
 public:
  explicit Tabs(AppState& state) : state_(state) {}

  [[nodiscard]] const std::string& front() const { return front_; }
  [[nodiscard]] const PanelKind& front_kind() { return *find_or_open(front_).kind; }
  [[nodiscard]] Panel& current() { return *find_or_open(front_).panel; }
  /// Opens a panel if it is not open. Of a known id only.
  Panel& open(std::string_view id) { return *find_or_open(id).panel; }
  void bring_to_front(std::string_view id);
  /// Closes a panel; returns the one to the very right; the start panel when none is left.
  std::string_view close(std::string_view id);
  void close_all();
  /// Id of the panel so many tabs to the right, or around; -1 = to the left.
  [[nodiscard]] std::string_view beside_front(int step) const;
  /// Nothing if that panel is not open.
  [[nodiscard]] std::string state_of(std::string_view id) const;

  /// Opens what the layout of the settings names. What is open already stays as it is, with its
  /// scroll and filters. Panels of pages and of frontiers are left out where a file has none.
  void open_layout();
  /// Keeps in the settings what is open.
  void note_layout();
  /// The same, and writes the settings.
  void save();

  /// The panels drop whatever reads the file; those that nobody sees, if there is another view.
  void let_go();
  void let_go_of_hidden();

  /// The tab that was closed; empty = none. nullopt = there is no room for tabs, nor for panels.
  std::optional<std::string> draw_bar(Ui& ui);
  /// Draws the panel in front; `absent` says why its thing cannot be shown: empty = it is there.
  void draw_front(Ui& ui, const std::string& absent);
  /// Tells, once a frame, if another panel is in front than in the frame before.
  bool take_new_front() { return std::exchange(drawn_front_, front_) != front_; }

 private:
  struct OpenPanel {
    const PanelKind* kind = nullptr;
    std::unique_ptr<Panel> panel;
    std::uint64_t number = 0;  // of the oldest view that it may still read
  };
  OpenPanel& find_or_open(std::string_view id);
  std::string draw_items(Ui& ui);
  void settle_order();

  AppState& state_;
  std::vector<OpenPanel> panels_;  // in the order of the tabs
  std::string front_ = "start";
  // Tabs of the layout that this file has nothing for, with their places.
  std::vector<std::pair<std::size_t, std::string>> hidden_;
  bool must_select_ = false;
  bool must_order_ = false;
  bool has_wheel_ = false;   // what is under the mouse takes the wheel itself
  int bring_frames_ = 0;     // in which the main table of the panel in front comes into sight
  ImVec2 panel_size_;        // in the frame before
  std::string drawn_front_;  // in front in the frame before
};

}  // namespace crawlstore::inspector
