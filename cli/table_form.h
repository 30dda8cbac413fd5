// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The form in which a verb prints its table: aligned, --tsv or --json, and which --columns.
/// Threads: for the main thread.

#include <optional>
#include <string>
#include <vector>

#include "cli/parser.h"
#include "model/table.h"
#include "model/table_lines.h"

namespace crawlstore::cli {

struct TableForm {
  bool as_json = false;
  bool as_tsv = false;
  std::vector<std::string> columns;  ///< empty: all

  /// Lines of the table alone, without what else the verb tells.
  [[nodiscard]] bool is_table_only() const { return as_tsv || !columns.empty(); }
};

void add_table_form(Parser& parser, TableForm& form);

/// Lines of a table of such columns, those that were chosen; nothing: one of them is not there, as
/// was said, and `code` says too.
std::optional<model::TableLines> choose_lines(std::vector<model::Column> columns,
                                              const TableForm& form, int& code);

/// The document as the form says: as JSON or aligned all of it, else its last table.
int print_document(const model::Document& document, const TableForm& form);

}  // namespace crawlstore::cli
