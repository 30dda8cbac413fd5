// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows by number, as many as 64 bits count, a window at a time: what a table on the screen shows.
/// Sources are immutable; any thread may ask.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <crawlstore/error.h>

#include "model/table.h"

namespace crawlstore::model {

using Row = std::vector<Cell>;

/// Rows as far as they can be read: cells that cannot are empty.
struct ReadableRows {
  std::vector<Row> rows;
  std::vector<Error> problems;  ///< each once

  void note(const Error& problem);
};

class TableSource {
 public:
  TableSource() = default;
  TableSource(const TableSource&) = delete;
  TableSource& operator=(const TableSource&) = delete;
  virtual ~TableSource() = default;
  /// Name of the table.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const std::vector<Column>& columns() const = 0;
  [[nodiscard]] virtual std::uint64_t row_count() const = 0;
  /// Rows from `first` on, at most `count_max`, fewer only at the end. errors of damage
  [[nodiscard]] virtual Result<std::vector<Row>> rows(std::uint64_t first,
                                                      std::size_t count_max) const = 0;
  /// Whether this is a column that takes a look elsewhere for each row; rows() leaves it empty.
  [[nodiscard]] virtual bool is_costly(std::size_t /*column*/) const { return false; }
  /// The same rows as rows() gives, with the costly columns: for what is on the screen or asked for
  /// by name.
  [[nodiscard]] virtual Result<std::vector<Row>> full_rows(std::uint64_t first,
                                                           std::size_t count_max) const;
  /// The same rows as full_rows() gives, but damage takes no other row with it: for the screen.
  [[nodiscard]] virtual ReadableRows readable_rows(std::uint64_t first,
                                                   std::size_t count_max) const;
  /// A row that rows() gave, with what it left out of long cells, if it did. errors of damage
  [[nodiscard]] virtual Result<Row> whole_row(std::uint64_t number, Row row) const;
  /// All rows are in memory: sorting by any column is cheap.
  [[nodiscard]] virtual bool is_in_memory() const { return false; }
};

/// A table that is in memory.
class TableRows final : public TableSource {
 public:
  explicit TableRows(Table table) : table_(std::move(table)) {}
  [[nodiscard]] const std::string& name() const override { return table_.name; }
  [[nodiscard]] const std::vector<Column>& columns() const override { return table_.columns; }
  [[nodiscard]] std::uint64_t row_count() const override { return table_.rows.size(); }
  [[nodiscard]] Result<std::vector<Row>> rows(std::uint64_t first,
                                              std::size_t count_max) const override;
  [[nodiscard]] bool is_in_memory() const override { return true; }

 private:
  Table table_;
};

/// The table of that name in a document, moved out of it; an empty table when there is none.
std::shared_ptr<const TableSource> take_table(Document& document, const std::string& name);

/// Less: by value, nothing and NaN before everything, numbers before texts. A strict weak order.
bool is_less(const Cell& a, const Cell& b);

}  // namespace crawlstore::model
