// SPDX-License-Identifier: Apache-2.0
// Edits that wait in the file for the next superstep.
#include <algorithm>
#include <utility>

#include <imgui.h>

#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/event_rows.h"
#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

/// Edits that are in memory at a time.
constexpr std::uint64_t kPieceRows = 100'000;

class EventsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "events");
    if (pages == nullptr) return let_go(ui.jobs);
    const std::uint64_t count = pages->info().event_count;
    std::string text = model::format_counted(count, "edit") +
                       " waiting for the next superstep. What a live writer still keeps in memory "
                       "is not in the file.";
    draw_paragraph(ui, text, ui.palette.faint);
    // The merge of a superstep takes them away.
    first_ = std::min(first_, last_piece(count));
    if (count > kPieceRows) draw_pieces(ui, count);
    ask(ui, *pages);
    const auto& found = *found_;
    if (found == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (found->problem) return draw_problem(ui, *found->problem);
    TableOptions options{.id = "events"};
    options.is_main = true;
    options.pages = choice_.name();
    options.choose = [&](const model::Row& row) { go_to_page(ui, *pages, row); };
    table_.draw(ui, found->rows, options);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("events");
    *found_ = nullptr;
    asked_.reset();
  }
  /// A row is an edit by its number.
  void show(const Thing& thing) override {
    const auto* row = std::get_if<RowThing>(&thing);
    if (row == nullptr) return;
    first_ = row->row / kPieceRows * kPieceRows;
    table_.set_filter({});
    table_.select(row->row - first_);
  }
  [[nodiscard]] std::string view_state() const override {
    return std::to_string(first_) + "\n" + table_.view_state();
  }
  void restore(std::string_view state) override {
    const auto end = state.find('\n');
    if (end == state.npos) return;
    const std::uint64_t first = model::parse_count(state.substr(0, end)).value_or(0);
    first_ = first / kPieceRows * kPieceRows;
    table_.restore(state.substr(end + 1));
  }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  /// The findings of a job, shared with it.
  struct Found {
    std::shared_ptr<const model::TableSource> rows;
    std::optional<Error> problem;
  };

  static std::uint64_t last_piece(std::uint64_t count) {
    return count == 0 ? 0 : (count - 1) / kPieceRows * kPieceRows;
  }

  /// Draws which of them are in the table, and the way to the others.
  void draw_pieces(Ui& ui, std::uint64_t count) {
    const std::uint64_t end = std::min(first_ + kPieceRows, count);
    ImGui::AlignTextToFramePadding();
    draw_text(ui, "In the table, its filter and its export: edits " + model::format_count(first_) +
                      " to " + model::format_count(end - 1) + " of 0 to " +
                      model::format_count(count - 1));
    const auto turn = [&](const char* label, const char* text, std::uint64_t first) {
      place_beside(button_width(text));
      ImGui::BeginDisabled(first == first_);
      if (draw_button(ui, label, text)) {
        first_ = first;
        table_.scroll_to_top(0);
      }
      ImGui::EndDisabled();
    };
    turn("events.first", "First", 0);
    turn("events.before", "Before", first_ - std::min(first_, kPieceRows));
    turn("events.next", "Next", std::min(first_ + kPieceRows, last_piece(count)));
    turn("events.last", "Last", last_piece(count));
  }

  /// The shown rows stay until another answer is there.
  void ask(Ui& ui, const PageView& pages) {
    const std::pair wanted{choice_.version(), first_};
    if (asked_ == wanted) return;
    if (asked_ && asked_->second != first_) *found_ = nullptr;
    asked_ = wanted;
    ui.jobs.start("read the edits that wait", "events",
                  [pages, first = first_, box = found_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    const auto progress = [&](auto... at) { return context.progress(at...); };
                    auto rows = model::event_rows(pages, first, kPieceRows, progress);
                    if (rows) {
                      found->rows = std::move(*rows);
                    } else {
                      found->problem = rows.error();
                    }
                    return [box, found] { *box = found; };
                  });
  }

  /// The page that an edit is about, if there is one by now.
  void go_to_page(Ui& ui, const PageView& pages, const model::Row& row) const {
    constexpr std::size_t kPage = 2;
    if (const auto* index = std::get_if<std::uint64_t>(&row[kPage])) {
      return ui.actions.go({"page_detail", PageThing{choice_.name(), *index}});
    }
    const auto found = pages.find(std::get<std::string>(row[kPage]));
    if (!found) ui.actions.meet(found.error());
    if (!found) return ui.actions.say(Severity::kBad, describe(found.error()));
    if (!*found) return ui.actions.say(Severity::kWarning, "there is no such page yet");
    ui.actions.go({"page_detail", PageThing{choice_.name(), **found}});
  }

  PagesChoice choice_;
  std::uint64_t first_ = 0;  // edit of the table's first row; a multiple of kPieceRows
  std::optional<std::pair<std::uint64_t, std::uint64_t>> asked_;  // version of the choice, first_
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_events_panel() {
  return std::make_unique<EventsPanel>();
}

}  // namespace crawlstore::inspector
