// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The place that is shown, those before it, and the wanted one. While panels draw, nothing of this
/// changes: what they ask for is done by settle() afterwards. Invariant: the history is never
/// empty.

#include <optional>
#include <string>
#include <string_view>

#include "inspector/core/history.h"
#include "inspector/ui/details_pane.h"
#include "inspector/ui/tabs.h"

namespace crawlstore::inspector {

class Places {
 public:
  /// Begins at the start panel.
  Places(AppState& state, Tabs& tabs, DetailsPane& details);

  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const Location& location() const { return history_.current().location; }
  /// The reason why the thing of this place cannot be shown; empty = it is there.
  [[nodiscard]] const std::string& absent() const { return absent_; }

  /// Goes there when the frame is drawn.
  void go(const Location& location);
  /// The same where somebody's words lead; returns why nowhere.
  std::string go_to(const std::string& to);
  void want_layout(const PaneLayout& layout);
  /// Forgets what was wanted of the layout, and what is selected.
  void leave_file();
  /// Does what was asked for.
  void settle();

  void go_back();
  void go_forward();
  void close_tab(const std::string& id);
  /// A thing that was not there may have come with another generation.
  void look_again();

 private:
  void arrive(const Visit& visit);
  void leave_for(const Location& location, std::string view_state);
  void show_thing();
  std::string go_to_url(const std::string& url);

  AppState& state_;
  Tabs& tabs_;
  DetailsPane& details_;
  History history_;
  std::string absent_;
  std::optional<Location> wanted_;
  std::optional<PaneLayout> wanted_layout_;
};

}  // namespace crawlstore::inspector
