// SPDX-License-Identifier: Apache-2.0
// Hosts with how many pages they have, counted in the background.
#include <imgui.h>

#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/host_rows.h"

namespace crawlstore::inspector {
namespace {

/// Up to so many pages hosts are counted again for each generation; above, when asked to.
constexpr std::uint64_t kFollowedPagesMax = 200'000;

class HostsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "hosts");
    if (pages != nullptr && !pages->info().has_urls) {
      return draw_paragraph(ui, "Pages have no URLs here, and so no hosts.", ui.palette.faint);
    }
    if (pages != nullptr) draw_tools(ui, *pages, view->info.generation);
    const auto& found = *found_;
    if (found == nullptr) {
      if (pages != nullptr) draw_text(ui, "counting ...", ui.palette.faint);
      return;
    }
    if (found->problem) return draw_problem(ui, *found->problem);
    TableOptions options{.id = "hosts"};
    options.pages = choice_.name();
    options.bars = {"page_count"};
    options.choose = [&ui, name = choice_.name()](const model::Row& row) {
      ui.actions.go({"pages", HostThing{name, std::get<std::string>(row.front())}});
    };
    table_.draw(ui, found->rows, options);
  }
  void let_go(Jobs& /*jobs*/) override {}

  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override { table_.restore(state); }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  /// What a job finds out, shared with it.
  struct Found {
    Generation generation;
    std::shared_ptr<const model::RowSource> rows;
    std::optional<Error> problem;
  };

  void draw_tools(Ui& ui, const PageView& pages, Generation generation) {
    const bool is_first = counted_name_ != choice_.name() || counted_version_ == 0;
    const bool is_other = counted_version_ != choice_.version();
    if (is_first || (is_other && pages.info().page_count <= kFollowedPagesMax)) {
      if (is_first) *found_ = nullptr;
      start(ui, pages, generation);
    }
    if (*found_ == nullptr || (*found_)->generation == generation || !(*found_)->rows) return;
    const std::string text = "as of generation " + model::format_count((*found_)->generation.value);
    draw_text(ui, text, ui.palette.faint);
    place_beside(button_width("Count again"));
    if (draw_button(ui, "hosts.count", "Count again")) start(ui, pages, generation);
  }

  void start(Ui& ui, const PageView& pages, Generation generation) {
    counted_name_ = choice_.name();
    counted_version_ = choice_.version();
    ui.jobs.start("count the pages of hosts", "hosts",
                  [pages, generation, box = found_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    found->generation = generation;
                    auto table = model::hosts_table(
                        pages, [&](auto... at) { return context.progress(at...); });
                    if (table) {
                      found->rows = std::make_shared<model::TableRows>(std::move(*table));
                    } else {
                      found->problem = table.error();
                    }
                    return [box, found] { *box = found; };
                  });
  }

  PagesChoice choice_;
  std::string counted_name_;
  std::uint64_t counted_version_ = 0;
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_hosts_panel() {
  return std::make_unique<HostsPanel>();
}

}  // namespace crawlstore::inspector
