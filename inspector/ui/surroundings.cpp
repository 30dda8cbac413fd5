// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/surroundings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panel.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

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

void draw_menu_item(Ui& ui, const Command& command) {
  const bool is_checked = command.checked && command.checked();
  if (ImGui::MenuItem(command.title.c_str(), command.keys.c_str(), is_checked, command.enabled())) {
    ui.actions.run(command.id);
  }
  ui.probe.note_item("menu." + command.id, command.title);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
    ImGui::SetTooltip("%s", command.help.c_str());
  }
}

/// "View/Layout" is the menu "Layout" in the menu "View", where its first command stands.
void draw_menu_items(Ui& ui, std::string_view menu) {
  std::string_view drawn;
  for (const Command& command : ui.commands.all()) {
    const std::string_view place = command.menu;
    if (place == menu) draw_menu_item(ui, command);
    const bool is_within =
        place.size() > menu.size() && place.starts_with(menu) && place[menu.size()] == '/';
    if (!is_within || place == std::exchange(drawn, place)) continue;
    const std::string title(place.substr(menu.size() + 1));
    const bool is_open = ImGui::BeginMenu(title.c_str());
    ui.probe.note_item("menu." + title, title);
    if (!is_open) continue;
    for (const Command& inner : ui.commands.all()) {
      if (inner.menu == place) draw_menu_item(ui, inner);
    }
    ImGui::EndMenu();
  }
}

void draw_file_state(Ui& ui) {
  const auto view = ui.session.view();
  if (view == nullptr) return;
  const std::string generation = model::format_count(view->info.generation.value);
  std::string text = model::format_bytes(view->info.file_bytes);
  if (view->info.generation.value != 0) text += "   generation " + generation;
  std::string state = "pins " + generation;
  Colour colour = ui.palette.faint;
  if (ui.session.is_leaving) {
    state = "RELEASED";
    colour = ui.palette.warning;
  } else if (view->problem && view->problem->code == Errc::kLocked) {
    state = "LOCKED";
    colour = ui.palette.bad;
  } else if (!view->snapshot) {
    state = ui.session.health.is_lost() ? "LOST" : "DAMAGED";
    colour = ui.palette.bad;
  } else if (ui.session.is_following) {
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
  if (!ui.session.news.empty()) {
    place_beside(text_width(ui.session.news), ui.px(10));
    draw_text(ui, ui.session.news, ui.palette.warning);
    if (ImGui::IsItemClicked()) ui.actions.run("refresh");
  }
  if (ui.session.page_delta == 0 && ui.session.key_delta == 0) return;
  const std::string delta = ui.session.page_delta != 0
                                ? signed_count(ui.session.page_delta) + " pages"
                                : signed_count(ui.session.key_delta) + " keys";
  place_beside(text_width(delta), ui.px(10));
  draw_text(ui, delta, ui.palette.good);
}

void draw_navigator_group(Ui& ui, std::string_view group, std::string_view front) {
  draw_text(ui, group, ui.palette.faint);
  for (const PanelKind& kind : panel_kinds()) {
    if (kind.group != group) continue;
    const std::string title = "  " + std::string(kind.title);
    const std::string label = "navigator." + std::string(kind.id);
    const bool is_clicked = ImGui::Selectable(title.c_str(), kind.id == front);
    ui.probe.note_item(label, kind.title);
    if (take_stop(ui, label) || is_clicked) ui.actions.go({std::string(kind.id), {}});
    if (kind.id == front) ui.focus.prefer();
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", std::string(kind.first_sentence()).c_str());
  }
  ImGui::Dummy(ImVec2(0, ui.px(6)));
}

/// The things of the file that have names. Of several page databases, each has its score arrays.
void draw_named_things(Ui& ui, const model::FileView& view) {
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

/// All that is known to be wrong, in the colour and with the sign of the worst of it.
void draw_health(Ui& ui) {
  const Health& health = ui.session.health;
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

void draw_job_state(Ui& ui) {
  const auto list = ui.jobs.list();
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
  if (draw_button(ui, "status.cancel", "cancel", "Escape")) ui.actions.run("cancel");
  ImGui::SameLine(0, ui.px(20));
}

}  // namespace

void draw_menu(Ui& ui) {
  if (!ImGui::BeginMenuBar()) return;
  for (const std::string_view menu : kMenus) {
    const bool is_open = ImGui::BeginMenu(std::string(menu).c_str());
    ui.probe.note_item("menu." + std::string(menu), menu);
    if (!is_open) continue;
    draw_menu_items(ui, menu);
    ImGui::EndMenu();
  }
  const std::string hint = "Ctrl+P  find a command, a panel, a location";
  const float left = ImGui::GetWindowWidth() - text_width(hint) - ui.px(16);
  if (left > ImGui::GetCursorPosX() + ui.px(8)) {
    ImGui::SameLine(left);
    draw_text(ui, hint, ui.palette.faint);
    if (ImGui::IsItemClicked()) ui.actions.run("palette");
  }
  ImGui::EndMenuBar();
}

void draw_address_bar(Ui& ui, const History& history) {
  ImGui::BeginDisabled(!history.can_go_back());
  if (draw_button(ui, "back", "<", "Back (Alt+Left)")) ui.actions.run("go_back");
  ImGui::EndDisabled();
  ImGui::SameLine(0, ui.px(4));
  ImGui::BeginDisabled(!history.can_go_forward());
  if (draw_button(ui, "forward", ">", "Forward (Alt+Right)")) ui.actions.run("go_forward");
  ImGui::EndDisabled();
  ImGui::SameLine(0, ui.px(10));
  // Breadcrumbs: file, panel, thing.
  const Location& here = history.current().location;
  // "page", not "page_detail", which has the longer id so that locations are told apart.
  const std::string panel = here.panel.substr(0, here.panel.find('_'));
  if (ui.session.file) {
    const std::string& path = ui.session.file->path();
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

void draw_banner(Ui& ui) {
  const auto view = ui.session.view();
  if (view == nullptr) return;
  std::string text;
  if (view->problem && view->is_previous) {
    text = "The newest generation is damaged; this is the one before. ";
  } else if (view->problem && view->snapshot) {
    text = "Not all of this generation can be read. ";
  } else if (ui.session.health.is_lost()) {
    text = "The file was removed, emptied or replaced by something else. ";
  } else if (view->problem) {
    text = "No generation can be opened; the bytes and the problems can be looked at. ";
  } else if (ui.session.is_leaving) {
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

void draw_navigator(Ui& ui, std::string_view front) {
  const auto view = ui.session.view();
  for (const std::string_view group : kGroups) {
    const auto panel = std::ranges::find(panel_kinds(), group, &PanelKind::group);
    if (has_things(ui.session, *panel)) draw_navigator_group(ui, group, front);
  }
  if (view != nullptr) draw_named_things(ui, *view);
}

void draw_status_line(Ui& ui) {
  if (ui.session.file) {
    draw_health(ui);
    ImGui::SameLine(0, ui.px(20));
  }
  draw_job_state(ui);
  if (ui.session.log.empty()) return;
  const LogEntry& last = ui.session.log.back();
  const Colour colour =
      last.severity == Severity::kNote ? ui.palette.faint : colour_of(ui, last.severity);
  const std::string text = shown_text(last.text);
  const float room = ImGui::GetContentRegionAvail().x;
  if (room < text_width("...")) return;
  draw_link(ui, "status.log", fit_text(ui, text, room), {"log", {}}, colour);
  if (ImGui::IsItemHovered()) draw_tooltip(ui, text);
}

}  // namespace crawlstore::inspector
