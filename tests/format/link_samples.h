// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of links for tests, in the shape that the codec takes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "format/link_block.h"
#include "format/link_index.h"
#include "support/random.h"

namespace crawlstore::testing {

using Bytes = std::vector<std::byte>;

/// Page -> its ascending links.
using Rows = std::map<std::uint64_t, std::vector<std::uint64_t>>;

/// Rows as the codecs take them.
struct RowColumns {
  std::vector<std::uint64_t> pages;
  std::vector<std::uint32_t> degrees;
  std::vector<std::uint64_t> links;

  explicit RowColumns(const Rows& rows) {
    for (const auto& [page, row] : rows) {
      pages.push_back(page);
      degrees.push_back(static_cast<std::uint32_t>(row.size()));
      links.insert(links.end(), row.begin(), row.end());
    }
  }
  [[nodiscard]] format::LinkRowSpans spans() const { return {pages, degrees, links}; }
};

inline Bytes link_block(const Rows& rows) {
  Bytes out;
  format::encode_link_block(RowColumns(rows).spans(), out);
  return out;
}

inline Rows rows_in(const format::LinkRows& decoded) {
  Rows rows;
  for (std::size_t row = 0; row < decoded.row_count(); ++row) {
    const auto links = decoded.links(row);
    rows[decoded.page(row)] = {links.begin(), links.end()};
  }
  return rows;
}

/// The payload of a run of these blocks.
inline Bytes link_run(const std::vector<Rows>& blocks) {
  Bytes out;
  std::vector<format::LinkIndexEntry> index;
  format::LinkTotals totals;
  for (const Rows& rows : blocks) {
    index.push_back({rows.begin()->first, out.size()});
    for (const auto& [page, row] : rows) {
      ++totals.row_count;
      totals.link_count += row.size();
      totals.last_page = page;
      if (!row.empty()) totals.target_max = std::max(totals.target_max, row.back());
    }
    const Bytes block = link_block(rows);
    out.insert(out.end(), block.begin(), block.end());
  }
  format::encode_link_tail(index, totals, out.size(), out);
  return out;
}

/// Rows of a random graph of `page_count` pages from `first` on: most links near their page, some
/// anywhere, degrees skewed, some rows empty, self links.
inline Rows random_rows(Random& random, std::uint64_t row_count, std::uint64_t first,
                        std::uint64_t page_count) {
  Rows rows;
  while (rows.size() < std::min(row_count, page_count)) {
    const std::uint64_t page = first + random.below(page_count);
    std::set<std::uint64_t> links;
    const std::uint64_t degree = random.below(8) == 0 ? 0 : random.next() % 500 >> random.below(10);
    for (std::uint64_t i = 0; i < std::min(degree, page_count / 2); ++i) {
      const bool is_near = random.below(5) != 0;
      const std::uint64_t link =
          is_near ? page - std::min(page - first, random.below(60)) + random.below(60)
                  : first + random.below(page_count);
      links.insert(std::min(link, first + page_count - 1));
    }
    rows[page] = {links.begin(), links.end()};
  }
  return rows;
}

}  // namespace crawlstore::testing
