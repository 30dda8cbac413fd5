// SPDX-License-Identifier: Apache-2.0
// Opening a file: a path, what was open lately, and the folders.
#include <algorithm>
#include <filesystem>
#include <map>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/panels/recovery_part.h"
#include "inspector/ui/table64.h"
#include "model/file_glance.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

namespace fs = std::filesystem;

/// A row of the recent files, but for its path.
struct RecentTexts {
  std::string bytes;
  std::string state;
  std::string hint;
  bool is_gone = false;
  bool is_live = false;
};
struct RecentWidths {
  float bytes = 0;
  float state = 0;
};

/// By path.
using Glances = std::map<std::string, model::FileGlance>;

std::string state_of(const model::FileGlance& glance) {
  if (!glance.problem) {
    return glance.generation ? "generation " + model::format_count(glance.generation->value)
                             : "damaged";
  }
  switch (glance.problem->code) {
    case Errc::kNotFound:
      return "not there";
    case Errc::kNotACrawlFile:
      return "no crawl file";
    case Errc::kOlderVersion:
      return "of an older version";
    case Errc::kNewerVersion:
      return "of a newer version";
    default:
      return "cannot be read";
  }
}

/// Crawl files come first in a folder, then the folders in it, then what else there is.
int rank_of(const model::Row& row) {
  if (std::get<bool>(row[2])) return 1;
  return std::get<std::string>(row[0]).ends_with(".crawl") ? 0 : 2;
}

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

  void draw_problem_of_opening(Ui& ui) {
    if (ui.session.file || ui.session.log.empty()) return;
    const LogEntry& last = ui.session.log.back();
    if (last.severity == Severity::kBad) {
      draw_paragraph(ui, shown_text(last.text), ui.palette.bad);
    }
    if (!ui.session.refused_path.empty()) recovery_.draw(ui);
  }

  /// Looks at the recent files anew when somebody comes here, and not more often than this.
  void look_at_recent(Ui& ui) {
    constexpr std::int64_t kAgainAfterUs = 5'000'000;
    if (seen_ != *glances_) {
      seen_ = *glances_;
      looked_us_ = ui.now_us;
    }
    if (looked_at_ == ui.settings.recent && ui.now_us - looked_us_ < kAgainAfterUs) return;
    looked_at_ = ui.settings.recent;
    looked_us_ = ui.now_us;
    ui.jobs.start("look at recent files", "recent",
                  [paths = looked_at_, box = glances_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Glances>();
                    for (const std::string& path : paths) {
                      if (context.is_cancelled()) return nullptr;
                      found->emplace(path, model::glance_at(path));
                    }
                    return [box, found] { *box = found; };
                  });
  }

  void draw_recent(Ui& ui) {
    if (ui.settings.recent.empty()) return;
    draw_heading(ui, "Lately");
    look_at_recent(ui);
    RecentWidths widths;
    std::vector<RecentTexts> texts;
    for (const std::string& path : ui.settings.recent) {
      texts.push_back(texts_of(path));
      widths.bytes = std::max(widths.bytes, text_width(texts.back().bytes));
      widths.state = std::max(widths.state, text_width(texts.back().state));
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      draw_recent_file(ui, i, texts[i], widths);
      ImGui::PopID();
    }
  }

  RecentTexts texts_of(const std::string& path) const {
    if (seen_ == nullptr) return {};
    const auto found = seen_->find(path);
    if (found == seen_->end()) return {};
    const model::FileGlance& glance = found->second;
    RecentTexts texts{{}, state_of(glance), {}, false, glance.has_writer};
    texts.is_gone = glance.problem && glance.problem->code == Errc::kNotFound;
    if (!glance.problem) texts.bytes = model::format_bytes(glance.file_bytes);
    if (glance.problem) texts.hint = describe(*glance.problem);
    if (glance.has_writer) texts.hint = "a writer has this file open";
    return texts;
  }

  static void draw_recent_file(Ui& ui, std::size_t i, const RecentTexts& texts,
                               const RecentWidths& widths) {
    const std::string& path = ui.settings.recent[i];
    const std::string label = "recent[" + std::to_string(i) + "]";
    const float left = ImGui::GetCursorPosX();
    // Behind "##" ImGui shows nothing, so the path is drawn upon it.
    const bool is_clicked = ImGui::Selectable("##recent");
    ui.probe.note_item(label, shown_text(path));
    if (take_stop(ui, label) || is_clicked) ui.actions.open(path);
    if (ImGui::IsItemHovered() && !texts.hint.empty()) {
      ImGui::BeginTooltip();
      draw_text(ui, texts.hint);
      ImGui::EndTooltip();
    }
    const float line = ImGui::GetTextLineHeight();
    if (texts.is_live) {
      const ImVec2 low = ImGui::GetItemRectMin();
      const float middle = (low.y + ImGui::GetItemRectMax().y) / 2;
      ImGui::GetWindowDrawList()->AddCircleFilled(ImVec2(low.x + line / 2, middle), line * 0.28F,
                                                  ui.palette.good);
      ui.probe.note(label + ".live", "live", low, ImVec2(low.x + line, low.y + line));
    }
    const float right = ImGui::GetContentRegionMax().x;
    const float gap = ui.px(16);
    const float state_left = right - widths.state;
    const float bytes_right = state_left - gap;
    float path_right = bytes_right - widths.bytes - gap;
    const bool has_room = path_right > left + ui.px(160);
    if (!has_room) path_right = right;
    ImGui::SameLine(left + line + ui.px(4));
    const float room = path_right - ImGui::GetCursorPosX();
    draw_text(ui, fit_middle(ui, shown_text(path), room),
              texts.is_gone ? ui.palette.faint : ui.palette.text);
    if (!has_room || texts.state.empty()) return;
    ImGui::SameLine(bytes_right - text_width(texts.bytes));
    draw_text(ui, texts.bytes, ui.palette.faint);
    ui.probe.note_item(label + ".bytes", texts.bytes);
    ImGui::SameLine(state_left);
    draw_text(ui, texts.state, ui.palette.faint);
    ui.probe.note_item(label + ".state", texts.state);
  }

  /// The entries of a folder, read when it is entered.
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
      return rank_of(a) != rank_of(b) ? rank_of(a) < rank_of(b) : model::is_less(a[0], b[0]);
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

  // Shared with the job that fills it, which may outlive the panel.
  std::shared_ptr<std::shared_ptr<const Glances>> glances_ =
      std::make_shared<std::shared_ptr<const Glances>>();
  std::shared_ptr<const Glances> seen_;
  std::vector<std::string> looked_at_;
  std::int64_t looked_us_ = 0;
  RecoveryPart recovery_;
  std::string path_;
  std::string folder_;
  std::string problem_;
  std::shared_ptr<const model::TableSource> entries_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_start_panel() {
  return std::make_unique<StartPanel>();
}

}  // namespace crawlstore::inspector
