// SPDX-License-Identifier: Apache-2.0
// Every segment; of the selected one its runs, and its fields as the format decodes them.
#include <algorithm>

#include <crawlstore/tools/inspect.h>

#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/dump_view.h"
#include "model/format_text.h"
#include "model/store_view.h"

namespace crawlstore::inspector {
namespace {

class SegmentsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    follow(*view);
    if (segments_ == nullptr) {
      draw_paragraph(ui, "No generation can be opened, so there is no segment table.",
                     ui.palette.faint);
      if (view->problem) draw_problem(ui, *view->problem);
      return;
    }
    turn_to_wanted();
    const float height = ImGui::GetContentRegionAvail().y;
    TableOptions options{.id = "segments", .height = height * 0.52F};
    options.is_main = true;
    options.has_swatches = true;
    options.link = [](const model::Column& column, const model::Row& row) -> Location {
      if (column.name != "name" || std::get<std::string>(row[4]).empty()) return {};
      const auto& name = std::get<std::string>(row[4]);
      if (row[1] == model::Cell(std::string(name_of(SegmentKind::kPages)))) {
        return {"pages", PageThing{name, 0}};
      }
      return {"buckets", BucketThing{name, 0}};
    };
    table_.draw(ui, segments_, options);
    draw_selected(ui, *view);
  }
  void let_go(Jobs& /*jobs*/) override {}

  void show(const Thing& thing) override {
    if (const auto* segment = std::get_if<SegmentThing>(&thing)) wanted_ = segment->id;
  }
  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override {
    wanted_.reset();
    table_.restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override {
    return Table64::last_used({&table_, &runs_table_, &fields_table_}).export_to(ui, path);
  }

 private:
  void follow(const model::FileView& view) {
    if (number_ == view.number) return;
    number_ = view.number;
    if (!view.snapshot) return;
    model::Document document = model::segments_view(*view.snapshot);
    segments_ = model::take_table(document, "segments");
    runs_of_.reset();
  }

  void turn_to_wanted() {
    if (!wanted_) return;
    table_.set_filter({});
    is_gone_ = !table_.select_where(segments_, "id", wanted_->value);
    gone_ = *wanted_;
    wanted_.reset();
  }

  /// The runs of one segment, a table of their own.
  void take_runs(const model::FileView& view, SegmentId id) {
    if (runs_of_ == id) return;
    runs_of_ = id;
    const auto found = std::ranges::find(view.segments, id, &SegmentInfo::id);
    runs_ = std::make_shared<model::TableRows>(
        model::runs_table(found == view.segments.end() ? SegmentInfo() : *found));
  }

  void ask_fields(Ui& ui, const model::FileView& view, SegmentId id) {
    if (fields_of_ == id && fields_number_ == view.number) return;
    fields_of_ = id;
    fields_number_ = view.number;
    if (!view.snapshot) return;
    ui.jobs.start("describe segment " + std::to_string(id.value), "segment fields",
                  [snapshot = *view.snapshot, id, box = fields_](JobContext&) -> Jobs::Finish {
                    auto fields = describe(snapshot, id, {.entries_max = 1000});
                    auto found = std::make_shared<Fields>();
                    if (fields) {
                      found->rows = std::make_shared<model::TableRows>(model::field_tree(*fields));
                    } else {
                      found->problem = fields.error();
                    }
                    return [box, found] { *box = found; };
                  });
  }

  void draw_selected(Ui& ui, const model::FileView& view) {
    if (is_gone_) {
      draw_paragraph(ui,
                     "Generation " + model::format_count(view.info.generation.value) +
                         " has no segment " + std::to_string(gone_.value) +
                         "; it may have had one, or may get it.",
                     ui.palette.warning);
    }
    const auto& row = table_.selected_row();
    if (!row) {
      draw_paragraph(ui, "Select a segment to see its runs and fields.", ui.palette.faint);
      return;
    }
    const SegmentId id{std::get<std::uint64_t>(row->front())};
    take_runs(view, id);
    ask_fields(ui, view, id);
    draw_heading(ui, "Segment " + std::to_string(id.value) + ": runs and fields");
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImGui::BeginChild("runs", ImVec2(room.x * 0.4F, room.y));
    Details of_segment = ui.details;
    TableOptions run_options{.id = "runs"};
    run_options.has_filter = false;
    runs_table_.draw(ui, runs_, run_options);
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("fields", ImVec2(0, room.y));
    if (*fields_ == nullptr) {
      draw_text(ui, "reading ...", ui.palette.faint);
    } else if ((*fields_)->problem) {
      draw_problem(ui, *(*fields_)->problem);
    } else {
      fields_table_.draw(ui, (*fields_)->rows, {.id = "fields", .has_filter = false});
    }
    ImGui::EndChild();
    ui.details = std::move(of_segment);
  }

  struct Fields {
    std::shared_ptr<const model::TableSource> rows;
    std::optional<Error> problem;
  };
  std::uint64_t number_ = 0;
  std::shared_ptr<const model::TableSource> segments_;
  std::shared_ptr<const model::TableSource> runs_;
  std::optional<SegmentId> runs_of_;
  std::optional<SegmentId> fields_of_;
  std::uint64_t fields_number_ = 0;
  std::shared_ptr<std::shared_ptr<const Fields>> fields_ =
      std::make_shared<std::shared_ptr<const Fields>>();
  std::optional<SegmentId> wanted_;
  bool is_gone_ = false;
  SegmentId gone_;
  Table64 table_;
  Table64 runs_table_;
  Table64 fields_table_;
};

}  // namespace

std::unique_ptr<Panel> make_segments_panel() {
  return std::make_unique<SegmentsPanel>();
}

}  // namespace crawlstore::inspector
