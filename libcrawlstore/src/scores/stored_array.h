// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Score arrays in the file: finding them, and swapping a new one in.

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <crawlstore/scores.h>

#include "container/directory_state.h"
#include "container/run_io.h"
#include "format/score_array.h"

namespace crawlstore::scores {

/// An array that is to be stored by page.
///   array      without time, codec, subject, counts of entries and iterations, residual and sum,
///              which follow
///   values     one for each page of array.page_count; score numbers
///   forgotten_count  of the database, when it was read
struct NewArray {
  Uuid store;
  std::string name;
  std::string database;
  std::uint64_t forgotten_count = 0;
  format::ScoreArray array;
  std::variant<std::span<const float>, std::span<const double>> values;
  std::span<const double> residuals;
};

/// An array of the pages of this view, without name, scorer and values.
NewArray array_of(const PageView& pages);

/// Writes the array beside all that others do, then publishes it in a commit, in the place of the
/// one of its name. errors  as store_scores()
Result<ScoresInfo> store_array(Store& store, NewArray array);

/// The arrays of a page database, in the order of their names.
std::vector<format::SegmentEntry> find_arrays(const container::Directory& directory,
                                              SegmentId database);

/// Reads the footer of an array. errors  kSegmentInvalid, kChunkDamaged, of storage
Result<format::ScoreArray> read_footer(const container::RunReader& run, SegmentId segment);

/// `is_stale` is left to who knows the database.
ScoresInfo info_of(const format::SegmentEntry& entry, const format::ScoreArray& array);

}  // namespace crawlstore::scores
