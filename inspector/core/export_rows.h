// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of a table as CSV (RFC 4180, with the line ends of Unix), TSV or lines of JSON. Numbers are
/// plain, times in microseconds as they are in JSON; nothing is empty, or null. Bytes that are no
/// UTF-8 stay as they are in CSV and TSV; in JSON they are hexadecimal, under their column's name +
/// "_hex". Names of columns are words of the spec, and stand as they are.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/table.h"
#include "model/table_source.h"

namespace crawlstore::inspector {

enum class RowFormat : std::uint8_t { kCsv, kTsv, kJsonLines };

/// By the ending of a path; nullopt = none of the three.
std::optional<RowFormat> row_format_of(std::string_view path);
/// The line of column names; empty for lines of JSON.
std::string head_line(const std::vector<model::Column>& columns, RowFormat format);
/// With its line end. In TSV, tabs, line breaks and backslashes are escaped by a backslash.
std::string row_line(const std::vector<model::Column>& columns, const model::Row& row,
                     RowFormat format);

}  // namespace crawlstore::inspector
