// SPDX-License-Identifier: Apache-2.0
// A frontier: its groups with why they are not due, the next minutes, leases about to end, items
// whose time has not come; of a chosen group its items.
#include <algorithm>
#include <array>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/frontier_group.h"
#include "inspector/ui/panels/frontier_load.h"
#include "inspector/ui/panels/frontier_timeline.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/frontier_rule.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

/// Groups up to which a table is made anew each second, and is sorted as a whole.
constexpr std::size_t kTickedGroupsMax = 10'000;
constexpr std::uint64_t kRowsTickMs = 1000;
constexpr std::int64_t kRedrawUs = 1'000'000;

enum class FrontierPart : std::uint8_t { kGroups, kLeases, kLater };
constexpr std::size_t kFrontierParts = 3;

std::string from_now(std::uint64_t now_ms, std::uint64_t time_ms) {
  return model::format_cell(model::seconds_from(now_ms, time_ms), model::Unit::kFromNow);
}

class FrontierPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    if (!view->snapshot && view->problem) {
      let_go(ui.jobs);
      return draw_problem(ui, *view->problem);
    }
    if (view->frontiers_problem) draw_problem(ui, *view->frontiers_problem);
    if (view->frontiers.empty()) {
      if (view->frontiers_problem) return;
      draw_paragraph(ui,
                     "There is no frontier: `crawlstore frontier FILE --put INPUT` makes one, of "
                     "lines GROUP TAB PRIORITY TAB BODY.",
                     ui.palette.faint);
      return draw_link(ui, "frontier.segments", "Segments", {"segments", {}});
    }
    const FrontierInfo& info = draw_choice_of(ui, view->frontiers);
    if (view->snapshot) load_.ask(ui, *view, info);
    load_.draw_state(ui);
    const auto loaded = load_.loaded();
    if (loaded == nullptr) return;
    if (loaded->problem) return draw_problem(ui, *loaded->problem);
    const std::uint64_t now_ms = loaded->look->info.time_at_ms(ui.now_us);
    ui.actions.redraw_at(ui.now_us + kRedrawUs);
    draw_facts(ui, *view, *loaded, now_ms);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    draw_timeline(ui, "frontier.interval", model::timeline_at(*loaded->look, now_ms),
                  ImVec2(room.x, std::clamp(room.y * 0.22F, ui.px(84), ui.px(150))));
    draw_parts(ui, *loaded->look, now_ms);
    make_rows(*loaded, now_ms);
    if (part_ == FrontierPart::kGroups) return draw_groups(ui, *loaded, now_ms);
    draw_items(ui, *loaded->look, now_ms);
  }

  void let_go(Jobs& jobs) override {
    load_.let_go(jobs);
    group_part_.let_go(jobs);
  }
  void show(const Thing& thing) override {
    const auto* frontier = std::get_if<FrontierThing>(&thing);
    if (frontier == nullptr) return;
    if (frontier->name != name_) group_.reset();
    name_ = frontier->name;
    if (!frontier->group) return;
    group_ = frontier->group;
    part_ = FrontierPart::kGroups;
    tables_[0].set_filter({});
    must_select_ = true;
  }
  /// A key may be of several lines: it stands as in a location.
  [[nodiscard]] std::string view_state() const override {
    return format_location({{}, FrontierThing{name_, group_}}) + "\n" +
           std::to_string(static_cast<int>(part_)) + "\n" + table().view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<2>(state);
    if (!lines) return;
    const auto location = parse_location((*lines)[0]);
    const auto* thing = location ? std::get_if<FrontierThing>(&location->thing) : nullptr;
    if (thing != nullptr) {
      name_ = thing->name;
      group_ = thing->group;
      must_select_ = group_.has_value();
    }
    part_ = static_cast<FrontierPart>(
        std::min<std::uint64_t>(kFrontierParts - 1, model::parse_count((*lines)[1]).value_or(0)));
    table().restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override { return table().export_to(ui, path); }

 private:
  /// The one with most items until another is chosen.
  const FrontierInfo& draw_choice_of(Ui& ui, const std::vector<FrontierInfo>& frontiers) {
    if (std::ranges::find(frontiers, name_, &FrontierInfo::name) == frontiers.end()) {
      name_ = std::ranges::max_element(frontiers, {}, &FrontierInfo::waiting_count)->name;
    }
    const FrontierInfo& chosen = draw_names(ui, "frontier.name.", frontiers, name_);
    if (chosen.name != name_) {
      group_.reset();
      ui.actions.go({"frontier", FrontierThing{chosen.name}});
    }
    name_ = chosen.name;
    return chosen;
  }

  static void draw_facts(Ui& ui, const model::FileView& view, const LoadedFrontier& loaded,
                         std::uint64_t now_ms) {
    const model::FrontierLook& look = *loaded.look;
    const FrontierInfo& info = look.info;
    std::string text = model::format_counted(info.group_count, "group") + "; " +
                       model::format_counted(info.waiting_count, "item") +
                       (info.waiting_count == 1 ? " waits" : " wait") + ", of which " +
                       model::format_count(look.later_ms.size()) + " later; " +
                       model::format_count(info.leased_count) + " leased; " +
                       model::format_bytes(info.allocated_bytes) + " in " +
                       model::format_counted(info.run_count, "run");
    if (loaded.generation != view.info.generation) {
      text += " (of generation " + model::format_count(loaded.generation.value) + ")";
    }
    draw_paragraph(ui, text, ui.palette.text);
    const std::string segment = "segment " + std::to_string(info.id.value);
    place_beside(text_width(segment), ui.px(16));
    draw_link(ui, "frontier.segment", segment, {{}, SegmentThing{info.id}});
    text =
        "clock " +
        (info.clock_ms == 0 ? std::string("not set yet")
                            : model::format_time(static_cast<std::int64_t>(info.clock_ms * 1000)) +
                                  ", " + from_now(now_ms, info.clock_ms)) +
        "; next due " +
        (look.next_due_ms ? from_now(now_ms, std::max(*look.next_due_ms, now_ms)) : "never") +
        "; rule by default: " + model::format_rule(info.default_rule);
    draw_paragraph(ui, text, ui.palette.faint);
  }

  static std::uint64_t overdue_of(const model::FrontierLook& look, std::uint64_t now_ms) {
    const auto end = std::ranges::upper_bound(look.lease_ends_ms, now_ms);
    return static_cast<std::uint64_t>(end - look.lease_ends_ms.begin());
  }

  void draw_parts(Ui& ui, const model::FrontierLook& look, std::uint64_t now_ms) {
    const std::uint64_t overdue_count = overdue_of(look, now_ms);
    std::string leases =
        "Leases " + model::format_count(look.lease_ends_ms.size() + look.endless_count);
    if (overdue_count > 0) leases += ", " + model::format_count(overdue_count) + " overdue";
    const std::array<std::tuple<FrontierPart, const char*, std::string>, kFrontierParts> titles{
        {{FrontierPart::kGroups, "frontier.groups",
          "Groups " + model::format_count(look.groups.size())},
         {FrontierPart::kLeases, "frontier.leases", leases},
         {FrontierPart::kLater, "frontier.later",
          "Later " + model::format_count(look.later_ms.size())}}};
    for (const auto& [part, label, text] : titles) {
      if (part != FrontierPart::kGroups) place_beside(choice_width(text));
      if (draw_choice(ui, label, text, part_ == part)) part_ = part;
    }
  }

  template <class Self>
  static auto& table_of(Self& self) {
    return self.tables_[static_cast<std::size_t>(self.part_)];
  }
  [[nodiscard]] const Table64& table() const { return table_of(*this); }
  Table64& table() { return table_of(*this); }

  /// Times are seen from the moment in which rows are made: for a new look, and each second unless
  /// that would filter, sort, or search a long table again.
  void make_rows(const LoadedFrontier& loaded, std::uint64_t now_ms) {
    const auto& look = loaded.look;
    const bool is_new = look != look_;
    const bool is_small = look->groups.size() <= kTickedGroupsMax;
    const bool is_tick = now_ms >= shown_ms_ + kRowsTickMs && table().is_in_order() &&
                         (is_small || part_ != FrontierPart::kGroups);
    if (!is_new && !is_tick) return;
    // Rows of a long table are not looked up in another one.
    if (is_new && !is_small) tables_[0].clear_selection();
    look_ = look;
    shown_ms_ = now_ms;
    rows_ = {model::group_rows(look, now_ms, is_small),
             model::rows_from_now(loaded.leases, {"until_us", "ends_in_seconds"}, now_ms),
             model::rows_from_now(loaded.later, {"not_before_us", "due_in_seconds"}, now_ms)};
  }

  void draw_groups(Ui& ui, const LoadedFrontier& loaded, std::uint64_t now_ms) {
    const auto& rows = rows_[0];
    draw_age(ui, now_ms);
    if (must_select_ && group_) {
      tables_[0].clear_selection();
      if (rows->is_in_memory()) tables_[0].select_where(rows, "group", *group_);
      selected_ = *group_;
    }
    must_select_ = false;
    TableOptions options{.id = "groups"};
    options.is_main = true;
    options.bars = {"waiting_count"};
    options.choose = [this](const model::Row& row) { choose(row); };
    if (group_) {
      options.height = std::max(ImGui::GetContentRegionAvail().y * 0.45F, ui.px(120));
      options.fits_rows = true;
    }
    tables_[0].draw(ui, rows, options);
    const auto& row = tables_[0].selected_row();
    if (row && std::get<std::string>(row->front()) != selected_) choose(*row);
    if (!group_) return;
    if (group_part_.draw(ui, loaded, *group_, now_ms)) return;
    group_.reset();
    tables_[0].clear_selection();
    ui.actions.redraw();
  }

  void choose(const model::Row& row) {
    selected_ = std::get<std::string>(row.front());
    group_ = selected_;
  }

  /// Says from when the times of a table are that is not made anew each second.
  void draw_age(Ui& ui, std::uint64_t now_ms) const {
    if (now_ms < shown_ms_ + 2 * kRowsTickMs) return;
    draw_text(ui, "times of the table: as seen " + from_now(now_ms, shown_ms_), ui.palette.faint);
  }

  void draw_items(Ui& ui, const model::FrontierLook& look, std::uint64_t now_ms) {
    const bool is_of_leases = part_ == FrontierPart::kLeases;
    const auto& rows = rows_[static_cast<std::size_t>(part_)];
    const std::uint64_t count =
        is_of_leases ? look.lease_ends_ms.size() + look.endless_count : look.later_ms.size();
    std::string text = is_of_leases ? "those that end first in front, those without an end last"
                                    : "those whose time comes first in front";
    if (count > rows->row_count()) {
      text = "the first " + model::format_count(rows->row_count()) + ", " + text;
    }
    if (is_of_leases && overdue_of(look, now_ms) > 0) {
      text += "; what is overdue waits again as soon as a writer takes";
    }
    draw_paragraph(ui, text, ui.palette.faint);
    draw_age(ui, now_ms);
    TableOptions options{.id = rows->name()};
    options.is_main = true;
    options.link = [this](const model::Column& column, const model::Row& row) {
      constexpr std::size_t kGroup = 1;
      if (column.name != "group") return Location{};
      return Location{"frontier", FrontierThing{name_, std::get<std::string>(row[kGroup])}};
    };
    table().draw(ui, rows, options);
  }

  std::string name_;                  // of the frontier
  std::optional<std::string> group_;  // key of the group that is shown
  std::string selected_;              // key of the row that was selected last
  bool must_select_ = false;          // the row of group_, when there are rows
  FrontierPart part_ = FrontierPart::kGroups;
  FrontierLoad load_;
  FrontierGroupPart group_part_;
  std::shared_ptr<const model::FrontierLook> look_;  // that rows_ are of
  std::uint64_t shown_ms_ = 0;                       // from which their times are seen
  std::array<std::shared_ptr<const model::TableSource>, kFrontierParts> rows_;
  std::array<Table64, kFrontierParts> tables_;  // by FrontierPart
};

}  // namespace

std::unique_ptr<Panel> make_frontier_panel() {
  return std::make_unique<FrontierPanel>();
}

}  // namespace crawlstore::inspector
