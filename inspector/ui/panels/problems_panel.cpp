// SPDX-License-Identifier: Apache-2.0
// What checks found. Each row leads to its bytes.
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/verify_view.h"

namespace crawlstore::inspector {
namespace {

class ProblemsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    draw_tools(ui);
    if (view->problem) {
      draw_heading(ui, "The newest generation");
      draw_problem(ui, *view->problem);
    }
    if (!ui.session.checked) {
      draw_text(ui, "checking ...", ui.palette.faint);
      return;
    }
    follow(*ui.session.checked);
    draw_heading(ui, title_);
    if (findings_->row_count() == 0) {
      draw_paragraph(ui, "Nothing is wrong with what was looked at.", ui.palette.good);
      return;
    }
    if (wanted_) table_.select(*std::exchange(wanted_, std::nullopt));
    table_.draw(ui, findings_, {.id = "findings"});
  }
  void let_go(Jobs& /*jobs*/) override {}

  void show(const Thing& thing) override {
    if (const auto* row = std::get_if<RowThing>(&thing)) wanted_ = row->row;
  }
  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override { table_.restore(state); }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  static void draw_tools(Ui& ui) {
    if (draw_button(ui, "problems.quick", "Superblocks and directories", "in a moment")) {
      ui.actions.verify(VerifyLevel::kQuick);
    }
    place_beside(button_width("All checksums"));
    if (draw_button(ui, "problems.verify", "All checksums", "F7: reads both generations once")) {
      ui.actions.verify(VerifyLevel::kNormal);
    }
    place_beside(button_width("Everything"));
    if (draw_button(ui, "problems.deep", "Everything",
                    "every checksum and every rule of every segment's format")) {
      ui.actions.verify(VerifyLevel::kDeep);
    }
  }

  void follow(const Checked& checked) {
    if (number_ == checked.number && findings_ != nullptr) return;
    number_ = checked.number;
    model::Document document = model::verify_view(checked.report, checked.level);
    findings_ = model::take_table(document, "findings");
    const bool is_open = checked.is_partial && checked.report.findings.empty();
    title_ = std::string(is_open ? "partly checked" : model::health_name(checked.report)) + ": " +
             model::format_counted(findings_->row_count(), "problem") + " in " +
             model::format_bytes(checked.report.checked_bytes) +
             (checked.is_partial ? ", so far: the check was cancelled" : "");
  }

  std::uint64_t number_ = 0;
  std::string title_;
  std::shared_ptr<const model::RowSource> findings_;
  std::optional<std::uint64_t> wanted_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_problems_panel() {
  return std::make_unique<ProblemsPanel>();
}

}  // namespace crawlstore::inspector
