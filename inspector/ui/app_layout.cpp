// SPDX-License-Identifier: Apache-2.0
// Which panels are open, and in which order. The tab bar of ImGui has an order of its own, which
// dragging changes: panels_ takes it after each frame, and gives it only when another layout comes.
#include <algorithm>
#include <array>
#include <utility>

#include "inspector/core/require.h"
#include "inspector/ui/app.h"
#include "inspector/ui/internal.h"

namespace crawlstore::inspector {
namespace {

constexpr std::string_view kStart = "start";

const PanelKind* find_kind(std::string_view id) {
  const auto kind = std::ranges::find(panel_kinds(), id, &PanelKind::id);
  return kind == panel_kinds().end() ? nullptr : &*kind;
}

/// Everything before ### is what is shown; the rest is what the tab is.
std::string tab_name(const PanelKind& kind) {
  return std::string(kind.title) + "###tab_" + std::string(kind.id);
}

}  // namespace

App::OpenPanel& App::open_panel(std::string_view id) {
  const auto found =
      std::ranges::find_if(panels_, [&](const OpenPanel& open) { return open.kind->id == id; });
  if (found != panels_.end()) return *found;
  const PanelKind* kind = find_kind(id);
  require(kind != nullptr, "a panel that does not exist was opened");
  const auto view = session_.view();
  return panels_.emplace_back(OpenPanel{kind, kind->make(), view == nullptr ? 0 : view->number});
}

std::string App::state_of(std::string_view id) const {
  const auto found =
      std::ranges::find_if(panels_, [&](const OpenPanel& open) { return open.kind->id == id; });
  return found == panels_.end() ? "" : found->panel->view_state();
}

void App::close_panel(std::string_view id) {
  const bool is_front = front_ == id;
  const std::string state = is_front ? current_panel().view_state() : "";
  std::erase_if(panels_, [&](const OpenPanel& open) { return open.kind->id == id; });
  if (!is_front) return;
  history_.go({std::string(panels_.empty() ? "start" : panels_.back().kind->id), {}}, state);
  arrive(history_.current());
}

/// Panels of pages and of frontiers are left out where a file has none, but stay in the layout.
/// Tabs that the layout names and that are open already stay as they are, with their scroll and
/// filters.
void App::open_tabs() {
  std::vector<OpenPanel> before = std::exchange(panels_, {});
  const std::string& front = settings_.layout.front;
  // Nobody who opens one file is told first that there is no set.
  const auto is_shown = [&](const PanelKind& kind) {
    return has_things(session_, kind) || (kind.id == front && kind.group != kSetGroup);
  };
  hidden_tabs_.clear();
  for (const std::string& id : settings_.layout.tabs) {
    const PanelKind* kind = find_kind(id);
    if (kind == nullptr) continue;  // of another version
    if (!is_shown(*kind)) {
      hidden_tabs_.emplace_back(panels_.size() + hidden_tabs_.size(), id);
      continue;
    }
    const auto found =
        std::ranges::find_if(before, [&](const OpenPanel& open) { return open.kind->id == id; });
    if (found != before.end() && found->panel != nullptr) {
      panels_.push_back(std::move(*found));
    } else {
      open_panel(id);
    }
  }
  if (panels_.empty()) open_panel("overview");
  const PanelKind* front_kind = find_kind(front);
  details_of_.clear();
  front_ = front_kind != nullptr && is_shown(*front_kind) ? front
                                                          : std::string(panels_.front().kind->id);
  open_panel(front_);
  must_order_tabs_ = true;
  must_select_tab_ = true;
}

/// Without a file only the start panel stands there, which is no layout; and with one it is only
/// there to open another, which shall not come up behind it.
void App::note_layout() {
  if (!session_.file) return;
  std::vector<std::string> tabs;
  for (const OpenPanel& open : panels_) {
    if (open.kind->id != kStart) tabs.emplace_back(open.kind->id);
  }
  if (tabs.empty()) return;
  for (const auto& [place, id] : hidden_tabs_) {
    if (std::ranges::find(tabs, id) != tabs.end()) continue;
    tabs.insert(tabs.begin() + static_cast<std::ptrdiff_t>(std::min(place, tabs.size())), id);
  }
  PaneLayout& layout = settings_.layout;
  layout.tabs = std::move(tabs);
  if (front_ != kStart) layout.front = front_;
  const bool is_there = std::ranges::find(layout.tabs, layout.front) != layout.tabs.end();
  if (!is_there) layout.front = layout.tabs.front();
}

void App::take_layout(const PaneLayout& layout) {
  const std::string state = current_panel().view_state();
  settings_.layout = layout;
  open_tabs();
  history_.go({front_, {}}, state);
  arrive(history_.current());
  save();
}

void App::add_layout_commands() {
  const auto has_file = [this] { return session_.file.has_value(); };
  for (const NamedLayout& named : named_layouts()) {
    const std::string name = named.layout.name;
    commands_.add({"layout." + name, "Layout: " + std::string(named.title), "View/Layout", "",
                   std::string(named.help),
                   [this, name](std::string_view) {
                     wanted_layout_ = *settings_.find_layout(name);
                     want_frames();
                   },
                   has_file, [this, name] { return settings_.layout.name == name; }});
  }
  commands_.add({"layout.save", "Layout: save as it is", "View/Layout", "",
                 "keeps tabs and widths under the name of the present layout",
                 [this](std::string_view) {
                   note_layout();
                   settings_.save_layout();
                   save();
                   say(Severity::kNote, "layout " + settings_.layout.name + " saved");
                 },
                 has_file});
  commands_.add({"layout.reset", "Layout: reset", "View/Layout", "",
                 "brings the present layout back to what it is at first",
                 [this](std::string_view) {
                   settings_.forget_layout();
                   wanted_layout_ = *settings_.find_layout(settings_.layout.name);
                   say(Severity::kNote, "layout " + settings_.layout.name + " reset");
                 },
                 has_file});
}

void App::add_pane_commands() {
  struct Target {
    const char* id;
    const char* title;
    const char* keys;
    Pane pane;
  };
  constexpr std::array kTargets{
      Target{"pane_navigator", "Pane: navigator", "Alt+1", Pane::kNavigator},
      Target{"pane_panel", "Pane: panel in front", "Alt+2", Pane::kPanel},
      Target{"pane_details", "Pane: details", "Alt+3", Pane::kDetails},
      Target{"pane_status", "Pane: status bar", "Alt+4", Pane::kStatus},
  };
  for (const Target& target : kTargets) {
    commands_.add(
        {target.id, target.title, "View/Pane", target.keys,
         "the keys go there: Tab and arrows to walk, Enter to choose, Escape to leave",
         [this, pane = target.pane](std::string_view) {
           focus_.enter(pane);
           want_frames();
         },
         [this, pane = target.pane] { return pane != Pane::kDetails || shows_details(); }});
  }
}

/// Between BeginTabBar() and EndTabBar(). Returns the tab that was closed; empty = none.
std::string App::draw_tab_items() {
  std::string closed;
  for (const OpenPanel& open : panels_) {
    const std::string id(open.kind->id);
    bool is_open = true;
    const bool is_wanted = must_select_tab_ && id == front_;
    if (ImGui::BeginTabItem(tab_name(*open.kind).c_str(), panels_.size() > 1 ? &is_open : nullptr,
                            is_wanted ? ImGuiTabItemFlags_SetSelected : 0)) {
      if (!must_select_tab_ && id != front_) go({id, {}});
      ImGui::EndTabItem();
    }
    probe_.note_item("tab." + id, open.kind->title);
    if (!is_open) closed = id;
  }
  return closed;
}

/// After the last tab, before EndTabBar(): only now ImGui knows those that are new.
void App::settle_tab_order() {
  const auto tab_of = [](const OpenPanel& open) {
    return ImGui::GetID(tab_name(*open.kind).c_str());
  };
  if (std::exchange(must_order_tabs_, false)) {
    std::vector<ImGuiID> order;
    for (const OpenPanel& open : panels_) order.push_back(tab_of(open));
    set_tab_order(order);
    want_frames();
  } else {
    std::ranges::stable_sort(panels_, {},
                             [&](const OpenPanel& open) { return tab_place(tab_of(open)); });
  }
}

void App::draw_absent(Ui& ui) {
  draw_paragraph(ui, absent_, ui.palette.warning);
  const PanelKind& kind = *open_panel(front_).kind;
  draw_link(ui, "absent.panel", kind.title, {front_, {}});
}

void App::draw_tabs(Ui& ui) {
  if (!ImGui::BeginTabBar("panels",
                          ImGuiTabBarFlags_Reorderable | ImGuiTabBarFlags_FittingPolicyScroll)) {
    return;
  }
  probe_.begin_scrolled();
  const std::string closed = draw_tab_items();
  probe_.end_scrolled();
  settle_tab_order();
  if (is_tab_bar_moving()) want_frames();
  ImGui::EndTabBar();
  if (must_select_tab_) want_frames();
  must_select_tab_ = false;
  if (!closed.empty()) close_panel(closed);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool is_as_before = room.x == panel_size_.x && room.y == panel_size_.y;
  if (!is_as_before || front_ != details_of_) bring_frames_ = kSettlingFrames;
  panel_size_ = room;
  ui.brings_table = bring_frames_ > 0;
  const auto wheel = has_wheel_ ? ImGuiWindowFlags_NoScrollWithMouse : 0;
  ImGui::BeginChild(("panel " + front_).c_str(), ImVec2(0, 0), false,
                    kPane | ImGuiWindowFlags_NoNavInputs | wheel);
  focus_.begin_pane(Pane::kPanel);
  if (absent_.empty()) {
    current_panel().draw(ui);
  } else {
    draw_absent(ui);
  }
  if (bring_frames_ > 0 && !ui.brings_table) --bring_frames_;
  has_wheel_ = ui.has_wheel;
  focus_.end_pane(ui.palette.accent);
  ImGui::EndChild();
}

}  // namespace crawlstore::inspector
