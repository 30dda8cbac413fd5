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
#include "model/label.h"

namespace crawlstore::inspector {
namespace {

constexpr ImGuiWindowFlags kPlainWindow =
    ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollbar |
    ImGuiWindowFlags_NoScrollWithMouse;
constexpr float kSplitter = 6;
constexpr float kShortWindow = 400;
constexpr std::array<std::string_view, 6> kGroups{"File",      "DRUM",    kPagesGroup,
                                                  kCrawlGroup, kSetGroup, "Inspector"};
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

std::uint64_t count_of(const DrumInfo& drum) {
  return drum.key_count;
}
std::uint64_t count_of(const FrontierInfo& info) {
  return info.waiting_count;
}
template <class Info>
std::uint64_t count_of(const Info& info) {
  return info.page_count;
}

/// A heading, and below it a link for each thing, with how much there is of it.
///   label        of a link: the name follows
///   location_of  where a link leads
template <class Info, class LocationOf>
void draw_things(Ui& ui, const char* title, const std::string& label,
                 const std::vector<Info>& infos, const LocationOf& location_of) {
  if (infos.empty()) return;
  draw_text(ui, title, ui.palette.faint);
  for (const Info& info : infos) {
    const std::string name = shown_text(info.name);
    const std::string count = model::format_count(count_of(info));
    draw_text(ui, "  ");
    ImGui::SameLine(0, 0);
    const float room =
        ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x - text_width(count);
    draw_link(ui, label + name, fit_text(ui, name, room), location_of(info));
    ImGui::SameLine();
    draw_text(ui, count, ui.palette.faint);
  }
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
  return Ui{session_,
            settings_,
            commands_,
            *this,
            jobs_,
            fonts_,
            focus_,
            probe_,
            find_palette(settings_.theme),
            settings_.scale,
            platform_.now_us()};
}

void App::draw_menu_item(const Command& command) {
  const bool is_checked = command.checked && command.checked();
  if (ImGui::MenuItem(command.title.c_str(), command.keys.c_str(), is_checked, command.enabled())) {
    run(command.id);
  }
  probe_.note_item("menu." + command.id, command.title);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
    ImGui::SetTooltip("%s", command.help.c_str());
  }
}

/// "View/Layout" is the menu "Layout" in the menu "View", where its first command stands.
void App::draw_menu_items(std::string_view menu) {
  std::string_view drawn;
  for (const Command& command : commands_.all()) {
    const std::string_view place = command.menu;
    if (place == menu) draw_menu_item(command);
    const bool is_within =
        place.size() > menu.size() && place.starts_with(menu) && place[menu.size()] == '/';
    if (!is_within || place == std::exchange(drawn, place)) continue;
    const std::string title(place.substr(menu.size() + 1));
    const bool is_open = ImGui::BeginMenu(title.c_str());
    probe_.note_item("menu." + title, title);
    if (!is_open) continue;
    for (const Command& inner : commands_.all()) {
      if (inner.menu == place) draw_menu_item(inner);
    }
    ImGui::EndMenu();
  }
}

void App::draw_menu(Ui& ui) {
  if (!ImGui::BeginMenuBar()) return;
  for (const std::string_view menu : kMenus) {
    const bool is_open = ImGui::BeginMenu(std::string(menu).c_str());
    probe_.note_item("menu." + std::string(menu), menu);
    if (!is_open) continue;
    draw_menu_items(menu);
    ImGui::EndMenu();
  }
  const std::string hint = "Ctrl+P  find a command, a panel, a location";
  const float left = ImGui::GetWindowWidth() - text_width(hint) - ui.px(16);
  if (left > ImGui::GetCursorPosX() + ui.px(8)) {
    ImGui::SameLine(left);
    draw_text(ui, hint, ui.palette.faint);
    if (ImGui::IsItemClicked()) run("palette");
  }
  ImGui::EndMenuBar();
}

void App::draw_file_state(Ui& ui) {
  const auto view = session_.view();
  if (view == nullptr) return;
  const std::string generation = model::format_count(view->info.generation.value);
  std::string text = model::format_bytes(view->info.file_bytes);
  if (view->info.generation.value != 0) text += "   generation " + generation;
  std::string state = "pins " + generation;
  Colour colour = ui.palette.faint;
  if (session_.is_leaving) {
    state = "RELEASED";
    colour = ui.palette.warning;
  } else if (view->problem && view->problem->code == Errc::kLocked) {
    state = "LOCKED";
    colour = ui.palette.bad;
  } else if (!view->snapshot) {
    state = session_.health.is_lost() ? "LOST" : "DAMAGED";
    colour = ui.palette.bad;
  } else if (session_.is_following) {
    state = "FOLLOWING";
    colour = ui.palette.good;
  }
  // A second line would cost the table of a short window a row.
  ImGui::SameLine(0, ui.px(24));
  const float needed = text_width(text) + ui.px(16) + text_width(state);
  const bool is_short = ImGui::GetIO().DisplaySize.y < ui.px(kShortWindow);
  if (!is_short || ImGui::GetContentRegionAvail().x >= needed) {
    place_beside(text_width(text), ui.px(24));
    draw_text(ui, text);
  }
  place_beside(text_width(state), ui.px(16));
  draw_text(ui, state, colour);
  if (ImGui::IsItemHovered()) draw_tooltip(ui, text);
  if (!session_.news.empty()) {
    place_beside(text_width(session_.news), ui.px(10));
    draw_text(ui, session_.news, ui.palette.warning);
    if (ImGui::IsItemClicked()) run("refresh");
  }
  if (page_delta_ == 0 && key_delta_ == 0) return;
  const std::string delta =
      page_delta_ != 0 ? signed_count(page_delta_) + " pages" : signed_count(key_delta_) + " keys";
  place_beside(text_width(delta), ui.px(10));
  draw_text(ui, delta, ui.palette.good);
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
  const Location here = location();
  // "page", not "page_detail", which has the longer id so that locations are told apart.
  const std::string panel = here.panel.substr(0, here.panel.find('_'));
  if (session_.file) {
    const std::string& path = session_.file->path();
    const std::string name = path.substr(path.rfind('/') + 1);
    const float room = ImGui::GetContentRegionAvail().x * 0.6F;
    draw_link(ui, "crumb.file", fit_text(ui, shown_text(name), room), {"overview", {}});
    if (ImGui::IsItemHovered()) draw_tooltip(ui, shown_text(path));
    place_beside(text_width("# " + panel), ui.px(6));
    draw_text(ui, "#", ui.palette.faint);
    ImGui::SameLine(0, ui.px(6));
  }
  draw_link(ui, "crumb.panel", panel, {here.panel, {}});
  std::string thing = describe_thing(here.thing);
  if (thing.starts_with(panel + " ")) thing.erase(0, panel.size() + 1);
  if (!thing.empty()) {
    place_beside(text_width(thing), ui.px(6));
    draw_text(ui, fit_text(ui, thing, ImGui::GetContentRegionAvail().x));
  }
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
  } else if (session_.health.is_lost()) {
    text = "The file was removed, emptied or replaced by something else. ";
  } else if (view->problem) {
    text = "No generation can be opened; the bytes and the problems can be looked at. ";
  } else if (session_.is_leaving) {
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
    const std::string label = "navigator." + std::string(kind.id);
    const bool is_clicked = ImGui::Selectable(title.c_str(), kind.id == front_);
    probe_.note_item(label, kind.title);
    if (take_stop(ui, label) || is_clicked) go({std::string(kind.id), {}});
    if (kind.id == front_) focus_.prefer();
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", std::string(kind.first_sentence()).c_str());
  }
  ImGui::Dummy(ImVec2(0, ui.px(6)));
}

/// The things of the file that have names. Each of several page databases has its score arrays.
void App::draw_named_things(Ui& ui, const model::FileView& view) {
  const auto leave_gap_after = [&ui](const auto& infos) {
    if (!infos.empty()) ImGui::Dummy(ImVec2(0, ui.px(6)));
  };
  draw_things(ui, "Page databases", "pages.", view.pages, [](const PagesInfo& pages) {
    return Location{"pages", PageThing{pages.name, 0}};
  });
  leave_gap_after(view.pages);
  draw_things(ui, "Queues", "queue_of.", view.queues, [](const QueueInfo& queue) {
    return Location{"queue", QueueThing{queue.name}};
  });
  leave_gap_after(view.queues);
  if (!view.frontiers_problem) {
    draw_things(ui, "Frontiers", "frontier_of.", view.frontiers, [](const FrontierInfo& frontier) {
      return Location{"frontier", FrontierThing{frontier.name}};
    });
    leave_gap_after(view.frontiers);
  }
  for (std::size_t i = 0; i < view.scores.size(); ++i) {
    const bool is_only = view.pages.size() == 1;
    const std::string pages = is_only ? "" : view.pages[i].name;
    const std::string title = is_only ? "Scores" : "Scores of " + shown_text(pages);
    draw_things(ui, title.c_str(), "scores_of." + pages + (is_only ? "" : "."), view.scores[i],
                [&pages](const ScoresInfo& array) {
                  return Location{"scores", ScoresThing{pages, array.name}};
                });
    leave_gap_after(view.scores[i]);
  }
  draw_things(ui, "DRUMs", "drum.", view.drums, [](const DrumInfo& drum) {
    return Location{"buckets", BucketThing{drum.name, 0}};
  });
}

void App::draw_navigator(Ui& ui) {
  const auto view = session_.view();
  for (const std::string_view group : kGroups) {
    const auto panel = std::ranges::find(panel_kinds(), group, &PanelKind::group);
    if (has_things(session_, *panel)) draw_navigator_group(ui, group);
  }
  if (view != nullptr) draw_named_things(ui, *view);
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
    name_width = std::max(name_width, text_width(model::label_of(line.name)));
  }
  name_width = std::min(name_width, ui.px(150)) + ui.px(16);
  for (const DetailLine& line : details_.lines) {
    // Beside the name, or below it, where draw_field() finds too little room.
    const float room_beside = ImGui::GetContentRegionAvail().x - name_width;
    const float text_room = kTextLines * std::max(room_beside, ui.px(60));
    draw_field(ui, line.name, fit_text(ui, line.text, text_room), line.thing, name_width);
  }
  ImGui::Dummy(ImVec2(0, ui.px(6)));
  if (draw_button(ui, "details.copy", "Copy", "name and value a line (Ctrl+Shift+C)")) {
    run("copy_row");
  }
}

/// Details come with the first selection and stay while that panel is in front: what is clicked
/// must not move at each click, nor between those of a double click. Another panel begins without
/// them, unless something is selected.
void App::settle_details() {
  const bool is_new = std::exchange(details_of_, front_) != front_;
  const bool has_any = !details_.lines.empty() || !details_.title.empty();
  const ImGuiIO& io = ImGui::GetIO();
  const bool may_click_again = ImGui::GetTime() - io.MouseClickedTime[0] < io.MouseDoubleClickTime;
  if (has_any && !are_details_open_ && may_click_again) return want_frames();
  const bool was_open = std::exchange(are_details_open_, has_any || (are_details_open_ && !is_new));
  if (was_open != are_details_open_) want_frames();
}

void App::draw_details_pane(Ui& ui, ImVec2 at, ImVec2 size) {
  const float bar = ui.px(kSplitter);
  float width = (size.x - bar) / ui.scale;
  if (draw_splitter("right", at, ImVec2(at.x + bar, at.y + size.y), width, -1 / ui.scale)) {
    settings_.layout.details_width = width;
  }
  probe_.note_item("splitter.right", "");
  ImGui::SetCursorScreenPos(ImVec2(at.x + bar, at.y));
  ImGui::BeginChild("details", ImVec2(size.x - bar, size.y), false, kPane);
  focus_.begin_pane(Pane::kDetails);
  draw_details(ui);
  focus_.end_pane(ui.palette.accent);
  ImGui::EndChild();
}

/// All that is known to be wrong, in the colour and with the sign of the worst of it.
void App::draw_health(Ui& ui) {
  const Health& health = session_.health;
  const std::string text = health.short_verdict();
  if (health.problems().empty()) {
    draw_link(ui, "status.problems", text, {"problems", {}});
  } else {
    const Severity severity = health.is_damaged() ? Severity::kBad : Severity::kWarning;
    draw_sign(ui, severity);
    draw_link(ui, "status.problems", text, {"problems", {}}, colour_of(ui, severity));
  }
  if (ImGui::IsItemHovered()) draw_tooltip(ui, health.share_text());
}

void App::draw_job_state(Ui& ui) {
  const auto list = jobs_.list();
  const auto running = std::ranges::find_if(
      list, [](const JobInfo& job) { return job.state == JobState::kRunning; });
  if (running == list.end()) return;
  std::string progress = running->title;
  if (running->total > 0) {
    progress += "  " + model::format_count(100 * running->done / running->total) + " %";
  }
  const float room = ImGui::GetContentRegionAvail().x - button_width("cancel") - ui.px(8);
  draw_link(ui, "status.job", fit_text(ui, shown_text(progress), room), {"jobs", {}});
  ImGui::SameLine(0, ui.px(8));
  if (draw_button(ui, "status.cancel", "cancel", "Escape")) run("cancel");
  ImGui::SameLine(0, ui.px(20));
}

void App::draw_status_line(Ui& ui) {
  if (session_.file) {
    draw_health(ui);
    ImGui::SameLine(0, ui.px(20));
  }
  draw_job_state(ui);
  if (session_.log.empty()) return;
  const LogEntry& last = session_.log.back();
  const Colour colour =
      last.severity == Severity::kNote ? ui.palette.faint : colour_of(ui, last.severity);
  const std::string text = shown_text(last.text);
  const float room = ImGui::GetContentRegionAvail().x;
  if (room < text_width("...")) return;
  draw_link(ui, "status.log", fit_text(ui, text, room), {"log", {}}, colour);
  if (ImGui::IsItemHovered()) draw_tooltip(ui, text);
}

void App::draw_status_bar(Ui& ui) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0);
  ImGui::BeginChild("status", ImVec2(0, 0), false, ImGuiWindowFlags_NoScrollbar);
  focus_.begin_pane(Pane::kStatus);
  draw_status_line(ui);
  focus_.end_pane(ui.palette.accent);
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

void App::draw_modals(Ui& ui) {
  modals_->palette.draw(ui);
  modals_->question.draw(ui);
  modals_->help.draw(ui);
}

void App::draw() {
  if (session_.file && session_.file->is_released()) look_again();
  if (frames_wanted_ > 0) --frames_wanted_;
  if (std::exchange(must_close_popups_, false)) close_popups();
  probe_.begin_frame();
  focus_.begin_frame();
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
  const float left = std::min(ui.px(settings_.layout.navigator_width), room.x * 0.3F);
  const bool has_details = shows_details();
  const float right =
      has_details ? std::min(ui.px(settings_.layout.details_width), room.x * 0.35F) + bar : 0;
  ImGui::BeginChild("navigator", ImVec2(left, height), false, kPane);
  focus_.begin_pane(Pane::kNavigator);
  draw_navigator(ui);
  focus_.end_pane(ui.palette.accent);
  ImGui::EndChild();
  float width = left / ui.scale;
  if (draw_splitter("left", ImVec2(at.x + left, at.y), ImVec2(at.x + left + bar, at.y + height),
                    width, 1 / ui.scale)) {
    settings_.layout.navigator_width = width;
  }
  probe_.note_item("splitter.left", "");
  ImGui::SetCursorScreenPos(ImVec2(at.x + left + bar, at.y));
  ImGui::BeginChild("centre", ImVec2(room.x - left - right - bar, height));
  draw_tabs(ui);
  ImGui::EndChild();
  details_ = std::move(ui.details);
  settle_details();
  if (has_details)
    draw_details_pane(ui, ImVec2(at.x + room.x - right, at.y), ImVec2(right, height));
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + height + ui.px(4)));
  ImGui::Separator();
  draw_status_bar(ui);
  draw_modals(ui);
  ImGui::End();

  if (focus_.take_miss()) say(Severity::kNote, "this panel has no table");
  if (fonts_.is_stale()) want_frames();
  if (wanted_) {
    const Location to = *std::exchange(wanted_, std::nullopt);
    history_.go(to, current_panel().view_state());
    arrive(history_.current());
  }
  if (wanted_layout_) take_layout(*std::exchange(wanted_layout_, std::nullopt));
  if (to_open_) (void)open_at(*std::exchange(to_open_, std::nullopt));  // it is said
  if (session_.is_leaving && !wants_frame() && jobs_.idle()) release();
}

}  // namespace crawlstore::inspector
