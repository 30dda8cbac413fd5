// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything that is known of one page: its fields, how it was found, and its links.
/// Threads: pure functions over a view; any.

#include <cstdint>
#include <memory>
#include <vector>

#include <crawlstore/page_view.h>

#include "model/page_source.h"
#include "model/table.h"

namespace crawlstore::model {

/// The longest way from a seed that is followed.
inline constexpr std::size_t kPathPagesMax = 1000;

/// The way to a page: first a seed, each page linked to the next one first, the page last. In a
/// file that is damaged, or on a way of more than kPathPagesMax pages, the first is no seed.
///   errors  kInvalidArgument: no page has this index; of damage
///   cost    a page a step
Result<std::vector<std::uint64_t>> path_from_seed(const PageView& view, std::uint64_t index);

struct PageDetail {
  PageInfo page;              ///< of a damaged one index and URL, as far as it can be read
  std::vector<Field> fields;  ///< index, url, host, state ... content_hash, and scores, or why not
  PageList path;              ///< path_from_seed()
  PageList out_links;         ///< ascending
  PageList in_links;          ///< ascending; like the other lists nullptr where it is damaged
  PageList copies;  ///< others of its content, ascending; nullptr without an index of contents
  std::vector<Error> problems;  ///< why something is not there
};

/// Reads it: a few blocks, a page a step of the path, 8 bytes a link, and the score arrays.
///   errors  kInvalidArgument: no page has this index
Result<PageDetail> page_detail(const PageView& view, std::uint64_t index);

}  // namespace crawlstore::model
