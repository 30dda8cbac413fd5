// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages as rows, in the forms that programs and people read.
/// Threads: pure functions.

#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/page_view.h>

#include "model/table.h"

namespace crawlstore::model {

/// The columns to sort by.
enum class PageColumn : std::uint8_t {
  kIndex,
  kUrl,
  kState,
  kCrawlCount,
  kChangeCount,
  kFirstCrawl,
  kLastCrawl,
  kScore,
  kDepth,
  kHttpStatus,
  kFailureCount,
};
/// "index", "url" ... in the order of the columns; nullopt = there is no such column.
std::optional<PageColumn> find_page_column(std::string_view name);
/// All names: "index", "url", "state" ...
std::vector<std::string> page_column_names();

/// The value of a column, as a number in its order; kUrl has none: that is text.
std::uint64_t sort_number(const PageInfo& page, PageColumn column);

/// A number with as few digits as tell it from its neighbours.
std::string format_score(float score);
/// The same as a cell: 0.1 stays 0.1.
double score_value(float score);

/// One field: `url`, or `url_hex` with hexadecimal digits for what is no UTF-8.
Field url_field(std::string_view url);

/// The frequency of its changes, by its crawls (PageInfo::change_rate()); nothing where that is not
/// known.
Cell changes_per_day(const PageInfo& page);

/// The HTTP status that was told last, if one was.
Cell http_status_cell(const PageInfo& page);

/// All that is known of a page, without its links.
std::vector<Field> page_fields(const PageInfo& page);

/// The score of a page in an array; nothing for a page that came since.
struct NamedScore {
  std::string_view name;  ///< of the array
  std::optional<double> value;
};

/// An object of JSON in one line, without an end of line; the same names and values, and
/// `score:NAME` if it is given.
void append_page_json(std::string& to, const PageInfo& page,
                      const std::optional<NamedScore>& score = {});

/// Columns for people, the URL last, before it `score:NAME` if it is given; and their cells.
std::vector<Column> page_columns(const std::optional<NamedScore>& score = {});
std::vector<Cell> page_cells(const PageInfo& page, const std::optional<NamedScore>& score = {});

/// Comma-separated: RFC 4180, but lines end with LF; URLs as they are, or
/// `for_spreadsheet` (append_csv_field()).
std::string page_csv_header();
void append_page_csv(std::string& to, const PageInfo& page, std::uint64_t out_link_count,
                     bool for_spreadsheet = false);

}  // namespace crawlstore::model
