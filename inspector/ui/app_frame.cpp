// SPDX-License-Identifier: Apache-2.0
// What is around the panels: menu, address bar, navigator, tabs, details, status bar.
#include <algorithm>
#include <array>

#include "inspector/core/shown_text.h"
#include "inspector/ui/app.h"
#include "inspector/ui/app_modals.h"
#include "inspector/ui/internal.h"
#include "inspector/ui/style.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr ImGuiWindowFlags kPlainWindow =
    ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollbar |
    ImGuiWindowFlags_NoScrollWithMouse;
constexpr ImGuiWindowFlags kPane = ImGuiWindowFlags_AlwaysUseWindowPadding;
constexpr float kSplitter = 6;
constexpr std::array<std::string_view, 5> kMenus{"File", "Go", "View", "Work", "Help"};

std::string signed_count(std::int64_t value) {
  const auto size = static_cast<std::uint64_t>(value < 0 ? -value : value);
  return (value < 0 ? "-" : "+") + model::format_count(size);
}

void draw_tooltip(Ui& ui, std::string_view text) {
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ui.px(460));
  draw_text(ui, text);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace

void App::build_fonts() {
  apply_style(find_palette(settings_.theme), settings_.scale);
  fonts_.build(settings_.scale);
  must_build_fonts_ = false;
  if (!fonts_.has_files() && !std::exchange(has_told_of_fonts_, true)) {
    say(Severity::kWarning,
        "the fonts of the package fonts-dejavu-core are not there: plain letters, of Latin only");
  }
  want_frames();
}

Ui App::make_ui() {
  return Ui{session_,        settings_,
            commands_,       *this,
            jobs_,           fonts_,
            probe_,          find_palette(settings_.theme),
            settings_.scale, platform_.now_us()};
}

void App::draw_menu(Ui& ui) {
  if (!ImGui::BeginMenuBar()) return;
  for (const std::string_view menu : kMenus) {
    const bool is_open = ImGui::BeginMenu(std::string(menu).c_str());
    probe_.note_item("menu." + std::string(menu), menu);
    if (!is_open) continue;
    for (const Command& command : commands_.all()) {
      if (command.menu != menu) continue;
      const bool is_checked = command.checked && command.checked();
      if (ImGui::MenuItem(command.title.c_str(), command.keys.c_str(), is_checked,
                          command.enabled())) {
        run(command.id);
      }
      probe_.note_item("menu." + command.id, command.title);
      if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
        ImGui::SetTooltip("%s", command.help.c_str());
      }
    }
    ImGui::EndMenu();
  }
  const std::string hint = "Ctrl+P  find a command, a panel, a location";
  ImGui::SameLine(ImGui::GetWindowWidth() - ImGui::CalcTextSize(hint.c_str()).x - ui.px(16));
  draw_text(ui, hint, ui.palette.faint);
  if (ImGui::IsItemClicked()) run("palette");
  ImGui::EndMenuBar();
}

void App::draw_file_state(Ui& ui) {
  const auto view = session_.view();
  if (view == nullptr) return;
  const std::string generation = model::format_count(view->info.generation.value);
  std::string text = model::format_bytes(view->info.file_bytes);
  if (view->info.generation.value != 0) text += "   generation " + generation;
  draw_text(ui, text);
  ImGui::SameLine(0, ui.px(16));
  const bool is_released = session_.file->is_released();
  if (is_released && !session_.is_following) {
    draw_text(ui, "RELEASED", ui.palette.warning);
  } else if (view->problem && view->problem->code == Errc::kLocked) {
    draw_text(ui, "LOCKED", ui.palette.bad);
  } else if (view->problem && view->problem->code == Errc::kLocked) {
    draw_text(ui, "LOCKED", ui.palette.bad);
  } else if (!view->snapshot && !is_released) {
    draw_text(ui, "DAMAGED", ui.palette.bad);
  } else if (session_.is_following) {
    draw_text(ui, "FOLLOWING", ui.palette.good);
  } else {
    draw_text(ui, "pins " + generation, ui.palette.faint);
  }
  if (key_delta_ != 0) {
    ImGui::SameLine(0, ui.px(10));
    draw_text(ui, signed_count(key_delta_) + " keys", ui.palette.good);
  }
}

void App::draw_address_bar(Ui& ui) {
  ImGui::BeginDisabled(!history_.can_go_back());
  if (draw_button(ui, "back", "<", "Back (Alt+Left)")) run("go_back");
  ImGui::EndDisabled();
  ImGui::SameLine(0, ui.px(4));
  ImGui::BeginDisabled(!history_.can_go_forward());
  if (draw_button(ui, "forward", ">", "Forward (Alt+Right)")) run("go_forward");
  ImGui::EndDisabled();
  ImGui::SameLine(0, ui.px(10));
  // Breadcrumbs: file, panel, thing.
  const float width = ImGui::GetWindowWidth();
  const Location here = location();
  if (session_.file) {
    const std::string& path = session_.file->path();
    const std::string name = path.substr(path.rfind('/') + 1);
    draw_link(ui, "crumb.file", fit_text(ui, shown_text(name), width * 0.3F), {"overview", {}});
    if (ImGui::IsItemHovered()) draw_tooltip(ui, shown_text(path));
    ImGui::SameLine(0, ui.px(6));
    draw_text(ui, "#", ui.palette.faint);
    ImGui::SameLine(0, ui.px(6));
  }
  draw_link(ui, "crumb.panel", here.panel, {here.panel, {}});
  if (const std::string thing = describe_thing(here.thing); !thing.empty()) {
    ImGui::SameLine(0, ui.px(6));
    draw_text(ui, fit_text(ui, thing, width * 0.25F));
  }
  ImGui::SameLine(0, ui.px(24));
  draw_file_state(ui);
}

void App::draw_banner(Ui& ui) {
  const auto view = session_.view();
  if (view == nullptr) return;
  std::string text;
  if (view->problem && view->is_previous) {
    text = "The newest generation is damaged; this is the one before. ";
  } else if (view->problem && view->snapshot) {
    text = "Not all of this generation can be read. ";
  } else if (view->problem) {
    text = "No generation can be opened; the bytes and the problems can be looked at. ";
  } else if (session_.file->is_released() && !session_.is_following) {
    text =
        "The pin is released, so that the writer can reuse space: what is shown is as it was. "
        "F5 opens the newest generation.";
  }
  if (text.empty()) return;
  if (view->problem) text += describe(*view->problem);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, width - ui.px(20));
  const Colour colour = view->problem ? ui.palette.bad : ui.palette.warning;
  const ImVec2 high(low.x + width, low.y + size.y + ui.px(8));
  ImGui::GetWindowDrawList()->AddRectFilled(low, high, with_alpha(colour, 48));
  ImGui::GetWindowDrawList()->AddRectFilled(low, ImVec2(low.x + ui.px(4), high.y), colour);
  ImGui::SetCursorScreenPos(ImVec2(low.x + ui.px(12), low.y + ui.px(4)));
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - ui.px(20));
  draw_text(ui, text);
  ImGui::PopTextWrapPos();
  ImGui::SetCursorScreenPos(ImVec2(low.x, high.y));
  ImGui::Dummy(ImVec2(0, ui.px(2)));
}

void App::draw_navigator_group(Ui& ui, std::string_view group) {
  draw_text(ui, group, ui.palette.faint);
  for (const PanelKind& kind : panel_kinds()) {
    if (kind.group != group) continue;
    const std::string title = "  " + std::string(kind.title);
    if (ImGui::Selectable(title.c_str(), kind.id == front_)) go({std::string(kind.id), {}});
    probe_.note_item("navigator." + std::string(kind.id), kind.title);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", std::string(kind.help).c_str());
  }
  ImGui::Dummy(ImVec2(0, ui.px(6)));
}

void App::draw_navigator(Ui& ui) {
  std::vector<std::string_view> groups;
  for (const PanelKind& kind : panel_kinds()) {
    if (std::ranges::find(groups, kind.group) == groups.end()) groups.push_back(kind.group);
  }
  for (const std::string_view group : groups) draw_navigator_group(ui, group);
  const auto view = session_.view();
  if (view == nullptr || view->drums.empty()) return;
  draw_text(ui, "DRUMs", ui.palette.faint);
  for (const DrumInfo& drum : view->drums) {
    const std::string name = shown_text(drum.name);
    const std::string count = model::format_count(drum.key_count);
    draw_text(ui, "  ");
    ImGui::SameLine(0, 0);
    const float room = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x -
                       ImGui::CalcTextSize(count.c_str()).x;
    draw_link(ui, "drum." + name, fit_text(ui, name, room), {"buckets", BucketThing{drum.name, 0}});
    ImGui::SameLine();
    draw_text(ui, count, ui.palette.faint);
  }
}

void App::draw_tabs(Ui& ui) {
  if (!ImGui::BeginTabBar("panels",
                          ImGuiTabBarFlags_Reorderable | ImGuiTabBarFlags_FittingPolicyScroll)) {
    return;
  }
  std::string closed;
  std::string chosen;
  for (const OpenPanel& open : panels_) {
    const std::string id(open.kind->id);
    bool is_open = true;
    const bool is_wanted = must_select_tab_ && id == front_;
    const std::string title = std::string(open.kind->title) + "###tab_" + id;
    if (ImGui::BeginTabItem(title.c_str(), panels_.size() > 1 ? &is_open : nullptr,
                            is_wanted ? ImGuiTabItemFlags_SetSelected : 0)) {
      if (!must_select_tab_ && id != front_) chosen = id;
      ImGui::EndTabItem();
    }
    probe_.note_item("tab." + id, open.kind->title);
    if (!is_open) closed = id;
  }
  ImGui::EndTabBar();
  if (must_select_tab_) want_frames();
  must_select_tab_ = false;
  if (!chosen.empty()) go({chosen, {}});
  if (!closed.empty()) close_panel(closed);
  ImGui::BeginChild("panel", ImVec2(0, 0), false, kPane | ImGuiWindowFlags_NoNavInputs);
  ImGui::PushID(front_.c_str());
  current_panel().draw(ui);
  ImGui::PopID();
  ImGui::EndChild();
}

void App::draw_details(Ui& ui) {
  if (details_.lines.empty() && details_.title.empty()) {
    draw_text(ui, "Details", ui.palette.faint);
    draw_paragraph(ui, "What is selected is told here.", ui.palette.faint);
    return;
  }
  // All of a URL of 64 KiB would hide what else there is to know; copies have all of it.
  constexpr float kTitleLines = 3;
  constexpr float kTextLines = 24;
  const float room = kTitleLines * ImGui::GetContentRegionAvail().x;
  draw_paragraph(ui, fit_text(ui, shown_text(details_.title), room), ui.palette.accent);
  ImGui::Separator();
  float name_width = ui.px(40);
  for (const DetailLine& line : details_.lines) {
    name_width = std::max(name_width, ImGui::CalcTextSize(line.name.c_str()).x);
  }
  name_width = std::min(name_width, ui.px(150)) + ui.px(16);
  for (const DetailLine& line : details_.lines) {
    ImGui::PushTextWrapPos(0);
    const float text_room = kTextLines * (ImGui::GetContentRegionAvail().x - name_width);
    draw_field(ui, line.name, fit_text(ui, line.text, text_room), line.thing, name_width);
    ImGui::PopTextWrapPos();
  }
  ImGui::Dummy(ImVec2(0, ui.px(6)));
  if (draw_button(ui, "details.copy", "Copy", "name and value a line (Ctrl+Shift+C)")) {
    run("copy_row");
  }
}

void App::draw_details_pane(Ui& ui, ImVec2 at, ImVec2 size) {
  const float bar = ui.px(kSplitter);
  draw_splitter("right", at, ImVec2(at.x + bar, at.y + size.y), settings_.details_width, -1);
  ImGui::SetCursorScreenPos(ImVec2(at.x + bar, at.y));
  ImGui::BeginChild("details", ImVec2(size.x - bar, size.y), false, kPane);
  draw_details(ui);
  ImGui::EndChild();
}

void App::draw_status_bar(Ui& ui) {
  const std::size_t problems = session_.checked ? session_.checked->report.findings.size() : 0;
  std::string text = "not checked";
  if (session_.checked) {
    text = problems == 0 ? "no problems" : model::format_counted(problems, "problem");
  }
  if (session_.file) {
    draw_link(ui, "status.problems", text, {"problems", {}});
    ImGui::SameLine(0, ui.px(20));
  }
  const auto list = jobs_.list();
  const auto running = std::ranges::find_if(
      list, [](const JobInfo& job) { return job.state == JobState::kRunning; });
  if (running != list.end()) {
    std::string progress = running->title;
    if (running->total > 0) {
      progress += "  " + model::format_count(100 * running->done / running->total) + " %";
    }
    draw_link(ui, "status.job", fit_text(ui, shown_text(progress), ImGui::GetWindowWidth() * 0.35F),
              {"jobs", {}});
    ImGui::SameLine(0, ui.px(8));
    if (draw_button(ui, "status.cancel", "cancel", "Escape")) run("cancel");
    ImGui::SameLine(0, ui.px(20));
  }
  if (session_.log.empty()) return;
  const LogEntry& last = session_.log.back();
  draw_text(ui, fit_text(ui, shown_text(last.text), ImGui::GetContentRegionAvail().x),
            last.severity == Severity::kNote ? ui.palette.faint : colour_of(ui, last.severity));
  if (ImGui::IsItemClicked()) go({"log", {}});
}

void App::draw_modals(Ui& ui) {
  modals_->palette.draw(ui);
  modals_->question.draw(ui);
}

void App::draw() {
  if (frames_wanted_ > 0) --frames_wanted_;
  probe_.begin_frame();
  Ui ui = make_ui();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(screen);
  ImGui::Begin("inspector", nullptr, kPlainWindow | ImGuiWindowFlags_MenuBar);
  draw_menu(ui);
  draw_address_bar(ui);
  draw_banner(ui);

  const float bar = ui.px(kSplitter);
  const float status = ImGui::GetFrameHeight() + ui.px(4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = room.y - status;
  const float left = std::min(ui.px(settings_.navigator_width), room.x * 0.3F);
  const bool has_details = current_panel().has_details();
  const float right =
      has_details ? std::min(ui.px(settings_.details_width), room.x * 0.35F) + bar : 0;
  ImGui::BeginChild("navigator", ImVec2(left, height), false, kPane);
  draw_navigator(ui);
  ImGui::EndChild();
  draw_splitter("left", ImVec2(at.x + left, at.y), ImVec2(at.x + left + bar, at.y + height),
                settings_.navigator_width, 1);
  ImGui::SetCursorScreenPos(ImVec2(at.x + left + bar, at.y));
  ImGui::BeginChild("centre", ImVec2(room.x - left - right - bar, height));
  draw_tabs(ui);
  ImGui::EndChild();
  details_ = std::move(ui.details);
  if (has_details)
    draw_details_pane(ui, ImVec2(at.x + room.x - right, at.y), ImVec2(right, height));
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + height + ui.px(4)));
  ImGui::Separator();
  draw_status_bar(ui);
  draw_modals(ui);
  ImGui::End();

  if (fonts_.is_stale()) want_frames();
  if (wanted_) {
    const Location to = *std::exchange(wanted_, std::nullopt);
    history_.go(to, current_panel().view_state());
    arrive(history_.current());
  }
  if (to_open_) (void)open_at({*std::exchange(to_open_, std::nullopt), {}});  // it is said
}

}  // namespace crawlstore::inspector
