// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inspector without window, X or OpenGL: driven by a script, drawn into a picture. Its clock
/// stands still unless the script moves it, and what runs in the background is waited for, so that
/// two runs give the same pixels.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>

#include "inspector/core/script.h"
#include "inspector/shell/imgui_events.h"
#include "inspector/shell/picture.h"
#include "inspector/ui/app.h"

namespace crawlstore::inspector {

struct HeadlessOptions {
  int width = 1280;
  int height = 800;
  Settings settings{};          ///< nothing is loaded
  std::string settings_path{};  ///< where changes are kept; empty = nowhere
  model::CrawlFileOptions file{};
};

class HeadlessShell {
 public:
  explicit HeadlessShell(const HeadlessOptions& options);
  ~HeadlessShell();
  HeadlessShell(const HeadlessShell&) = delete;
  HeadlessShell& operator=(const HeadlessShell&) = delete;

  [[nodiscard]] App& app() { return *app_; }
  /// Runs all steps, or none when one of them does not exist. Returns what went wrong, with the
  /// line; empty = nothing.
  std::string run(const std::vector<ScriptStep>& steps);
  /// One step; for tests.
  std::string run_step(const ScriptStep& step);
  /// Draws frames until nothing changes any more.
  void settle();
  /// The picture of the last frame.
  [[nodiscard]] Picture picture();
  [[nodiscard]] const std::string& clipboard() const { return clipboard_; }
  /// Frames drawn since the start.
  [[nodiscard]] std::uint64_t frame_count() const { return frame_count_; }
  /// Sends an event to the window, like one from a person.
  void send(const Event& event);

 private:
  struct ContextDeleter {
    void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
  };
  void frame();
  void move_to(ImVec2 place);
  void press(int button, bool is_down);
  void type(const std::string& text);
  std::string point(const std::string& label, ImVec2& place);
  std::string press_key(const std::string& chord);
  std::string click(const std::string& label, int button, int times);
  std::string drag(const std::string& argument);
  std::string resize(const std::string& argument);
  std::string advance(const std::string& argument);
  std::string expect(const std::string& text, bool is_wanted);
  std::string expect_location(const std::string& location);
  std::string expect_focus(const std::string& label);
  std::string go(const std::string& argument);
  std::string run_command(const std::string& argument);
  std::string wheel(const std::string& argument);
  std::string open_shards(const std::string& paths);
  std::string drop(const std::string& path);
  std::string hover(const std::string& label);
  std::string draw_frames(const std::string& argument);

  using Step = std::string (*)(HeadlessShell& shell, const std::string& argument);
  struct NamedStep {
    std::string_view verb;
    Step run;
  };
  static const std::array<NamedStep, 22> kSteps;
  static Step find_step(std::string_view verb);

  std::unique_ptr<ImGuiContext, ContextDeleter> context_;
  EventQueue events_;
  std::int64_t now_us_;
  std::string clipboard_;
  std::vector<std::shared_ptr<const Mask>> masks_;  // textures of the frame drawn last
  std::string picture_path_;
  std::string picture_problem_;
  std::uint64_t frame_count_ = 0;
  std::unique_ptr<App> app_;
};

}  // namespace crawlstore::inspector
