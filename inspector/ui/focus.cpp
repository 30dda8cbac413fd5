// SPDX-License-Identifier: Apache-2.0
// Invariant: drawn_ is of the pane between begin_pane() and end_pane(), and known_ of the pane that
// has the keys, as it was drawn last.
#include "inspector/ui/focus.h"

#include <algorithm>
#include <utility>

#include "inspector/core/events.h"
#include "inspector/ui/internal.h"

namespace crawlstore::inspector {
namespace {

constexpr float kRing = 2;

bool is_enter() {
  return ImGui::IsKeyPressed(kKeyEnter, false) || ImGui::IsKeyPressed(kKeyPadEnter, false) ||
         ImGui::IsKeyPressed(kKeySpace, false);
}

}  // namespace

void FocusWalk::enter(Pane pane) {
  leave_text_field();
  pane_ = pane;
  if (pane != Pane::kPanel) at(pane) = {};
  known_.clear();
  is_shown_ = true;
  must_scroll_ = true;
}

void FocusWalk::enter_new_panel() {
  pane_ = Pane::kPanel;
  at(pane_) = {};
  known_.clear();
}

void FocusWalk::enter_filter() {
  leave_text_field();
  if (pane_ != Pane::kPanel) known_.clear();
  pane_ = Pane::kPanel;
  must_find_filter_ = true;
}

/// Among the stops of the panel, all of which were drawn in this frame.
void FocusWalk::find_filter() {
  must_find_filter_ = false;
  Stop& chosen = at(Pane::kPanel);
  const auto is_filter = [](const Stop& stop) {
    return stop.label.ends_with(".filter") || stop.label.ends_with(".find");
  };
  if (is_filter(chosen)) {
    must_press_ = true;
    return;
  }
  auto found = std::ranges::find(drawn_, chosen.label + ".filter", &Stop::label);
  if (found == drawn_.end()) found = std::ranges::find_if(drawn_, is_filter);
  has_missed_ = found == drawn_.end();
  if (!has_missed_) press(*found);
}

/// The panel of the field may come with the next frame.
void FocusWalk::find_field() {
  const auto found = std::ranges::find(drawn_, sought_, &Stop::label);
  if (found == drawn_.end()) return;
  sought_.clear();
  press(*found);
}

/// Chooses a stop of the panel, which is pressed in the next frame.
void FocusWalk::press(const Stop& stop) {
  at(Pane::kPanel) = stop;
  must_press_ = true;
  must_scroll_ = true;
  is_shown_ = true;
}

void FocusWalk::step(bool is_back) {
  is_shown_ = true;
  must_scroll_ = true;
  if (known_.empty()) return;
  Stop& stop = at(pane_);
  const auto found = std::ranges::find(known_, stop);
  const auto last = known_.end() - 1;
  if (found == known_.end()) {
    stop = is_back ? *last : known_.front();
  } else if (is_back) {
    stop = found == known_.begin() ? *last : *(found - 1);
  } else {
    stop = found == last ? known_.front() : *(found + 1);
  }
}

void FocusWalk::take_keys() {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyCtrl || io.KeyAlt) return;
  if (ImGui::IsKeyPressed(kKeyTab)) {
    if (io.WantTextInput) leave_text_field();
    step(io.KeyShift);
    return;
  }
  if (io.WantTextInput) return;
  const bool is_panel = pane_ == Pane::kPanel;
  if (ImGui::IsKeyPressed(kKeyEscape, false)) return enter_new_panel();
  const Stop& chosen = at(pane_);
  is_pressed_ = is_enter() && !chosen.label.empty() && !chosen.is_owner;
  if (is_panel) return;
  if (ImGui::IsKeyPressed(kKeyUp) || ImGui::IsKeyPressed(kKeyLeft)) step(true);
  if (ImGui::IsKeyPressed(kKeyDown) || ImGui::IsKeyPressed(kKeyRight)) step(false);
}

void FocusWalk::begin_frame() {
  is_pressed_ = false;
  has_owner_ = false;
  has_ring_ = false;
  const bool has_box = has_popup();
  is_blocked_ = has_box || ImGui::GetIO().WantTextInput;
  if (has_box) return;
  if (ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1)) {
    is_shown_ = false;
    enter_new_panel();
  }
  take_keys();
  if (std::exchange(must_press_, false)) is_pressed_ = true;
}

void FocusWalk::begin_pane(Pane pane) {
  drawn_pane_ = pane;
  is_drawing_ = true;
  drawn_.clear();
  preferred_ = {};
}

void FocusWalk::end_pane(ImU32 ring) {
  is_drawing_ = false;
  if (drawn_pane_ == Pane::kPanel && std::exchange(must_step_, false)) has_missed_ = true;
  if (drawn_pane_ != pane_) return;
  if (must_find_filter_ && pane_ == Pane::kPanel) find_filter();
  if (!sought_.empty() && pane_ == Pane::kPanel) find_field();
  known_.swap(drawn_);
  Stop& stop = at(pane_);
  if (!stop.label.empty() && std::ranges::find(known_, stop) == known_.end()) stop = {};
  if (stop.label.empty() && pane_ != Pane::kPanel && !known_.empty()) {
    stop = preferred_.label.empty() ? known_.front() : preferred_;
  }
  scroll_pane();
  if (!is_shown_ || is_blocked_) return;
  const ImVec2 low = ImGui::GetWindowPos();
  const ImVec2 high(low.x + ImGui::GetWindowSize().x, low.y + ImGui::GetWindowSize().y);
  // Above the children of the pane, and inside of it.
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.PushClipRect(low, high);
  list.AddRect(low, high, ring);
  if (has_ring_) {
    list.AddRect(ImVec2(ring_min_.x - kRing, ring_min_.y - kRing),
                 ImVec2(ring_max_.x + kRing, ring_max_.y + kRing), ring, 0, 0, kRing);
  }
  list.PopClipRect();
}

/// Scrolls a pane that has no stops, or is longer than they are apart.
void FocusWalk::scroll_pane() const {
  if (pane_ == Pane::kPanel || is_blocked_) return;
  const float page = ImGui::GetWindowHeight() * 0.8F;
  if (ImGui::IsKeyPressed(kKeyPageDown)) ImGui::SetScrollY(ImGui::GetScrollY() + page);
  if (ImGui::IsKeyPressed(kKeyPageUp)) ImGui::SetScrollY(ImGui::GetScrollY() - page);
}

bool FocusWalk::stop(std::string_view label, ImVec2 min, ImVec2 max) {
  if (!is_drawing_) return false;
  const auto number = std::ranges::count(drawn_, label, &Stop::label);
  drawn_.push_back({std::string(label), static_cast<std::size_t>(number)});
  if (drawn_pane_ != pane_ || drawn_.back() != at(pane_)) return false;
  if (must_scroll_) scroll_into_sight(min, max);
  must_scroll_ = false;
  ring_min_ = min;
  ring_max_ = max;
  has_ring_ = true;
  return is_pressed_;
}

void FocusWalk::prefer() {
  if (is_drawing_) preferred_ = drawn_.back();
}

void FocusWalk::note_active() {
  if (!is_drawing_) return;
  pane_ = drawn_pane_;
  at(pane_) = drawn_.back();
}

bool FocusWalk::owns_keys(std::string_view label, ImVec2 min, ImVec2 max) {
  if (!is_drawing_) return false;
  stop(label, min, max);
  drawn_.back().is_owner = true;
  const bool is_first = !std::exchange(has_owner_, true);
  if (ImGui::IsMouseClicked(0) && ImGui::IsWindowHovered()) note_active();
  if (drawn_pane_ != pane_ || is_blocked_ || is_pressed_) return false;
  const Stop& chosen = at(pane_);
  return chosen.is_owner ? chosen == drawn_.back() : is_first;
}

bool FocusWalk::takes_row_step(std::string_view label) {
  if (!must_step_ || !is_drawing_ || drawn_pane_ != Pane::kPanel) return false;
  const Stop& chosen = at(Pane::kPanel);
  const bool is_of_table = chosen.is_owner || chosen.label.ends_with(".filter");
  const bool is_this = chosen.label == label || chosen.label == std::string(label) + ".filter";
  if (is_of_table && !is_this) return false;
  must_step_ = false;
  return true;
}

}  // namespace crawlstore::inspector
