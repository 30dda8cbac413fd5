// SPDX-License-Identifier: Apache-2.0
// The state of the file as Markdown, to be pasted into an issue.
#include <imgui.h>
#include <imgui_stdlib.h>

#include "inspector/core/report.h"
#include "inspector/ui/panels/panels.h"

namespace crawlstore::inspector {
namespace {

class ReportPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const std::uint64_t health = ui.session.health.number();
    if (text_.empty() || number_ != view->number || health_ != health) {
      number_ = view->number;
      health_ = health;
      text_ = make_report(ui.session);
    }
    if (draw_button(ui, "report.copy", "Copy", "as Markdown")) ui.actions.copy(text_, "report");
    ImGui::PushFont(ui.fonts.mono());
    ui.fonts.want(text_);
    ImGui::InputTextMultiline("##report", &text_, ImVec2(-1, -1), ImGuiInputTextFlags_ReadOnly);
    ui.probe.note_item("report.text", text_);
    if (take_stop(ui, "report.text")) ImGui::SetKeyboardFocusHere(-1);
    if (ImGui::IsItemActive()) ui.focus.note_active();
    ImGui::PopFont();
  }
  void let_go(Jobs& /*jobs*/) override {}

 private:
  std::uint64_t number_ = 0;
  std::uint64_t health_ = 0;
  std::string text_;
};

}  // namespace

std::unique_ptr<Panel> make_report_panel() {
  return std::make_unique<ReportPanel>();
}

}  // namespace crawlstore::inspector
