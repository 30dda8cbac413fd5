// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes that a page database will take in the file, before and after compaction, by those that
/// another one takes.

#include <cstdint>
#include <optional>
#include <string>

#include <crawlstore/page_view.h>

#include "model/table.h"

namespace crawlstore::model {

/// The sizes of a page and of a link.
struct PagesFigures {
  std::string source;  ///< whose they are, for people
  double key_bytes = 0;
  double origin_bytes = 0;
  double record_bytes = 0;
  /// Bits of a link as imports and supersteps leave it; nothing where compaction has been.
  std::optional<double> fresh_out_bits, fresh_in_bits;
  double compacted_out_bits = 0;
  double compacted_in_bits = 0;
};

/// The figures of a crawl of documentation that was measured: 48,198 pages, 716,365 links in the
/// order of the crawl; records of pages that were all crawled.
PagesFigures usual_figures();

/// The figures of a database; it must have pages.
///   errors  of damage
Result<PagesFigures> figures_of(const PageView& view);

/// `page_count`, `link_count`, whole sizes, and the table `parts`.
Document pages_plan_view(std::uint64_t page_count, std::uint64_t link_count,
                         const PagesFigures& figures);

}  // namespace crawlstore::model
