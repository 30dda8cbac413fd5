// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/app.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "inspector/core/shown_text.h"
#include "inspector/ui/app_commands.h"
#include "inspector/ui/internal.h"
#include "inspector/ui/surroundings.h"

namespace crawlstore::inspector {
namespace {

constexpr ImGuiWindowFlags kPlainWindow =
    ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollbar |
    ImGuiWindowFlags_NoScrollWithMouse;
constexpr float kSplitter = 6;

void draw_status_bar(Ui& ui) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0);
  ImGui::BeginChild("status", ImVec2(0, 0), false, ImGuiWindowFlags_NoScrollbar);
  ui.focus.begin_pane(Pane::kStatus);
  draw_status_line(ui);
  ui.focus.end_pane(ui.palette.accent);
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

}  // namespace

App::App(Platform platform, AppOptions options) : parts_(std::move(platform), std::move(options)) {
  AppState& state = parts_.state;
  if (state.options.has_probe) state.probe.turn_on();
  state.redraws.note_input(state.platform.now_us());
  add_commands(parts_);
}

App::~App() {
  // Tabs and splitters move without saying so.
  parts_.tabs.note_layout();
  if (settings() != parts_.state.options.settings) parts_.state.save_settings();
}

bool App::take_event(const Event& event) {
  parts_.state.redraws.note_input(parts_.state.platform.now_us());
  want_frames();
  parts_.file.note_input();
  if (event.kind == Event::Kind::kDrop) {
    if (!event.paths.empty()) open(event.paths.front());
    return true;
  }
  if (event.kind == Event::Kind::kMouseButton && event.is_down && event.code >= 3) {
    parts_.actions.run(event.code == 3 ? "go_back" : "go_forward");
    return true;
  }
  return event.kind == Event::Kind::kKey && event.is_down && take_key(event.chord);
}

bool App::take_key(const KeyChord& chord) {
  // Menus and boxes close before a job is cancelled.
  if (chord.key == kKeyEscape && has_popup()) {
    must_close_popups_ = true;
    return true;
  }
  const Command* command = commands().find(chord);
  if (command == nullptr || !command->enabled()) return false;
  // Keys that edit text are the text field's while it has the focus.
  const bool is_plain = !chord.control && !chord.alt;
  const bool is_function_key = chord.key >= kKeyF1 && chord.key <= kKeyF12;
  if (is_plain && !is_function_key && ImGui::GetIO().WantTextInput) return false;
  command->run({});
  return true;
}

bool App::poll() {
  AppState& state = parts_.state;
  if (state.jobs.take_finished()) want_frames();
  // For progress and finds of a job one frame will do: at most ten a second.
  if (state.jobs.take_progress()) state.redraws.want_one();
  parts_.file.poll();
  state.redraws.pass_time(state.platform.now_us());
  parts_.tabs.let_go_of_hidden();
  return wants_frame();
}

std::string App::title() const {
  if (!session().file) return "crawlstore inspector";
  return shown_text(std::filesystem::path(session().file->path()).filename().string()) +
         " - crawlstore inspector";
}

void App::wait_for_jobs() {
  Jobs& jobs = parts_.jobs;
  while (!jobs.idle()) {
    jobs.wait();
    jobs.take_finished();
    want_frames();
  }
  if (jobs.take_progress()) want_frames();
}

void App::draw_details(Ui& ui, ImVec2 at, ImVec2 size) {
  const float bar = ui.px(kSplitter);
  float width = (size.x - bar) / ui.scale;
  if (draw_splitter("right", at, ImVec2(at.x + bar, at.y + size.y), width, -1 / ui.scale)) {
    parts_.state.settings.layout.details_width = width;
  }
  ui.probe.note_item("splitter.right", "");
  ImGui::SetCursorScreenPos(ImVec2(at.x + bar, at.y));
  ImGui::BeginChild("details", ImVec2(size.x - bar, size.y), false, kPane);
  ui.focus.begin_pane(Pane::kDetails);
  parts_.details.draw(ui);
  ui.focus.end_pane(ui.palette.accent);
  ImGui::EndChild();
}

/// The navigator, the panel in front with its tabs, the details, and the status bar below them.
void App::draw_panes(Ui& ui) {
  PaneLayout& layout = parts_.state.settings.layout;
  const float bar = ui.px(kSplitter);
  const float status = ImGui::GetFrameHeight() + ui.px(4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = room.y - status;
  const float left = std::min(ui.px(layout.navigator_width), room.x * 0.3F);
  const bool has_details = parts_.shows_details();
  const float right = has_details ? std::min(ui.px(layout.details_width), room.x * 0.35F) + bar : 0;
  ImGui::BeginChild("navigator", ImVec2(left, height), false, kPane);
  ui.focus.begin_pane(Pane::kNavigator);
  draw_navigator(ui, parts_.tabs.front());
  ui.focus.end_pane(ui.palette.accent);
  ImGui::EndChild();
  float width = left / ui.scale;
  if (draw_splitter("left", ImVec2(at.x + left, at.y), ImVec2(at.x + left + bar, at.y + height),
                    width, 1 / ui.scale)) {
    layout.navigator_width = width;
  }
  ui.probe.note_item("splitter.left", "");
  ImGui::SetCursorScreenPos(ImVec2(at.x + left + bar, at.y));
  ImGui::BeginChild("centre", ImVec2(room.x - left - right - bar, height));
  if (const auto closed = parts_.tabs.draw_bar(ui)) {
    if (!closed->empty()) parts_.places.close_tab(*closed);
    parts_.tabs.draw_front(ui, parts_.places.absent());
  }
  ImGui::EndChild();
  parts_.details.take(ui, parts_.tabs.take_new_front());
  if (has_details) draw_details(ui, ImVec2(at.x + room.x - right, at.y), ImVec2(right, height));
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + height + ui.px(4)));
  ImGui::Separator();
  draw_status_bar(ui);
}

void App::draw() {
  AppState& state = parts_.state;
  parts_.file.look_if_released();
  state.redraws.note_drawn();
  if (std::exchange(must_close_popups_, false)) close_popups();
  state.probe.begin_frame();
  state.focus.begin_frame();
  Ui ui = state.ui(parts_.actions);
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("inspector", nullptr, kPlainWindow | ImGuiWindowFlags_MenuBar);
  draw_menu(ui);
  draw_address_bar(ui, parts_.places.history());
  draw_banner(ui);
  draw_panes(ui);
  parts_.palette.draw(ui);
  parts_.question.draw(ui);
  parts_.help.draw(ui);
  ImGui::End();

  if (state.focus.take_miss()) state.say(Severity::kNote, "this panel has no table");
  if (state.fonts.is_stale()) want_frames();
  parts_.places.settle();
  parts_.file.settle();
}

}  // namespace crawlstore::inspector
