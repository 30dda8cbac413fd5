// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages as tables that are read a window at a time.
/// Ownership: a source shares its view, and with it the pin. Threads: any.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>

#include "model/table_source.h"

namespace crawlstore::model {

/// The longest URL in a row, in bytes; a longer one ends in " ... 200000 bytes", but in
/// whole_row().
inline constexpr std::size_t kRowUrlBytesMax = 4096;

/// The pages that a table has: nullptr = all, in the order of their indexes.
using PageList = std::shared_ptr<const std::vector<std::uint64_t>>;

/// The table `pages`: index, url, state, score, depth, in_link_count, out_link_count, linked_from,
/// crawl_count, change_count, http_status, failure_count, first_crawl_us, last_crawl_us. The counts
/// of links cost a look into the links for each row: only full_rows() has them.
///   name    of the table
///   scores  an array by page: a column `score:NAME` stands in front of `score` then
///   cost    of a row: a block of URLs, which neighbours share, and a record
std::shared_ptr<const TableSource> page_table(const PageView& view, PageList pages = nullptr,
                                              std::string name = "pages",
                                              std::optional<ScoreView> scores = {});

/// Returns at most so many pages with the best scores, the best first; among equal scores the
/// smaller index comes first.
///   errors  of damage
///   cost    reads all records; 4 bytes a page
Result<PageList> top_pages(const PageView& view, std::size_t count_max);
/// The same by the scores of an array by page; pages with 0 are left out.
///   errors  kSegmentInvalid: a value is no score; of damage
///   cost    as ScoreView::top()
Result<PageList> top_pages(const ScoreView& scores, std::size_t count_max);

/// A URL as a row has it: whole, or its beginning and how long it is.
std::string row_url(std::string_view url);

}  // namespace crawlstore::model
