// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/recovery_part.h"

#include <string>

#include "inspector/core/shown_text.h"
#include "model/recover_view.h"

namespace crawlstore::inspector {

bool RecoveryPart::has_result(const Ui& ui) {
  const auto& ended = ui.session.recovery;
  return ended != nullptr && ended->path == ui.session.recoverable_path();
}

void RecoveryPart::draw(Ui& ui) {
  if (draw_button(ui, "recovery.start", "Recover to a new file ...",
                  "of all that can be read; this one stays as it is")) {
    ui.actions.run("recover");
  }
  if (!has_result(ui)) return;
  const Recovery& ended = *ui.session.recovery;
  const bool is_whole = ended.report && ended.report->losses.empty();
  if (ended.report) {
    place_beside(button_width("Open the new file"));
    if (draw_button(ui, "recovery.open", "Open the new file", shown_text(ended.new_path))) {
      ui.actions.open(ended.new_path);
    }
  }
  draw_paragraph(ui, shown_text(describe(ended)),
                 is_whole       ? ui.palette.good
                 : ended.report ? ui.palette.text
                                : ui.palette.bad);
  if (ended.report && !is_whole) draw_losses(ui);
}

void RecoveryPart::draw_losses(Ui& ui) {
  if (shown_ != ui.session.recovery) {
    shown_ = ui.session.recovery;
    model::Table losses{"losses", {{"part", model::Unit::kText}, {"text", model::Unit::kText}}, {}};
    for (const Loss& loss : shown_->report->losses) {
      losses.rows.push_back({model::lost_part_name(loss.part), describe(loss)});
    }
    losses_ = std::make_shared<model::TableRows>(std::move(losses));
  }
  TableOptions options{.id = "losses", .height = 0.5F * ImGui::GetContentRegionAvail().y};
  options.has_filter = false;
  table_.draw(ui, losses_, options);
}

}  // namespace crawlstore::inspector
