// SPDX-License-Identifier: Apache-2.0
// Commits as they are seen, pins with what they hold back, and what is held.
#include <unistd.h>

#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/generations_view.h"
#include "model/process_name.h"
#include "model/store_view.h"

namespace crawlstore::inspector {
namespace {

class GenerationsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    follow(*view, ui.session);
    draw_heading(ui, "Superblocks: two copies of two generations");
    if (copies_problem_) {
      draw_problem(ui, *copies_problem_);
    } else {
      draw_table(ui, copies_table_, copies_, "superblocks", 0);
    }
    draw_heading(ui, "Pins: generations that others read, and what that keeps from reuse");
    if (problem_) {
      draw_problem(ui, *problem_);
    } else if (pins_ == nullptr) {
      draw_paragraph(ui, "not known: no generation can be opened", ui.palette.faint);
    } else {
      draw_paragraph(ui,
                     ui.session.is_leaving ? "This window pins nothing now."
                                           : "This window pins generation " +
                                                 model::format_count(view->info.generation.value) +
                                                 "; it lets go after a minute without input.",
                     ui.palette.faint);
      draw_table(ui, pins_table_, pins_, "pins", ui.px(180));
    }
    if (held_ != nullptr) {
      draw_heading(ui, "Held: extents kept for generations before this one");
      draw_table(ui, held_table_, held_, "held", ImGui::GetContentRegionAvail().y * 0.5F);
    }
    draw_heading(ui, "Commits seen by this window");
    draw_table(ui, commits_table_, commits_, "commits", 0);
  }
  void let_go(Jobs& /*jobs*/) override {}

 private:
  static void draw_table(Ui& ui, Table64& table,
                         const std::shared_ptr<const model::TableSource>& rows, std::string id,
                         float height) {
    TableOptions options{.id = std::move(id), .height = height};
    options.fits_rows = true;
    options.has_filter = false;
    table.draw(ui, rows, options);
  }

  void follow(const model::FileView& view, const Session& session) {
    if (number_ == view.number) return;
    number_ = view.number;
    list_commits(session, !view.pages.empty());
    const auto copies = generations(view.path);
    copies_problem_ = copies ? std::nullopt : std::optional(copies.error());
    if (copies) copies_ = std::make_shared<model::TableRows>(model::superblocks_table(*copies));
    if (!view.snapshot) return;
    problem_.reset();
    auto document = model::pins_view(*view.snapshot, {}, ::getpid(), model::process_name);
    if (document) {
      pins_ = model::take_table(*document, "pins");
    } else {
      problem_ = document.error();
    }
    held_ = std::make_shared<model::TableRows>(model::held_table(view.snapshot->held()));
  }

  void list_commits(const Session& session, bool has_pages) {
    model::Table table{"commits",
                       {{"generation", model::Unit::kId},
                        {"commit_time_us", model::Unit::kTimeUs},
                        {"key_delta", model::Unit::kId},
                        {"pending_delta", model::Unit::kId},
                        {"file_bytes_delta", model::Unit::kId}},
                       {}};
    if (has_pages) {
      table.columns.push_back({"page_delta", model::Unit::kId});
      table.columns.push_back({"link_delta", model::Unit::kId});
    }
    for (auto commit = session.commits.rbegin(); commit != session.commits.rend(); ++commit) {
      model::Row& row = table.rows.emplace_back();
      row.emplace_back(commit->generation.value);
      row.emplace_back(commit->commit_time_us);
      row.emplace_back(commit->key_delta);
      row.emplace_back(commit->pending_delta);
      row.emplace_back(commit->file_bytes_delta);
      if (!has_pages) continue;
      row.emplace_back(commit->page_delta);
      row.emplace_back(commit->link_delta);
    }
    commits_ = std::make_shared<model::TableRows>(std::move(table));
  }

  std::uint64_t number_ = 0;
  std::optional<Error> problem_;
  std::optional<Error> copies_problem_;
  std::shared_ptr<const model::TableSource> copies_;
  Table64 copies_table_;
  std::shared_ptr<const model::TableSource> pins_;
  std::shared_ptr<const model::TableSource> held_;
  std::shared_ptr<const model::TableSource> commits_;
  Table64 pins_table_;
  Table64 held_table_;
  Table64 commits_table_;
};

}  // namespace

std::unique_ptr<Panel> make_generations_panel() {
  return std::make_unique<GenerationsPanel>();
}

}  // namespace crawlstore::inspector
