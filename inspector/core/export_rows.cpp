// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/export_rows.h"

#include <cmath>

#include <fmt/format.h>

#include "model/json.h"

namespace crawlstore::inspector {
namespace {

/// A number as JSON has it, a text as it is.
struct PlainText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
};

std::string quote_csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string escape_tsv(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\t') {
      escaped += "\\t";
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\r') {
      escaped += "\\r";
    } else if (c == '\\') {
      escaped += "\\\\";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string json_line(const std::vector<model::Column>& columns, const model::Row& row) {
  std::string line = "{";
  for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i) {
    if (i > 0) line += ",";
    if (const auto* text = std::get_if<std::string>(&row[i])) {
      model::append_json_bytes(line, columns[i].name, *text);
    } else {
      const auto* number = std::get_if<double>(&row[i]);
      const bool is_number = number == nullptr || std::isfinite(*number);
      const std::string value = is_number ? std::visit(PlainText{}, row[i]) : "";
      line += fmt::format("\"{}\":{}", columns[i].name, value.empty() ? "null" : value);
    }
  }
  return line + "}\n";
}

}  // namespace

std::optional<RowFormat> row_format_of(std::string_view path) {
  if (path.ends_with(".csv")) return RowFormat::kCsv;
  if (path.ends_with(".tsv")) return RowFormat::kTsv;
  if (path.ends_with(".jsonl")) return RowFormat::kJsonLines;
  return std::nullopt;
}

std::string head_line(const std::vector<model::Column>& columns, RowFormat format) {
  if (format == RowFormat::kJsonLines) return {};
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += format == RowFormat::kCsv ? ',' : '\t';
    line += columns[i].name;
  }
  return line + "\n";
}

std::string row_line(const std::vector<model::Column>& columns, const model::Row& row,
                     RowFormat format) {
  if (format == RowFormat::kJsonLines) return json_line(columns, row);
  std::string line;
  for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i) {
    if (i > 0) line += format == RowFormat::kCsv ? ',' : '\t';
    const std::string text = std::visit(PlainText{}, row[i]);
    line += format == RowFormat::kCsv ? quote_csv(text) : escape_tsv(text);
  }
  // An empty line would be no row.
  if (format == RowFormat::kCsv && line.empty()) line = "\"\"";
  return line + "\n";
}

}  // namespace crawlstore::inspector
