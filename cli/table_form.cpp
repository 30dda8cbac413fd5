// SPDX-License-Identifier: Apache-2.0
#include "cli/table_form.h"

#include <sstream>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"

namespace crawlstore::cli {

void add_table_form(Parser& parser, TableForm& form) {
  const auto json = add_json(parser, form.as_json);
  parser
      .flag("--tsv", form.as_tsv,
            "print the table for `cut` and the like: a line of names, then a line a row, with TABs "
            "between columns; plain numbers; \\t, \\n, \\r and \\\\ for TAB, line ends and "
            "backslash; nothing for what is not known")
      .excludes(json);
  const auto parse = [&form](const std::string& text) {
    std::istringstream names(text);
    for (std::string name; std::getline(names, name, ',');) form.columns.push_back(name);
    return form.columns.empty() ? std::string("names of columns are expected") : std::string();
  };
  parser
      .parsed("--columns NAME,...", parse,
              "print these columns of the table only, in this order; a name that is none lists "
              "those that there are")
      .excludes(json);
}

std::optional<model::TableLines> choose_lines(std::vector<model::Column> columns,
                                              const TableForm& form, int& code) {
  model::TableLines lines(std::move(columns),
                          form.as_tsv ? model::LineForm::kTsv : model::LineForm::kAligned);
  if (form.columns.empty()) return lines;
  const std::string problem = lines.choose(form.columns);
  if (problem.empty()) return lines;
  code = fail_with("--columns: " + problem, kExitUsage);
  return std::nullopt;
}

int print_document(const model::Document& document, const TableForm& form) {
  if (!form.is_table_only()) return print_document(document, form.as_json);
  const model::Table& table = document.tables.back();
  int code = kExitDone;
  auto lines = choose_lines(table.columns, form, code);
  if (!lines) return code;
  lines->fit(table.rows);
  std::string text;
  lines->append_header(text);
  for (const auto& row : table.rows) lines->append_row(text, row);
  return print(text);
}

}  // namespace crawlstore::cli
