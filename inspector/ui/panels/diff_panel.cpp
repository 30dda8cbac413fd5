// SPDX-License-Identifier: Apache-2.0
// What changed: between this file's two generations, or between another file and this one.
#include <algorithm>

#include <imgui.h>

#include <crawlstore/diff.h>

#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/diff_view.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

class DiffPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    draw_question(ui, *view);
    const auto& found = *found_;
    if (found == nullptr) {
      draw_paragraph(ui, "Nothing has been compared yet.", ui.palette.faint);
      return;
    }
    if (found->problem) {
      draw_text(ui, found->is_older ? "The older state:" : "This file:", ui.palette.bad);
      return draw_problem(ui, *found->problem);
    }
    draw_heading(ui, found->title);
    draw_fields(ui, *found);
    draw_tables(ui, *found);
  }
  void let_go(Jobs& /*jobs*/) override {}
  bool export_to(Ui& ui, const std::string& path) override {
    return shown_ < tables_.size() && tables_[shown_].export_to(ui, path);
  }

 private:
  /// What a job found out.
  struct Comparison {
    std::string title;
    std::vector<model::Field> fields;
    std::vector<std::shared_ptr<const model::RowSource>> tables;
    std::optional<Error> problem;
    bool is_older = false;  ///< the problem is of the older state
  };

  void draw_question(Ui& ui, const model::FileView& view) {
    ImGui::BeginDisabled(!view.snapshot || !view.info.has_previous);
    if (draw_button(ui, "diff.previous", "Compare with the previous generation")) {
      start(ui, view, {});
    }
    ImGui::EndDisabled();
    place_beside(text_width("or with an older file"));
    draw_text(ui, "or with an older file", ui.palette.faint);
    const float button = button_width("Compare") + ui.px(8);
    place_beside(ui.px(160) + button);
    const float room = ImGui::GetContentRegionAvail().x;
    ImGui::SetNextItemWidth(room < ui.px(160) + button ? room : room - button);
    const bool is_entered = draw_input(ui, "diff.other", "path, Enter", other_);
    place_beside(button_width("Compare"));
    const bool is_clicked = draw_button(ui, "diff.compare", "Compare");
    if ((is_entered || is_clicked) && !other_.empty() && view.snapshot) start(ui, view, other_);
  }

  static Result<Snapshot> open_older(const std::string& path, const std::string& other) {
    SnapshotOptions options;
    options.previous = other.empty();
    return Snapshot::open(other.empty() ? path : other, options);
  }

  void start(Ui& ui, const model::FileView& view, const std::string& other) {
    const std::string title =
        other.empty() ? "The previous generation, and the newest" : other + ", and this file";
    ui.jobs.start(
        "compare", "diff",
        [newer = *view.snapshot, path = view.path, other, title,
         box = found_](JobContext& context) -> Jobs::Finish {
          auto found =
              std::make_shared<Comparison>(compare(newer, open_older(path, other), context));
          found->title = title;
          const bool is_cancelled = found->problem && found->problem->code == Errc::kCancelled;
          if (is_cancelled) return nullptr;
          return [box, found] { *box = found; };
        });
  }

  static Comparison compare(const Snapshot& newer, const Result<Snapshot>& older,
                            JobContext& context) {
    Comparison found;
    found.is_older = true;
    if (!older) {
      found.problem = older.error();
      return found;
    }
    model::DiffViewOptions view_options;
    view_options.rows_max = 100'000;
    view_options.with_keys = true;
    model::DiffView view(view_options);
    DiffSink sink = view.sink();
    sink.failed = [&found](bool in_new) { found.is_older = !in_new; };
    DiffOptions options;
    options.progress = [&context](std::uint64_t done, std::uint64_t total) {
      return context.progress(done, total);
    };
    const auto report = diff(*older, newer, sink, options);
    if (!report) {
      found.problem = report.error();
      return found;
    }
    auto document = view.document(*older, newer, *report);
    if (!document) {
      found.problem = document.error();
      return found;
    }
    found.fields = std::move(document->fields);
    for (model::Table& table : document->tables) {
      found.tables.push_back(std::make_shared<model::TableRows>(std::move(table)));
    }
    return found;
  }

  static void draw_fields(Ui& ui, const Comparison& found) {
    for (const model::Field& field : found.fields) {
      draw_field(ui, field.name, model::format_cell(field.value, field.unit), {}, ui.px(230));
    }
  }

  void draw_tables(Ui& ui, const Comparison& found) {
    tables_.resize(found.tables.size());
    shown_ = std::min(shown_, found.tables.empty() ? 0 : found.tables.size() - 1);
    for (std::size_t i = 0; i < found.tables.size(); ++i) {
      const std::string text =
          found.tables[i]->name() + " " + model::format_count(found.tables[i]->row_count());
      if (i > 0) place_beside(choice_width(text));
      if (draw_choice(ui, "diff." + found.tables[i]->name(), text, shown_ == i)) shown_ = i;
    }
    if (found.tables.empty()) return;
    TableOptions options{.id = "diff_" + found.tables[shown_]->name()};
    options.has_swatches = true;
    tables_[shown_].draw(ui, found.tables[shown_], options);
  }

  std::string other_;
  std::size_t shown_ = 0;
  std::vector<Table64> tables_;
  // Shared with the job that fills it, which may outlive the panel.
  std::shared_ptr<std::shared_ptr<const Comparison>> found_ =
      std::make_shared<std::shared_ptr<const Comparison>>();
};

}  // namespace

std::unique_ptr<Panel> make_diff_panel() {
  return std::make_unique<DiffPanel>();
}

}  // namespace crawlstore::inspector
