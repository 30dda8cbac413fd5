// SPDX-License-Identifier: Apache-2.0
#include "model/table_source.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace crawlstore::model {
namespace {

/// The cell as one ordered number; exact enough to sort by. nullopt: text, or nothing.
std::optional<long double> number_of(const Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? 1 : 0;
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::nullopt;
}

int kind_rank(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return 0;
  // A value that is no number compares with none: sorting needs it to have a place.
  if (const auto* number = std::get_if<double>(&cell); number != nullptr && std::isnan(*number)) {
    return 0;
  }
  return std::holds_alternative<std::string>(cell) ? 2 : 1;
}

}  // namespace

Result<std::vector<Row>> TableSource::full_rows(std::uint64_t first, std::size_t count_max) const {
  return rows(first, count_max);
}

void ReadableRows::note(const Error& problem) {
  if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
}

ReadableRows TableSource::readable_rows(std::uint64_t first, std::size_t count_max) const {
  auto all = full_rows(first, count_max);
  if (all) return {std::move(*all), {}};
  ReadableRows found;
  const std::uint64_t begin = std::min(first, row_count());
  const std::uint64_t end = begin + std::min<std::uint64_t>(count_max, row_count() - begin);
  for (std::uint64_t number = begin; number < end; ++number) {
    auto row = full_rows(number, 1);
    if (!row) found.note(row.error());
    const bool is_there = row && !row->empty();
    found.rows.push_back(is_there ? std::move(row->front()) : Row(columns().size()));
  }
  return found;
}

Result<Row> TableSource::whole_row(std::uint64_t /*number*/, Row row) const {
  return row;
}

Result<std::vector<Row>> TableRows::rows(std::uint64_t first, std::size_t count_max) const {
  const std::uint64_t count = table_.rows.size();
  const auto begin = static_cast<std::ptrdiff_t>(std::min(first, count));
  const auto length = static_cast<std::ptrdiff_t>(
      std::min<std::uint64_t>(count_max, count - static_cast<std::uint64_t>(begin)));
  return std::vector<Row>(table_.rows.begin() + begin, table_.rows.begin() + begin + length);
}

std::shared_ptr<const TableSource> take_table(Document& document, const std::string& name) {
  for (Table& table : document.tables) {
    if (table.name == name) return std::make_shared<TableRows>(std::move(table));
  }
  return std::make_shared<TableRows>(Table{name, {}, {}});
}

bool is_less(const Cell& a, const Cell& b) {
  if (kind_rank(a) != kind_rank(b)) return kind_rank(a) < kind_rank(b);
  const auto left = number_of(a);
  const auto right = number_of(b);
  if (left && right) return *left < *right;
  const auto* left_text = std::get_if<std::string>(&a);
  const auto* right_text = std::get_if<std::string>(&b);
  return left_text != nullptr && right_text != nullptr && *left_text < *right_text;
}

}  // namespace crawlstore::model
