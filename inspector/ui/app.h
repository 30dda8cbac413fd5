// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inspector without a window: takes events, draws frames into ImGui's current context. The
/// shells put it on a screen, or into a picture.
///
/// Threads: one, but for what its jobs do.

#include <cstdint>
#include <string>
#include <vector>

#include "inspector/ui/app_parts.h"

namespace crawlstore::inspector {

class App final {
 public:
  App(Platform platform, AppOptions options);
  ~App();

  /// Opens a file when the frame is drawn. A failure is said on the start panel.
  void open(const std::string& path) { parts_.actions.open(path); }
  /// The same at once; and the first of several files, all of which are the shards of a crawl.
  ///   errors  of CrawlFile::open()
  Result<void> open_at(const FileLocation& file) { return parts_.file.open_at(file); }
  Result<void> open_set(const std::vector<FileLocation>& files) {
    return parts_.file.open_set(files);
  }
  void close_file() { parts_.file.close(); }
  void go(const Location& location) { parts_.places.go(location); }

  /// Keys of commands, drops, back and forward; everything else is ImGui's, and false is returned.
  bool take_event(const Event& event);
  /// Takes what jobs brought, looks for news of the file. True when a frame should be drawn.
  bool poll();
  /// One frame: between ImGui::NewFrame() and ImGui::Render().
  void draw();
  /// After a change there are some frames in which ImGui settles.
  [[nodiscard]] bool wants_frame() const { return parts_.state.redraws.is_wanted(); }
  void want_frames() { parts_.state.redraws.want(); }
  /// The window has this size now; the next one begins with it.
  void keep_window_size(int width, int height) {
    parts_.state.settings.keep_window_size(width, height);
  }
  /// The time that a shell may sleep until the next poll(); 0 = until something happens.
  [[nodiscard]] std::int64_t poll_every_us() const { return parts_.file.poll_every_us(); }

  /// Atlas and style are not of this scale any more: call before the next frame.
  [[nodiscard]] bool wants_fonts() const {
    return parts_.state.must_build_fonts || parts_.state.fonts.is_stale();
  }
  void build_fonts() { parts_.state.build_fonts(); }

  [[nodiscard]] const Probe& probe() const { return parts_.state.probe; }
  /// The pane that takes keys which are no command's.
  [[nodiscard]] const FocusWalk& focus() const { return parts_.state.focus; }
  [[nodiscard]] const CommandRegistry& commands() const { return parts_.state.commands; }
  [[nodiscard]] const Session& session() const { return parts_.state.session; }
  [[nodiscard]] const Settings& settings() const { return parts_.state.settings; }
  [[nodiscard]] Colour background() const { return find_palette(settings().theme).window; }
  [[nodiscard]] std::string title() const;
  [[nodiscard]] Location location() const { return parts_.places.location(); }
  /// Blocks until nothing runs in the background, and takes what it brought.
  void wait_for_jobs();

 private:
  bool take_key(const KeyChord& chord);
  void draw_panes(Ui& ui);
  void draw_details(Ui& ui, ImVec2 at, ImVec2 size);

  AppParts parts_;
  bool must_close_popups_ = false;
};

}  // namespace crawlstore::inspector
