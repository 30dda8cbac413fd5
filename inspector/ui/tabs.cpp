// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/tabs.h"

#include <algorithm>

#include "inspector/core/require.h"
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

/// The open panel of that id, or the end.
auto find_open(auto& panels, std::string_view id) {
  return std::ranges::find_if(panels, [&](const auto& open) { return open.kind->id == id; });
}

}  // namespace

Tabs::OpenPanel& Tabs::find_or_open(std::string_view id) {
  const auto found = find_open(panels_, id);
  if (found != panels_.end()) return *found;
  const PanelKind* kind = find_kind(id);
  require(kind != nullptr, "a panel that does not exist was opened");
  const auto view = state_.session.view();
  return panels_.emplace_back(OpenPanel{kind, kind->make(), view == nullptr ? 0 : view->number});
}

void Tabs::bring_to_front(std::string_view id) {
  front_ = id;
  must_select_ = true;
}

std::string_view Tabs::close(std::string_view id) {
  std::erase_if(panels_, [&](const OpenPanel& open) { return open.kind->id == id; });
  return panels_.empty() ? kStart : panels_.back().kind->id;
}

void Tabs::close_all() {
  panels_.clear();
  front_ = kStart;
}

std::string_view Tabs::beside_front(int step) const {
  const auto front = find_open(panels_, front_);
  if (front == panels_.end()) return front_;
  const auto count = static_cast<std::ptrdiff_t>(panels_.size());
  const auto place = (front - panels_.begin() + count + step) % count;
  return panels_[static_cast<std::size_t>(place)].kind->id;
}

std::string Tabs::state_of(std::string_view id) const {
  const auto found = find_open(panels_, id);
  return found == panels_.end() ? "" : found->panel->view_state();
}

void Tabs::open_layout() {
  std::vector<OpenPanel> before = std::exchange(panels_, {});
  const PaneLayout& layout = state_.settings.layout;
  const std::string& front = layout.front;
  // Nobody who opens one file is told first that there is no set.
  const auto is_shown = [&](const PanelKind& kind) {
    return has_things(state_.session, kind) || (kind.id == front && kind.group != kSetGroup);
  };
  hidden_.clear();
  for (const std::string& id : layout.tabs) {
    const PanelKind* kind = find_kind(id);
    if (kind == nullptr) continue;  // of another version
    if (!is_shown(*kind)) {
      hidden_.emplace_back(panels_.size() + hidden_.size(), id);
      continue;
    }
    const auto found = find_open(before, id);
    if (found != before.end() && found->panel != nullptr) {
      panels_.push_back(std::move(*found));
    } else {
      open(id);
    }
  }
  if (panels_.empty()) open("overview");
  const PanelKind* front_kind = find_kind(front);
  drawn_front_.clear();
  bring_to_front(front_kind != nullptr && is_shown(*front_kind) ? front_kind->id
                                                                : panels_.front().kind->id);
  open(front_);
  must_order_ = true;
}

/// Without a file only the start panel stands there, which is no layout; and with one it is only
/// there to open another, which shall not come up behind it.
void Tabs::note_layout() {
  if (!state_.session.file) return;
  std::vector<std::string> tabs;
  for (const OpenPanel& open : panels_) {
    if (open.kind->id != kStart) tabs.emplace_back(open.kind->id);
  }
  if (tabs.empty()) return;
  for (const auto& [place, id] : hidden_) {
    if (std::ranges::find(tabs, id) != tabs.end()) continue;
    tabs.insert(tabs.begin() + static_cast<std::ptrdiff_t>(std::min(place, tabs.size())), id);
  }
  PaneLayout& layout = state_.settings.layout;
  layout.tabs = std::move(tabs);
  if (front_ != kStart) layout.front = front_;
  const bool is_there = std::ranges::find(layout.tabs, layout.front) != layout.tabs.end();
  if (!is_there) layout.front = layout.tabs.front();
}

void Tabs::save() {
  note_layout();
  state_.save_settings();
}

void Tabs::let_go() {
  for (OpenPanel& open : panels_) {
    open.panel->let_go(state_.jobs);
    open.number = state_.session.view()->number;
  }
}

/// Only what is drawn turns to another view by itself. The panel in front may still wait for what
/// it asked of the new one, so it counts as a reader of the view with which it came to the front.
void Tabs::let_go_of_hidden() {
  const auto view = state_.session.view();
  if (view == nullptr) return;
  for (OpenPanel& open : panels_) {
    if (open.kind->id == front_ || open.number == view->number) continue;
    open.panel->let_go(state_.jobs);
    open.number = view->number;
  }
}

/// Between BeginTabBar() and EndTabBar(). Returns the tab that was closed; empty = none.
std::string Tabs::draw_items(Ui& ui) {
  std::string closed;
  for (const OpenPanel& open : panels_) {
    const std::string id(open.kind->id);
    bool is_open = true;
    const bool is_wanted = must_select_ && id == front_;
    if (ImGui::BeginTabItem(tab_name(*open.kind).c_str(), panels_.size() > 1 ? &is_open : nullptr,
                            is_wanted ? ImGuiTabItemFlags_SetSelected : 0)) {
      if (!must_select_ && id != front_) ui.actions.go({id, {}});
      ImGui::EndTabItem();
    }
    ui.probe.note_item("tab." + id, open.kind->title);
    if (!is_open) closed = id;
  }
  return closed;
}

/// After the last tab, before EndTabBar(): only now ImGui knows those that are new.
void Tabs::settle_order() {
  const auto tab_of = [](const OpenPanel& open) {
    return ImGui::GetID(tab_name(*open.kind).c_str());
  };
  if (std::exchange(must_order_, false)) {
    std::vector<ImGuiID> order;
    for (const OpenPanel& open : panels_) order.push_back(tab_of(open));
    set_tab_order(order);
    state_.redraws.want();
  } else {
    std::ranges::stable_sort(panels_, {},
                             [&](const OpenPanel& open) { return tab_place(tab_of(open)); });
  }
}

std::optional<std::string> Tabs::draw_bar(Ui& ui) {
  if (!ImGui::BeginTabBar("panels",
                          ImGuiTabBarFlags_Reorderable | ImGuiTabBarFlags_FittingPolicyScroll)) {
    return std::nullopt;
  }
  ui.probe.begin_scrolled();
  std::string closed = draw_items(ui);
  ui.probe.end_scrolled();
  settle_order();
  if (is_tab_bar_moving() || must_select_) state_.redraws.want();
  ImGui::EndTabBar();
  must_select_ = false;
  return closed;
}

void Tabs::draw_front(Ui& ui, const std::string& absent) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool is_as_before = room.x == panel_size_.x && room.y == panel_size_.y;
  if (!is_as_before || front_ != drawn_front_) bring_frames_ = Redraws::kSettlingFrames;
  panel_size_ = room;
  ui.brings_table = bring_frames_ > 0;
  const auto wheel = has_wheel_ ? ImGuiWindowFlags_NoScrollWithMouse : 0;
  ImGui::BeginChild(("panel " + front_).c_str(), ImVec2(0, 0), false,
                    kPane | ImGuiWindowFlags_NoNavInputs | wheel);
  ui.focus.begin_pane(Pane::kPanel);
  if (absent.empty()) {
    current().draw(ui);
  } else {
    draw_paragraph(ui, absent, ui.palette.warning);
    draw_link(ui, "absent.panel", front_kind().title, {front_, {}});
  }
  if (bring_frames_ > 0 && !ui.brings_table) --bring_frames_;
  has_wheel_ = ui.has_wheel;
  ui.focus.end_pane(ui.palette.accent);
  ImGui::EndChild();
}

}  // namespace crawlstore::inspector
