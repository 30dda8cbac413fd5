// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inspector in a window. Draws when something happened, and not otherwise.

#include <optional>
#include <string>
#include <vector>

#include "inspector/ui/app.h"

namespace crawlstore::inspector {

struct WindowOptions {
  std::optional<int> width{};  ///< else as the settings have it, if a screen is that large
  std::optional<int> height{};
  Settings settings{};
  std::string settings_path;
  bool holds_pin = false;
  model::CrawlFileOptions file_options{};
  std::vector<FileLocation> files{};  ///< to open; several: as a set of shards
  std::string probe_path;             ///< tests: what is on the screen, written after each frame
  std::string times_path;  ///< benches: of each frame milliseconds, and those of processor time
};

/// Runs until the window is closed. Returns what kept it from opening; empty = it was closed.
std::string run_window(const WindowOptions& options);

}  // namespace crawlstore::inspector
