// SPDX-License-Identifier: Apache-2.0
#include "model/table_lines.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/format_text.h"

namespace crawlstore::model {
namespace {

std::size_t usual_width(Unit unit) {
  switch (unit) {
    case Unit::kTimeUs:
      return 27;
    case Unit::kExact:
      return 15;  // all that a float of 4 bytes needs, such as -1.23456789e-05
    case Unit::kScore:
      return 12;
    case Unit::kId:
      return 10;
    case Unit::kText:
      return 9;  // states of pages, such as "duplicate"
    default:
      return 5;
  }
}

std::string tsv_text(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    constexpr std::string_view kBytes = "\t\n\r\\";
    constexpr std::string_view kNames = "tnr\\";
    const auto found = kBytes.find(c);
    if (found == std::string_view::npos) {
      escaped += c;
    } else {
      (escaped += '\\') += kNames[found];
    }
  }
  return escaped;
}

/// A cell as JSON has it.
struct PlainText {
  bool is_time;

  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(double number) const { return fmt::to_string(number); }
  std::string operator()(std::uint64_t number) const { return fmt::to_string(number); }
  std::string operator()(std::int64_t number) const {
    return is_time ? format_time(number) : fmt::to_string(number);
  }
  std::string operator()(const std::string& text) const { return tsv_text(text); }
};

std::string names_of(const std::vector<Column>& columns) {
  std::string names;
  for (const Column& column : columns) names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

}  // namespace

TableLines::TableLines(std::vector<Column> columns, LineForm form)
    : columns_(std::move(columns)), form_(form) {
  chosen_.reserve(columns_.size());
  for (const Column& column : columns_) {
    chosen_.push_back({chosen_.size(), std::max(column.name.size(), usual_width(column.unit))});
  }
}

std::string TableLines::choose(const std::vector<std::string>& names) {
  std::vector<Chosen> chosen;
  chosen.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = std::ranges::find(columns_, name, &Column::name);
    if (found == columns_.end()) {
      return fmt::format("there is no column `{}`; the columns are {}", format_printable(name),
                         names_of(columns_));
    }
    chosen.push_back(chosen_[static_cast<std::size_t>(found - columns_.begin())]);
  }
  chosen_ = std::move(chosen);
  return {};
}

void TableLines::fit(const std::vector<std::vector<Cell>>& rows) {
  for (Chosen& one : chosen_) {
    const Column& column = columns_[one.index];
    one.width = column.name.size();
    for (const auto& row : rows) {
      one.width = std::max(one.width, text_of(row[one.index], column).size());
    }
  }
}

void TableLines::append_header(std::string& to) const {
  for (const Chosen& one : chosen_) append_text(to, columns_[one.index].name, one);
  to += '\n';
}

void TableLines::append_row(std::string& to, const std::vector<Cell>& cells) const {
  for (const Chosen& one : chosen_) {
    append_text(to, text_of(cells[one.index], columns_[one.index]), one);
  }
  to += '\n';
}

void TableLines::append_text(std::string& to, std::string_view text, const Chosen& chosen) const {
  const std::string_view gap = form_ == LineForm::kTsv ? "\t" : "  ";
  if (&chosen != chosen_.data()) to += gap;
  const bool is_padded = form_ == LineForm::kAligned && text.size() < chosen.width;
  const std::size_t padding = is_padded ? chosen.width - text.size() : 0;
  const Unit unit = columns_[chosen.index].unit;
  const bool is_number = unit != Unit::kText && unit != Unit::kTimeUs;
  if (is_number) to.append(padding, ' ');
  to += text;
  const bool is_last = &chosen == &chosen_.back();
  if (!is_number && !is_last) to.append(padding, ' ');
}

std::string TableLines::text_of(const Cell& cell, const Column& column) const {
  if (form_ == LineForm::kTsv) {
    const bool is_time = column.unit == Unit::kTimeUs && !column.name.ends_with("_us");
    return std::visit(PlainText{is_time}, cell);
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? format_line(*text) : format_cell(cell, column.unit);
}

}  // namespace crawlstore::model
