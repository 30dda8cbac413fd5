// SPDX-License-Identifier: Apache-2.0
// What checks found, and what panels met: each row leads to its bytes; and what that touches.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspector/ui/panels/panels.h"
#include "inspector/ui/panels/recovery_part.h"
#include "inspector/ui/table64.h"
#include "model/damage_reach.h"
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
    follow(ui.session.health);
    draw_heading(ui, title_);
    draw_paragraph(ui, ui.session.health.share_text(), ui.palette.faint);
    if (view->problem || ui.session.health.is_damaged()) recovery_.draw(ui);
    if (findings_->row_count() == 0) {
      if (ui.session.health.checked()) {
        draw_paragraph(ui, "Nothing is wrong with what was looked at.", ui.palette.good);
      }
      return;
    }
    if (wanted_) table_.select(*std::exchange(wanted_, std::nullopt));
    TableOptions options{.id = "findings", .height = 0.45F * ImGui::GetContentRegionAvail().y};
    options.is_main = true;
    options.fits_rows = true;
    table_.draw(ui, findings_, options);
    draw_reach(ui, *view);
  }
  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("reach");
    asked_ = 0;
  }

  void show(const Thing& thing) override {
    if (const auto* row = std::get_if<RowThing>(&thing)) wanted_ = row->row;
  }
  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override { table_.restore(state); }
  bool export_to(Ui& ui, const std::string& path) override {
    return Table64::last_used({&table_, &reach_table_, recovery_.table()}).export_to(ui, path);
  }

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

  void follow(const Health& health) {
    if (number_ == health.number() && findings_ != nullptr) return;
    number_ = health.number();
    findings_ = std::make_shared<model::TableRows>(model::findings_table(health.problems()));
    title_ = health.verdict() + ": " + model::format_counted(findings_->row_count(), "problem");
  }

  /// The findings of a job, shared with it.
  struct Found {
    std::shared_ptr<const model::TableSource> rows;
    std::vector<Error> met;  // on the way
    std::optional<Error> problem;
  };

  /// Draws the pages and hosts that the damage touches: at once in files that are read in a moment.
  void draw_reach(Ui& ui, const model::FileView& view) {
    if (view.page_views.empty() || !view.snapshot || !ui.session.health.is_damaged()) return;
    draw_heading(ui, "What it touches");
    const std::uint64_t now = ui.session.health.number();
    const bool is_small = std::ranges::all_of(
        view.pages, [](const PagesInfo& pages) { return pages.page_count <= kAtOncePagesMax; });
    if (asked_ != now && is_small) ask(ui, view);
    if (!is_small && draw_button(ui, "problems.reach", "Find out", "asks for every page")) {
      ask(ui, view);
    }
    const auto& found = *found_;
    if (found == nullptr) {
      if (asked_ != 0) draw_text(ui, "looking ...", ui.palette.faint);
      return;
    }
    if (found->problem) return draw_problem(ui, *found->problem);
    for (const Error& error : found->met) ui.actions.meet(error);
    if (found->rows->row_count() == 0) {
      return draw_paragraph(ui, "All pages can be read, with their links, keys and scores.",
                            ui.palette.good);
    }
    TableOptions options{.id = "reach"};
    options.has_filter = false;
    reach_table_.draw(ui, found->rows, options);
  }

  void ask(Ui& ui, const model::FileView& view) {
    asked_ = ui.session.health.number();
    ui.jobs.start("look what damage touches", "reach",
                  [pages = view.page_views, snapshot = *view.snapshot,
                   box = found_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    auto table = model::damage_reach(
                        pages, snapshot, [&](const Error& error) { found->met.push_back(error); },
                        [&](auto... at) { return context.progress(at...); });
                    if (!table && table.error().code == Errc::kCancelled) return nullptr;
                    if (!table) found->problem = table.error();
                    if (table) found->rows = std::make_shared<model::TableRows>(std::move(*table));
                    return [box, found] { *box = found; };
                  });
  }

  static constexpr std::uint64_t kAtOncePagesMax = 200'000;
  std::uint64_t number_ = 0;
  std::uint64_t asked_ = 0;  // number of the health; 0 = nothing
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  Table64 reach_table_;
  RecoveryPart recovery_;
  std::string title_;
  std::shared_ptr<const model::TableSource> findings_;
  std::optional<std::uint64_t> wanted_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_problems_panel() {
  return std::make_unique<ProblemsPanel>();
}

}  // namespace crawlstore::inspector
