// SPDX-License-Identifier: Apache-2.0
// Opening a file: a path, what was open lately, and the folders.
#include <algorithm>
#include <filesystem>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"

namespace crawlstore::inspector {
namespace {

namespace fs = std::filesystem;

class StartPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    draw_heading(ui, "Open a crawl file");
    draw_path(ui);
    draw_problem_of_opening(ui);
    draw_recent(ui);
    draw_heading(ui, "Folders");
    draw_folder(ui);
  }
  void let_go(Jobs& /*jobs*/) override {}

 private:
  void draw_path(Ui& ui) {
    ImGui::SetNextItemWidth(
        std::max(ui.px(80), ImGui::GetContentRegionAvail().x - button_width("Open") - ui.px(8)));
    const bool is_entered =
        draw_input(ui, "start.path", "path of a file; or drop one on the window", path_);
    place_beside(button_width("Open"));
    if (draw_button(ui, "start.open", "Open") || is_entered) {
      if (!path_.empty()) ui.actions.open(path_);
    }
  }

  static void draw_problem_of_opening(Ui& ui) {
    if (ui.session.file || ui.session.log.empty()) return;
    const LogEntry& last = ui.session.log.back();
    if (last.severity == Severity::kBad) {
      draw_paragraph(ui, shown_text(last.text), ui.palette.bad);
    }
  }

  static void draw_recent(Ui& ui) {
    if (ui.settings.recent.empty()) return;
    draw_heading(ui, "Lately");
    for (std::size_t i = 0; i < ui.settings.recent.size(); ++i) {
      const std::string& path = ui.settings.recent[i];
      ImGui::PushID(static_cast<int>(i));
      const std::string label = "recent[" + std::to_string(i) + "]";
      const float left = ImGui::GetCursorPosX();
      // Behind "##" ImGui shows nothing, so the path is drawn upon it.
      const bool is_clicked = ImGui::Selectable("##recent");
      ui.probe.note_item(label, shown_text(path));
      if (take_stop(ui, label) || is_clicked) ui.actions.open(path);
      ImGui::SameLine(left);
      draw_text(ui, fit_text(ui, shown_text(path), ImGui::GetContentRegionAvail().x));
      ImGui::PopID();
    }
  }

  /// The entries of a folder, read when it is entered: names, folders first.
  void read_folder(const std::string& folder) {
    folder_ = folder;
    model::Table table{"files",
                       {{"name", model::Unit::kText},
                        {"bytes", model::Unit::kBytes},
                        {"is_folder", model::Unit::kFlag}},
                       {}};
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      std::error_code ignored;
      const bool is_folder = at->is_directory(ignored);
      const std::uint64_t bytes = is_folder ? 0 : at->file_size(ignored);
      table.rows.push_back({at->path().filename().string(),
                            is_folder || ignored ? model::Cell{} : model::Cell{bytes}, is_folder});
    }
    problem_ = error ? folder + ": " + error.message() : "";
    std::ranges::sort(table.rows, [](const model::Row& a, const model::Row& b) {
      const bool a_folder = std::get<bool>(a[2]);
      const bool b_folder = std::get<bool>(b[2]);
      return a_folder != b_folder ? a_folder : model::is_less(a[0], b[0]);
    });
    entries_ = std::make_shared<model::TableRows>(std::move(table));
  }

  void draw_folder(Ui& ui) {
    if (entries_ == nullptr) {
      std::error_code ignored;
      read_folder(fs::current_path(ignored).string());
    }
    if (draw_button(ui, "start.up", "Up", "the folder above")) {
      read_folder(fs::path(folder_).parent_path().string());
    }
    const std::string folder = shown_text(folder_);
    place_beside(text_width(folder));
    draw_paragraph(ui, folder, ui.palette.faint);
    if (!problem_.empty()) draw_paragraph(ui, shown_text(problem_), ui.palette.bad);
    TableOptions options{.id = "files"};
    std::string entered;
    options.choose = [&](const model::Row& row) {
      const std::string path = (fs::path(folder_) / std::get<std::string>(row[0])).string();
      if (std::get<bool>(row[2])) {
        entered = path;
      } else {
        ui.actions.open(path);
      }
    };
    table_.draw(ui, entries_, options);
    if (!entered.empty()) read_folder(entered);
  }

  std::string path_;
  std::string folder_;
  std::string problem_;
  std::shared_ptr<const model::RowSource> entries_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_start_panel() {
  return std::make_unique<StartPanel>();
}

}  // namespace crawlstore::inspector
