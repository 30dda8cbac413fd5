// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Score arrays in the file: finding them, and swapping a new one in.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <crawlstore/scores.h>

#include "container/directory_state.h"
#include "container/run.h"
#include "container/writer.h"
#include "format/score_array.h"

namespace crawlstore::scores {

/// An array that is to be stored.
///   array      without time, codec, counts of entries and iterations, residual and sum, which
///              follow
///   values     one for each page of array.page_count, or each owner; score numbers
///   first_pages      of owners, one for each; ascending
///   forgotten_count  of the database, when it was read
///   replaced   the array that must have its name still, 0: none may; nothing: whichever has it
struct NewArray {
  Uuid store;
  std::string name;
  std::string database;
  std::uint64_t forgotten_count = 0;
  std::optional<SegmentId> replaced;
  format::ScoreArray array;
  std::variant<std::span<const float>, std::span<const double>> values;
  std::span<const std::uint64_t> first_pages;
  std::span<const double> residuals;
};

/// An array by page of this view, without name, scorer and values.
NewArray array_of(const PageView& pages);

/// Writes arrays of one database beside all that others do, then publishes them in one commit, in
/// the places of those of their names. errors  as store_ranked()
Result<std::vector<ScoresInfo>> store_arrays(Store& store, std::span<NewArray> arrays);

/// Writes arrays of one database into the writer's changes, in the places of those of their names.
/// Requires the turn, outside of a transaction; `arrays` are of the generation that comes next.
///   made    takes the new runs, which the caller keeps until its commit has ended
Result<std::vector<ScoresInfo>> put_arrays(container::Writer& writer, SegmentId database,
                                           std::span<NewArray> arrays,
                                           std::vector<container::RunPtr>& made);

/// Reads the footer of an array. errors  kSegmentInvalid, kChunkDamaged, of storage
Result<format::ScoreArray> read_footer(const container::RunReader& run, SegmentId segment);

/// `is_stale` is left to who knows the database.
ScoresInfo info_of(const format::SegmentEntry& entry, const format::ScoreArray& array);

}  // namespace crawlstore::scores
