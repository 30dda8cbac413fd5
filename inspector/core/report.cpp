// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/report.h"

#include <filesystem>

#include "model/format_text.h"
#include "model/space_view.h"
#include "model/store_view.h"
#include "model/verify_view.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kRowsMax = 100;

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
  for (std::size_t row = 0; row < table.rows.size() && row < kRowsMax; ++row) {
    to += "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      to += " " + cell_text(table.rows[row][i], table.columns[i].unit) + " |";
    }
    to += "\n";
  }
  if (table.rows.size() > kRowsMax) {
    to += "\n... and " + model::format_count(table.rows.size() - kRowsMax) + " more\n";
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
  if (session.checked) {
    const model::Document checked =
        model::verify_view(session.checked->report, session.checked->level);
    text += "\n";
    for (const model::Field& field : checked.fields) {
      text += "- " + field.name + ": " + cell_text(field.value, field.unit) + "\n";
    }
    if (session.checked->is_partial) text += "- the check was cancelled before its end\n";
    for (const model::Table& table : checked.tables) append_table(text, table);
  }
  return text;
}

}  // namespace crawlstore::inspector
