// SPDX-License-Identifier: Apache-2.0
// How the crawl is, at one look; below, what the file is: where the bytes are, the DRUMs, identity.
#include <algorithm>
#include <utility>

#include <unistd.h>

#include "inspector/ui/panels/dashboard.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/space_view.h"
#include "model/store_view.h"

namespace crawlstore::inspector {
namespace {

class OverviewPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    follow(*view);
    dashboard_.draw(ui, *view);
    draw_space(ui, *view);
    draw_heading(ui, "DRUMs");
    if (view->drums_problem) {
      draw_problem(ui, *view->drums_problem);
    } else if (drums_ != nullptr) {
      TableOptions options{.id = "drums", .height = ui.px(240)};
      options.fits_rows = true;
      options.has_filter = false;
      options.link = [](const model::Column& column, const model::Row& row) -> Location {
        if (column.name == "id") return {{}, SegmentThing{{std::get<std::uint64_t>(row[1])}}};
        if (column.name != "name") return {};
        return {"buckets", BucketThing{std::get<std::string>(row[0]), 0}};
      };
      drums_table_.draw(ui, drums_, options);
    }
    draw_heading(ui, "Store");
    draw_fields(ui);
    draw_pins(ui, *view);
  }
  void let_go(Jobs& jobs) override { dashboard_.let_go(jobs); }
  bool export_to(Ui& ui, const std::string& path) override {
    return space_table_.export_to(ui, path);
  }

 private:
  /// Everything but the health is of one look at the file.
  void follow(const model::FileView& view) {
    if (number_ == view.number) return;
    number_ = view.number;
    if (!view.snapshot) return;  // the last values stay
    problem_.reset();
    auto document = model::info_view(*view.snapshot, nullptr, ::getpid(), problem_);
    if (!document) problem_ = document.error();
    if (problem_) {
      fields_.clear();
      drums_.reset();
    } else {
      fields_ = std::move(document->fields);
      drums_ = model::take_table(*document, "drums");
    }
    space_ = std::make_shared<model::TableRows>(model::space_table(view.info, view.segments));
  }

  /// The generation that this program keeps a writer from reusing: one, but for jobs that still
  /// read an older one. Pins are read from the system, so that one that is forgotten here is not
  /// forgotten there.
  void draw_pins(Ui& ui, const model::FileView& view) {
    const auto jobs = ui.jobs.list();
    const auto running = static_cast<std::uint64_t>(std::ranges::count_if(
        jobs, [](const JobInfo& job) { return job.state == JobState::kRunning; }));
    if (const std::pair asked{view.number, running}; pins_of_ != asked) {
      pins_of_ = asked;
      const auto now = Snapshot::open(view.path, {.pin = false});
      auto all = now ? now->pins() : tl::unexpected<Error>(now.error());
      pins_problem_ = all ? std::nullopt : std::optional(all.error());
      pins_ = all ? std::move(*all) : std::vector<PinInfo>();
      std::erase_if(pins_, [](const PinInfo& pin) { return pin.pid != ::getpid(); });
    }
    draw_heading(ui, "Pins of this program");
    if (pins_problem_) return draw_problem(ui, *pins_problem_);
    for (const PinInfo& pin : pins_) {
      draw_field(ui, "generation " + model::format_count(pin.generation.value),
                 "holds back " + model::format_bytes(pin.held_bytes), {}, ui.px(190));
    }
    if (pins_.empty()) draw_paragraph(ui, "none that the system shows", ui.palette.faint);
  }

  /// A bar of all bytes by kind, and the same as numbers.
  void draw_space(Ui& ui, const model::FileView& view) {
    draw_heading(ui, "Where the bytes are");
    if (space_ == nullptr) {
      draw_paragraph(ui, "not known: no generation can be opened", ui.palette.faint);
      return;
    }
    const auto shares = model::space_shares(view.info, view.segments);
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = ui.px(22);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const auto all = static_cast<double>(std::max<std::uint64_t>(view.info.file_bytes, 1));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), ui.palette.raised);
    double sum = 0;
    for (const model::SpaceShare& share : shares) {
      const auto left = static_cast<float>(sum / all) * width;
      sum += static_cast<double>(share.allocated_bytes);
      const auto right = static_cast<float>(sum / all) * width;
      const ImVec2 low(at.x + left, at.y);
      const ImVec2 high(at.x + std::max(right, left + 1), at.y + height);
      list.AddRectFilled(low, high, space_colour(ui.palette, share.name, share.kind));
      if (share.name == "free") list.AddRect(low, high, ui.palette.faint);
      if (ImGui::IsMouseHoveringRect(low, high)) {
        ImGui::BeginTooltip();
        draw_text(ui, share.name + "  " + model::format_bytes(share.allocated_bytes));
        ImGui::EndTooltip();
      }
    }
    ImGui::Dummy(ImVec2(width, height + ui.px(4)));
    TableOptions options{.id = "space"};
    options.fits_rows = true;
    options.has_filter = false;
    options.has_swatches = true;
    space_table_.draw(ui, space_, options);
  }

  void draw_fields(Ui& ui) {
    if (problem_) return draw_problem(ui, *problem_);
    for (const model::Field& field : fields_) {
      Thing thing;
      if (field.name == "generation") {
        thing = GenerationThing{{std::get<std::uint64_t>(field.value)}};
      }
      draw_field(ui, field.name, model::format_cell(field.value, field.unit), thing, ui.px(190));
    }
  }

  Dashboard dashboard_;
  std::uint64_t number_ = 0;
  std::vector<model::Field> fields_;
  std::optional<Error> problem_;
  std::shared_ptr<const model::TableSource> drums_;
  std::shared_ptr<const model::TableSource> space_;
  std::pair<std::uint64_t, std::uint64_t> pins_of_;  // number of the view, jobs that run
  std::vector<PinInfo> pins_;                        // of this process
  std::optional<Error> pins_problem_;
  Table64 drums_table_;
  Table64 space_table_;
};

}  // namespace

std::unique_ptr<Panel> make_overview_panel() {
  return std::make_unique<OverviewPanel>();
}

}  // namespace crawlstore::inspector
