// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The settings that the inspector remembers from one run to the next: JSON in
/// $XDG_CONFIG_HOME/crawlstore/inspector.json, default ~/.config. Files of other versions lose what
/// is not known, a damaged one is kept aside and begun anew.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/core/pane_layout.h"

namespace crawlstore::inspector {

struct Settings {
  static constexpr std::size_t kRecentMax = 20;
  static constexpr std::size_t kWidthsMax = 500;
  static constexpr float kWidthLeast = 20;
  static constexpr float kWidthMost = 4000;
  static constexpr int kWindowWidthMin = 200;
  static constexpr int kWindowHeightMin = 150;
  static constexpr int kWindowSideMax = 8192;

  std::string theme = "dark";  ///< name of a palette
  float scale = 1.0F;          ///< 1 to 2
  int window_width = 1280;     ///< pixels, as it was left
  int window_height = 800;
  PaneLayout layout = named_layouts().front().layout;  ///< as it is now
  std::vector<PaneLayout> saved_layouts;  ///< those that replace the named ones, each name once
  std::vector<std::string> recent;        ///< absolute paths, newest first
  /// Columns whose width was chosen, as "table.column"; pixels at scale 1.
  std::map<std::string, float> column_widths;

  /// Puts a path in front of the recent ones.
  void remember(const std::string& path);
  /// Keeps a column's width, within the bounds above; forgets it when it is 0.
  void keep_width(const std::string& column, float width);
  /// Keeps the size of the window if it is one that a person can use.
  void keep_window_size(int width, int height);
  /// The named layout as it was saved, else as it is at first; nullptr = no such name.
  [[nodiscard]] const PaneLayout* find_layout(std::string_view name) const;
  /// Keeps the present layout under its name, or forgets what is kept there.
  void save_layout();
  void forget_layout();
  bool operator==(const Settings&) const = default;
};

/// JSON holds UTF-8 only: paths that are none are not remembered.
std::string to_json(const Settings& settings);
/// nullopt = not a JSON object. Values out of their range become the default.
std::optional<Settings> parse_settings(const std::string& json);

/// The file's path; empty = there is no home.
std::string settings_path();
/// Defaults when there is no file. A file that cannot be understood is renamed to *.damaged.
Settings load_settings(const std::string& path);
/// Atomically. Returns what went wrong; empty = nothing.
std::string save_settings(const Settings& settings, const std::string& path);

}  // namespace crawlstore::inspector
