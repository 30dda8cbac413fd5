// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/details_pane.h"

#include <algorithm>
#include <utility>

#include "inspector/core/shown_text.h"
#include "model/label.h"

namespace crawlstore::inspector {

void DetailsPane::take(Ui& ui, bool is_new) {
  details_ = std::move(ui.details);
  const bool has_any = !details_.lines.empty() || !details_.title.empty();
  const ImGuiIO& io = ImGui::GetIO();
  const bool may_click_again = ImGui::GetTime() - io.MouseClickedTime[0] < io.MouseDoubleClickTime;
  if (has_any && !is_open_ && may_click_again) return ui.actions.redraw();
  const bool was_open = std::exchange(is_open_, has_any || (is_open_ && !is_new));
  if (was_open != is_open_) ui.actions.redraw();
}

void DetailsPane::draw(Ui& ui) {
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
    ui.actions.run("copy_row");
  }
}

}  // namespace crawlstore::inspector
