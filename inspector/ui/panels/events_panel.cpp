// SPDX-License-Identifier: Apache-2.0
// Edits that wait in the file for the next superstep.
#include <imgui.h>

#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/event_rows.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::uint64_t kRowsMax = 100'000;

class EventsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "events");
    if (pages == nullptr) return let_go();
    const std::uint64_t count = pages->info().event_count;
    std::string text = model::format_counted(count, "edit") +
                       " waiting for the next superstep. What a live writer still keeps in memory "
                       "is not in the file.";
    if (count > kRowsMax) text += " The first " + model::format_count(kRowsMax) + " are shown.";
    draw_paragraph(ui, text, ui.palette.faint);
    ask(ui, *pages);
    const auto& found = *found_;
    if (found == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (found->problem) return draw_problem(ui, *found->problem);
    TableOptions options{.id = "events"};
    options.pages = choice_.name();
    options.choose = [&](const model::Row& row) { go_to_page(ui, *pages, row); };
    table_.draw(ui, found->rows, options);
  }

  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override { table_.restore(state); }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  /// What a job finds out, shared with it.
  struct Found {
    std::shared_ptr<const model::RowSource> rows;
    std::optional<Error> problem;
  };

  void let_go() {
    *found_ = nullptr;
    asked_ = 0;
    table_.drop_source();
  }

  /// What is shown stays until another answer is there.
  void ask(Ui& ui, const PageView& pages) {
    if (asked_ == choice_.version()) return;
    asked_ = choice_.version();
    ui.jobs.start("read the edits that wait", "events",
                  [pages, box = found_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    auto rows = model::event_rows(
                        pages, kRowsMax, [&](auto... at) { return context.progress(at...); });
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
    if (!found) return ui.actions.say(Severity::kBad, describe(found.error()));
    if (!*found) return ui.actions.say(Severity::kWarning, "there is no such page yet");
    ui.actions.go({"page_detail", PageThing{choice_.name(), **found}});
  }

  PagesChoice choice_;
  std::uint64_t asked_ = 0;  // version of the choice
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_events_panel() {
  return std::make_unique<EventsPanel>();
}

}  // namespace crawlstore::inspector
