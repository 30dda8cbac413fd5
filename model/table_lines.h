// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows as lines: aligned for people, or as TSV for programs.
///
/// TSV has a line with the names of the columns, then one a row. Numbers, flags and times are
/// written as JSON has them, a column `x_us` in microseconds; what is not known is empty. In texts
/// a TAB, LF, CR and backslash come as \t, \n, \r and \\, so that `cut` finds the columns.
/// Ownership: owns what it is given. Threads: one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/table.h"

namespace crawlstore::model {

enum class LineForm : std::uint8_t { kAligned, kTsv };

class TableLines {
 public:
  /// Columns are as wide as values of their units mostly are.
  TableLines(std::vector<Column> columns, LineForm form);

  /// From now on these columns only, in this order. Empty: so it is; else what is wrong with them.
  [[nodiscard]] std::string choose(const std::vector<std::string>& names);
  /// Columns become as wide as these rows need.
  void fit(const std::vector<std::vector<Cell>>& rows);

  void append_header(std::string& to) const;
  /// `cells` are those of all columns, also when some were chosen.
  void append_row(std::string& to, const std::vector<Cell>& cells) const;

 private:
  struct Chosen {
    std::size_t index = 0;  // of the column
    std::size_t width = 0;
  };
  void append_text(std::string& to, std::string_view text, const Chosen& chosen) const;
  [[nodiscard]] std::string text_of(const Cell& cell, const Column& column) const;

  std::vector<Column> columns_;
  std::vector<Chosen> chosen_;
  LineForm form_;
};

}  // namespace crawlstore::model
