// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arrangement of the window: the open tabs in their order, the one in front, the widths of the
/// panes. Four have names and commands. Ids of panels are texts here; who opens them leaves out
/// what it does not know.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crawlstore::inspector {

struct PaneLayout {
  static constexpr std::size_t kTabsMax = 64;
  static constexpr float kWidthMin = 80;
  static constexpr float kWidthMax = 1600;

  std::string name;               ///< "explore": the named layout that it began as
  std::vector<std::string> tabs;  ///< ids of panels, each once; at least one
  std::string front;              ///< one of them
  float navigator_width = 160;    ///< pixels at scale 1
  float details_width = 250;
  bool operator==(const PaneLayout&) const = default;
};

struct NamedLayout {
  std::string_view title;  ///< "Explore"
  std::string_view help;   ///< what it is for
  PaneLayout layout;       ///< as it is until somebody saves another under its name
};

/// In the order of the menu.
std::span<const NamedLayout> named_layouts();
/// nullptr = none is called so.
const NamedLayout* find_layout(std::string_view name);

}  // namespace crawlstore::inspector
