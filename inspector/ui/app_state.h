// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "inspector/core/redraws.h"
#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

/// Services of the shell.
struct Platform {
  std::function<std::int64_t()> now_us;  ///< since the epoch, UTC
  std::function<void()> wake;            ///< from any thread: draw soon
  std::function<void(const std::string&)> set_clipboard;
  std::function<void(const std::string&)> write_picture{};  ///< of the next frame, to that path
  std::function<void()> quit;
  /// Makes it a texture that this frame may draw; empty = there are none.
  std::function<ImTextureID(const std::shared_ptr<const Mask>&)> texture{};
  /// To a path, atomically, from any thread; returns what went wrong. Empty = not possible.
  std::function<std::string(const Picture&, const std::string&)> write_png{};
};

struct AppOptions {
  Settings settings;
  std::string settings_path;  ///< where changes are kept; empty = nowhere
  bool has_probe = false;
  bool holds_pin = false;  ///< keep the pin however long nobody touches the window
  model::CrawlFileOptions file{};
};

/// The state that the parts of the app share.
struct AppState {
  const Platform platform;
  AppOptions options;  ///< its settings are those that were kept last
  Jobs& jobs;
  Settings settings = options.settings;
  Session session{};
  CommandRegistry commands{};
  Probe probe{};
  Fonts fonts{};
  FocusWalk focus{};
  Redraws redraws{};

  bool must_build_fonts = true;
  bool has_told_of_fonts = false;

  /// Into the log, and on the status line.
  void say(Severity severity, std::string text);
  /// Writes the settings where they are kept.
  void save_settings();
  void set_scale(float scale);
  void set_theme(std::string_view name);
  void build_fonts();
  Ui ui(Actions& actions);
};

}  // namespace crawlstore::inspector
