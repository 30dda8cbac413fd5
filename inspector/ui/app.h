// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inspector without a window: takes events, draws frames into ImGui's current context. The
/// shells put it on a screen, or into a picture.
///
/// Threads: one, but for what its jobs do.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inspector/core/history.h"
#include "inspector/ui/panel.h"

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

class App final : private Actions {
 public:
  App(Platform platform, AppOptions options);
  ~App() override;

  /// Opens a file, and goes to a place in it. A failure is said on the start panel.
  void open(const std::string& path) override;
  /// errors  of CrawlFile::open(); they are said on the start panel as well
  Result<void> open_at(const FileLocation& file);
  /// The same of the first of several files, all of which are the shards of a crawl.
  Result<void> open_set(const std::vector<FileLocation>& files);
  void close_file();
  void go(const Location& location) override;

  /// Keys of commands, drops, back and forward; everything else is ImGui's, and false is returned.
  bool take_event(const Event& event);
  /// Takes what jobs brought, looks for news of the file. True when a frame should be drawn.
  bool poll();
  /// One frame: between ImGui::NewFrame() and ImGui::Render().
  void draw();
  /// After a change there are some frames in which ImGui settles.
  [[nodiscard]] bool wants_frame() const { return frames_wanted_ > 0; }
  void want_frames() { frames_wanted_ = kSettlingFrames; }
  /// The window has this size now; the next one begins with it.
  void keep_window_size(int width, int height) { settings_.keep_window_size(width, height); }
  /// The time that a shell may sleep until the next poll(); 0 = until something happens.
  [[nodiscard]] std::int64_t poll_every_us() const;

  /// Atlas and style are not of this scale any more: call before the next frame.
  [[nodiscard]] bool wants_fonts() const;
  void build_fonts();

  [[nodiscard]] const Probe& probe() const { return probe_; }
  /// The pane that takes keys which are no command's.
  [[nodiscard]] const FocusWalk& focus() const { return focus_; }
  [[nodiscard]] const CommandRegistry& commands() const { return commands_; }
  [[nodiscard]] const Session& session() const { return session_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] Colour background() const;
  [[nodiscard]] std::string title() const;
  [[nodiscard]] Location location() const;
  /// Blocks until nothing runs in the background, and takes what it brought.
  void wait_for_jobs();

 private:
  static constexpr int kSettlingFrames = 3;

  struct OpenPanel {
    const PanelKind* kind = nullptr;
    std::unique_ptr<Panel> panel;
    std::uint64_t number = 0;  // of the oldest view that it may still read
  };
  struct Modals;

  // Actions
  void open_place(const FileLocation& file) override;
  void verify(VerifyLevel level) override;
  void copy(const std::string& text, std::string_view what) override;
  void say(Severity severity, std::string text) override;
  void meet(const Error& error) override;
  void run(std::string_view command, std::string_view argument = {}) override;
  void keep_width(const std::string& column, float width) override {
    settings_.keep_width(column, width);
  }
  void redraw() override { want_frames(); }
  void redraw_at(std::int64_t time_us) override {
    redraw_at_us_ = redraw_at_us_ == 0 ? time_us : std::min(redraw_at_us_, time_us);
  }
  ImTextureID texture(const std::shared_ptr<const Mask>& mask) override {
    return platform_.texture ? platform_.texture(mask) : nullptr;
  }
  [[nodiscard]] WritePng png_writer() const override { return platform_.write_png; }

  void add_commands();
  void add_file_commands();
  void add_recovery_command();
  void add_go_commands();
  void add_view_commands();
  void add_layout_commands();
  void add_pane_commands();
  void add_work_commands();
  void add_row_commands();
  void add_table_commands();
  void add_help_commands();

  void follow();
  void leave();
  void release();
  void look_again();
  void recover_to(const std::string& new_path);
  void note_look();
  void see_queues(const model::FileView& view, bool is_followed);
  void announce();
  void let_go_of_hidden();
  void note_commit(const model::FileView& before, const model::FileView& after);
  void take_checked(Checked checked);
  void arrive(const Visit& visit);
  void show_thing();
  OpenPanel& open_panel(std::string_view id);
  void close_panel(std::string_view id);
  /// Nothing if that panel is not open.
  [[nodiscard]] std::string state_of(std::string_view id) const;
  void open_tabs();
  void note_layout();
  void take_layout(const PaneLayout& layout);
  [[nodiscard]] Panel& current_panel();
  [[nodiscard]] static std::string_view home_of(const Thing& thing);
  void set_scale(float scale);
  void set_theme(std::string_view name);
  void save();

  void draw_menu(Ui& ui);
  void draw_menu_items(std::string_view menu);
  void draw_menu_item(const Command& command);
  void draw_address_bar(Ui& ui);
  void draw_file_state(Ui& ui);
  void draw_banner(Ui& ui);
  void draw_navigator(Ui& ui);
  void draw_named_things(Ui& ui, const model::FileView& view);
  void draw_navigator_group(Ui& ui, std::string_view group);
  void draw_tabs(Ui& ui);
  void draw_absent(Ui& ui);
  /// Goes to the place that somebody's words mean; returns why it goes nowhere.
  std::string go_to(const std::string& to);
  std::string go_to_url(const std::string& url);
  std::string draw_tab_items();
  void settle_tab_order();
  void draw_details(Ui& ui);
  void settle_details();
  [[nodiscard]] bool shows_details() { return are_details_open_ && current_panel().has_details(); }
  void draw_details_pane(Ui& ui, ImVec2 at, ImVec2 size);
  void draw_status_bar(Ui& ui);
  void draw_status_line(Ui& ui);
  void draw_health(Ui& ui);
  void draw_job_state(Ui& ui);
  void draw_modals(Ui& ui);
  Ui make_ui();

  Platform platform_;
  Settings settings_;
  std::string settings_path_;
  bool holds_pin_ = false;
  model::CrawlFileOptions file_options_;
  Settings saved_settings_;
  Session session_;
  CommandRegistry commands_;
  History history_;
  Probe probe_;
  Fonts fonts_;
  FocusWalk focus_;
  std::vector<OpenPanel> panels_;  // the tabs, in their order
  std::string front_;              // id of the panel in front
  // Tabs of the layout that this file has nothing for, with their places.
  std::vector<std::pair<std::size_t, std::string>> hidden_tabs_;
  bool must_select_tab_ = false;
  bool must_order_tabs_ = false;
  bool must_close_popups_ = false;
  bool must_build_fonts_ = true;
  bool has_told_of_fonts_ = false;
  int frames_wanted_ = kSettlingFrames;
  std::int64_t last_input_us_ = 0;
  std::int64_t last_poll_us_ = 0;
  std::int64_t redraw_at_us_ = 0;  // 0 = nobody asked for it
  std::int64_t page_delta_ = 0;    // since the last input: "+1,204 pages"
  std::int64_t key_delta_ = 0;     // shown where no pages came
  std::string open_problem_;
  Details details_;
  bool are_details_open_ = false;
  bool has_wheel_ = false;  // what is under the mouse takes the wheel itself
  int bring_frames_ = 0;    // in which the main table of the panel in front comes into sight
  ImVec2 panel_size_;       // in the frame before
  std::string details_of_;  // id of the panel that was in front in the frame before
  std::string absent_;      // why the thing of this place cannot be shown; empty = it is there
  std::optional<Location> wanted_;           // where to go when the frame is drawn
  std::optional<PaneLayout> wanted_layout_;  // likewise
  std::optional<FileLocation> to_open_;      // likewise
  std::unique_ptr<Modals> modals_;
  Jobs jobs_;  // last: its threads end first
};

}  // namespace crawlstore::inspector
