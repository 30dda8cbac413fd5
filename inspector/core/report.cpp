// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/report.h"

#include <filesystem>

#include "model/format_text.h"
#include "model/space_view.h"
#include "model/store_view.h"
#include "model/verify_view.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kReportRowsMax = 100;

/// A cell of a Markdown table.
std::string cell_text(const model::Cell& cell, model::Unit unit) {
  std::string text;
  for (const char c : model::format_printable(model::format_cell(cell, unit))) {
    if (c == '|') text += '\\';
    text += c;
  }
  return text;
}

void append_table(std::string& to, const model::Table& table) {
  to += "\n## " + table.name + "\n\n|";
  for (const model::Column& column : table.columns) to += " " + column.name + " |";
  to += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) to += "---|";
  to += "\n";
  for (std::size_t row = 0; row < table.rows.size() && row < kReportRowsMax; ++row) {
    to += "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      to += " " + cell_text(table.rows[row][i], table.columns[i].unit) + " |";
    }
    to += "\n";
  }
  if (table.rows.size() > kReportRowsMax) {
    to += "\n... and " + model::format_count(table.rows.size() - kReportRowsMax) + " more\n";
  }
}

}  // namespace

std::string make_report(const Session& session) {
  const auto view = session.view();
  if (view == nullptr) return "no file is open\n";
  std::string text =
      "# " + model::format_printable(std::filesystem::path(view->path).filename().string()) +
      "\n\n";
  if (view->problem) text += "**" + describe(*view->problem) + "**\n\n";
  text += "- length: " + model::format_bytes(view->info.file_bytes) + "\n";
  if (view->info.generation.value != 0) {
    text += "- format version: " + std::to_string(view->info.format_version) + "\n";
    text += "- uuid: " + to_string(view->info.uuid) + "\n";
    text += "- generation: " + model::format_count(view->info.generation.value) +
            (view->is_previous ? " (the one before the newest)" : "") + ", committed " +
            model::format_time(view->info.commit_time_us) + "\n";
    append_table(text, model::space_table(view->info, view->segments));
    append_table(text, model::drums_table(view->drums));
  }
  text += "\n- health: " + session.health.verdict() + "\n- " + session.health.share_text() + "\n";
  append_table(text, model::findings_table(session.health.problems()));
  return text;
}

}  // namespace crawlstore::inspector
