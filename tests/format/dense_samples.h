// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Dense blocks for tests.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "format/dense_block.h"
#include "format/dense_index.h"
#include "format/link_samples.h"

namespace crawlstore::testing {

/// A block with the model that it was coded by.
struct DenseSample {
  format::DenseLengths model;
  std::uint64_t first_page = 0;
  std::uint32_t page_count = 0;
  Bytes bytes;  // without slack
  format::LinkTotals totals;
};

/// Rows that all have links, as a block.
///   has_own_model  or one that knows nothing of the rows
inline DenseSample dense_block(const Rows& rows, std::uint64_t first_page,
                               bool has_own_model = true) {
  const RowColumns columns(rows);
  DenseSample sample;
  for (const auto& [page, row] : rows) {
    sample.totals.target_max = std::max(sample.totals.target_max, row.back());
  }
  const std::uint64_t last_page = columns.pages.back();
  sample.totals.row_count = rows.size();
  sample.totals.link_count = columns.links.size();
  sample.totals.last_page = last_page;
  sample.first_page = first_page;
  sample.page_count = static_cast<std::uint32_t>(last_page - first_page + 1);
  format::DenseCounts counts{};
  if (has_own_model) {
    format::DenseBlockEncoder(format::rough_dense_model())
        .count(first_page, columns.spans(), 1, counts);
  }
  sample.model = format::dense_model(counts, std::max(last_page, sample.totals.target_max));
  format::DenseBlockEncoder(sample.model).encode(first_page, columns.spans(), sample.bytes);
  return sample;
}

/// The payload of a run of one block, which begins with its first row.
inline Bytes dense_run(const Rows& rows) {
  const DenseSample sample = dense_block(rows, rows.begin()->first);
  format::DenseIndex index;
  index.add(
      {sample.first_page, 0, sample.page_count, static_cast<std::uint32_t>(sample.bytes.size())});
  Bytes payload = sample.bytes;
  index.encode_tail(sample.model, sample.totals, payload);
  return payload;
}

}  // namespace crawlstore::testing
