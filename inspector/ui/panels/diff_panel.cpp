// SPDX-License-Identifier: Apache-2.0
// What changed between two states of this file, or of two files: a sentence, then tables.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/label.h"
#include "model/store_diff.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kDiffRowsMax = 100'000;  // of each list

/// Tables, by their names in the document, in the order of their tabs.
struct DiffTab {
  std::string_view table;
  std::string_view title;
};
constexpr std::array kTabs{DiffTab{"pages", "pages"},
                           DiffTab{"hosts", "hosts"},
                           DiffTab{"links", "links"},
                           DiffTab{"page_links", "pages by links"},
                           DiffTab{"edits", "edits"},
                           DiffTab{"scores", "scores"},
                           DiffTab{"queues", "queues"},
                           DiffTab{"frontiers", "frontiers"},
                           DiffTab{"frontier_items", "frontier items"},
                           DiffTab{"frontier_groups", "groups"},
                           DiffTab{"keys", "keys"},
                           DiffTab{"requests", "requests"},
                           DiffTab{"segments", "segments"},
                           DiffTab{"buckets", "buckets"},
                           DiffTab{"page_databases", "databases"},
                           DiffTab{"drums", "DRUMs"},
                           DiffTab{"small_values", "small values"}};

/// One side of the comparison.
struct DiffSide {
  std::string path;  ///< "" = the file that is open
  bool is_previous = false;
  bool operator==(const DiffSide&) const = default;
};

/// The findings of a job.
struct Comparison {
  std::string title;
  std::string sentence;
  std::vector<model::Field> fields;
  std::vector<model::ShownDiff> tables;  // as kTabs
  std::vector<bool> has_changes;         // in them
  std::optional<Error> problem;
  bool is_older = false;  ///< the problem is of the older state
  std::string path;       ///< of that state; "" = the file that is open
};

/// A path that leads nowhere was meant to be one of a file: nobody compares with a new one.
std::string problem_of(const Comparison& found) {
  const std::string path = shown_text(found.path);
  if (found.problem->code == Errc::kNotFound) return "there is no file " + path;
  if (found.problem->code == Errc::kNotACrawlFile) return path + " is not a crawl file";
  return path + ": " + describe(*found.problem);
}

/// The newest generation of the file that is open is the one that is shown.
Result<Snapshot> open_side(const DiffSide& side, const Snapshot& shown, const std::string& path) {
  if (side == DiffSide{}) return shown;
  SnapshotOptions options;
  options.previous = side.is_previous;
  return Snapshot::open(side.path.empty() ? path : side.path, options);
}

/// The tables of scores, queues and frontiers have rows that are alike in both states, too.
bool has_changes(const model::Document& document, std::string_view name) {
  const auto found = std::ranges::find(document.tables, name, &model::Table::name);
  if (found == document.tables.end()) return false;
  return std::ranges::any_of(found->rows, [&](const model::Row& row) {
    if (name == "scores") return row[2] != model::Cell(std::string("equal"));
    if (name == "frontiers") return row[1] != model::Cell(std::string("equal"));
    return name != "queues" || row[1] == model::Cell(true);  // is_different
  });
}

Comparison compare(const Result<Snapshot>& older, const Result<Snapshot>& newer,
                   JobContext& context) {
  Comparison found;
  found.is_older = !older;
  if (!older || !newer) {
    found.problem = older ? newer.error() : older.error();
    return found;
  }
  found.title = "Generation " + model::format_count(older->generation().value) + ", and " +
                model::format_count(newer->generation().value);
  model::StoreDiffOptions options;
  options.view.rows_max = kDiffRowsMax;
  options.view.with_keys = true;
  options.failed = [&found](bool in_new) { found.is_older = !in_new; };
  options.progress = [&context](std::uint64_t done, std::uint64_t total) {
    return context.progress(done, total);
  };
  auto document = model::store_diff(*older, *newer, options);
  if (!document) {
    found.problem = document.error();
    return found;
  }
  found.sentence = model::diff_sentence(*document);
  for (const DiffTab& tab : kTabs) {
    found.has_changes.push_back(has_changes(*document, tab.table));
    found.tables.push_back(model::take_shown_diff(*document, std::string(tab.table)));
  }
  found.fields = std::move(document->fields);
  return found;
}

std::string text_of_folded(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) {
    if (column == "database" || column == "frontier") continue;
    text += (text.empty() ? "Without " : ", ") + model::label_of(column);
  }
  return text.empty() ? text : text + ": these are 0, no or nothing in all rows.";
}

std::size_t first_tab(const Comparison& found) {
  const auto first = std::ranges::find(found.has_changes, true);
  return first == found.has_changes.end()
             ? 0
             : static_cast<std::size_t>(first - found.has_changes.begin());
}

class DiffPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    if (asked_) take_asked(ui, *view);
    draw_question(ui, *view);
    if (!refusal_.empty()) return draw_paragraph(ui, refusal_, ui.palette.warning);
    const auto& found = *found_;
    if (found == nullptr) {
      draw_paragraph(ui, "Nothing has been compared yet.", ui.palette.faint);
      return;
    }
    if (found->problem) {
      draw_text(ui, found->is_older ? "The older state:" : "The newer state:", ui.palette.bad);
      if (found->path.empty()) return draw_problem(ui, *found->problem);
      // No problem of the file that is open, and no place in it.
      return draw_paragraph(ui, problem_of(*found), ui.palette.bad);
    }
    draw_heading(ui, found->title);
    draw_paragraph(ui, found->sentence, ui.palette.text);
    ui.probe.note_item("diff.sentence", found->sentence);
    draw_tables(ui, *found);
  }
  void let_go(Jobs& /*jobs*/) override {}
  /// A generation stands for what its commit changed.
  void show(const Thing& thing) override {
    if (const auto* generation = std::get_if<GenerationThing>(&thing)) {
      asked_ = generation->generation;
    }
  }
  bool export_to(Ui& ui, const std::string& path) override {
    return tables_[shown_].export_to(ui, path);
  }

 private:
  /// Compares, unless that was the last question: a way back finds the answer as it was.
  void take_asked(Ui& ui, const model::FileView& view) {
    const Generation asked = *std::exchange(asked_, std::nullopt);
    refusal_.clear();
    if (asked == compared_) return;
    if (!view.snapshot || !view.info.has_previous || asked != view.info.generation) {
      refusal_ = "What the commit of generation " + model::format_count(asked.value) +
                 " changed can only be told while it is the newest, and the one before is there.";
      return;
    }
    compare_with_previous(ui, view);
  }

  void compare_with_previous(Ui& ui, const model::FileView& view) {
    older_ = {{}, true};
    newer_ = {};
    start(ui, view);
    compared_ = view.info.generation;
  }

  void draw_question(Ui& ui, const model::FileView& view) {
    bool is_entered = draw_side(ui, "older", older_);
    is_entered = draw_side(ui, "newer", newer_) || is_entered;
    ImGui::BeginDisabled(!view.snapshot || older_ == newer_);
    const bool is_clicked = draw_button(ui, "diff.compare", "Compare");
    if ((is_clicked || is_entered) && view.snapshot && older_ != newer_) start(ui, view);
    ImGui::EndDisabled();
    if (older_ == newer_) {
      place_beside(text_width("Both sides are the same state."));
      draw_text(ui, "Both sides are the same state.", ui.palette.faint);
    }
    place_beside(button_width("Compare with the previous generation"), ui.px(16));
    ImGui::BeginDisabled(!view.snapshot || !view.info.has_previous);
    if (draw_button(ui, "diff.previous", "Compare with the previous generation")) {
      compare_with_previous(ui, view);
    }
    ImGui::EndDisabled();
  }

  /// A path, and which of the two generations of it that can be opened. True: Enter was pressed.
  static bool draw_side(Ui& ui, const std::string& name, DiffSide& side) {
    draw_text(ui, name == "older" ? "Older" : "Newer", ui.palette.faint);
    ImGui::SameLine(ui.px(64));
    const float choices =
        choice_width("newest") + choice_width("previous") + button_width("Recent") + ui.px(30);
    ImGui::SetNextItemWidth(std::max(ui.px(120), ImGui::GetContentRegionAvail().x - choices));
    const bool was_this = side.path.empty();
    const bool is_entered = draw_input(ui, "diff." + name, "this file; or a path", side.path);
    place_beside(button_width("Recent"));
    draw_recent(ui, name, side);
    place_beside(choice_width("newest"));
    if (draw_choice(ui, "diff." + name + ".newest", "newest", !side.is_previous)) {
      side.is_previous = false;
    }
    place_beside(choice_width("previous"));
    if (draw_choice(ui, "diff." + name + ".previous", "previous", side.is_previous)) {
      side.is_previous = true;
    }
    // A person who names another file means its newest generation.
    if (was_this && !side.path.empty()) side.is_previous = false;
    return is_entered;
  }

  static void draw_recent(Ui& ui, const std::string& name, DiffSide& side) {
    const std::string popup = "recent." + name;
    if (draw_button(ui, "diff." + name + ".recent", "Recent", "files that were open lately")) {
      ImGui::OpenPopup(popup.c_str());
    }
    if (!ImGui::BeginPopup(popup.c_str())) return;
    if (ImGui::MenuItem("this file")) side.path.clear();
    ui.probe.note_item("diff." + name + ".this", "this file");
    for (const std::string& path : ui.settings.recent) {
      if (ImGui::MenuItem(shown_text(path).c_str())) side.path = path;
    }
    ImGui::EndPopup();
  }

  void start(Ui& ui, const model::FileView& view) {
    compared_.reset();
    refusal_.clear();
    // A person who types the path of this file means this file.
    for (DiffSide* side : {&older_, &newer_}) {
      if (side->path == view.path) side->path.clear();
    }
    ui.jobs.start("compare", "diff",
                  [shown = *view.snapshot, path = view.path, older = older_, newer = newer_,
                   box = found_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Comparison>(compare(
                        open_side(older, shown, path), open_side(newer, shown, path), context));
                    found->path = (found->is_older ? older : newer).path;
                    for (const DiffSide* side : {&older, &newer}) {
                      if (side->path.empty()) continue;
                      const auto file = std::filesystem::path(side->path).filename().string();
                      found->title += (side == &older ? "; older: " : "; newer: ") + file;
                    }
                    const bool is_cancelled =
                        found->problem && found->problem->code == Errc::kCancelled;
                    if (is_cancelled) return nullptr;
                    return [box, found] { *box = found; };
                  });
  }

  void draw_tables(Ui& ui, const Comparison& found) {
    if (drawn_ != *found_) {
      drawn_ = *found_;
      shown_ = first_tab(found);
    }
    bool has_tab = false;
    for (std::size_t i = 0; i < found.tables.size(); ++i) {
      const std::uint64_t count = found.tables[i].rows->row_count();
      // A tab of nothing is in the way; but one that is in front stays.
      if (count == 0 && shown_ != i) continue;
      const std::string text = std::string(kTabs[i].title) + " " + model::format_count(count) +
                               (count == kDiffRowsMax ? "+" : "");
      if (std::exchange(has_tab, true)) place_beside(choice_width(text));
      if (draw_choice(ui, "diff." + std::string(kTabs[i].table), text, shown_ == i)) shown_ = i;
    }
    TableOptions options{.id = "diff_" + std::string(kTabs[shown_].table)};
    options.is_main = true;
    options.has_swatches = kTabs[shown_].table == "segments";
    const model::ShownDiff& shown = found.tables[shown_];
    if (const std::string text = text_of_folded(shown.folded); !text.empty()) {
      draw_paragraph(ui, text, ui.palette.faint);
    }
    if (shown.rows->row_count() == kDiffRowsMax) {
      draw_paragraph(ui,
                     "the first " + model::format_count(kDiffRowsMax) +
                         "; there may be more, and the sentence above counts them all",
                     ui.palette.warning);
    }
    tables_[shown_].draw(ui, shown.rows, options);
  }

  std::optional<Generation> asked_;     // by a location
  std::optional<Generation> compared_;  // with the one before it
  std::string refusal_;                 // why not
  DiffSide older_{{}, true};
  DiffSide newer_;
  std::size_t shown_ = 0;
  std::shared_ptr<const Comparison> drawn_;
  std::array<Table64, kTabs.size()> tables_;
  // Shared with the job that fills it, which may outlive the panel.
  std::shared_ptr<std::shared_ptr<const Comparison>> found_ =
      std::make_shared<std::shared_ptr<const Comparison>>();
};

}  // namespace

std::unique_ptr<Panel> make_diff_panel() {
  return std::make_unique<DiffPanel>();
}

}  // namespace crawlstore::inspector
