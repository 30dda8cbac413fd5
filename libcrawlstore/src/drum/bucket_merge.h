// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The merge of one bucket, or of a slice of its requests: loads and sorts them, walks once against
/// the partition, writes the new one. The outcome has the answers, dispatched in arrival order.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/run.h"
#include "drum/partition.h"
#include "drum/request_columns.h"
#include "drum/sealed_requests.h"
#include "drum/sort_requests.h"
#include "format/request_run.h"

namespace crawlstore::drum {

/// Drops keys in a merge: of the heads from the first to the last those that `keeps` says no to.
struct KeyFilter {
  std::uint64_t first_head = 0;
  std::uint64_t last_head = ~std::uint64_t{0};
  /// Whether a key stays, with the value that it has after the merge. An error ends the merge. The
  /// thread that merges calls it, and no other.
  std::function<Result<bool>(Key16 key, std::span<const std::byte> value)> keeps;

  [[nodiscard]] bool covers(std::uint64_t head) const {
    return first_head <= head && head <= last_head;
  }
};

/// The input of a merge. The caller's thread makes it and reserves all extents.
struct MergeJob {
  std::uint64_t first_key = 0;  // the bucket's range of keys or heads, both ends included
  std::uint64_t last_key = 0;
  SegmentId old_partition;
  std::optional<format::RunRef> old_run;
  std::uint64_t old_key_count = 0;
  SegmentId key_log;
  SegmentId aux_log;
  std::vector<format::RunRef> key_runs;   // in arrival order, consumed whole
  std::vector<format::RunRef> aux_runs;   // those of key_runs that have auxiliaries
  std::vector<container::Run::Use> uses;  // of old_run, key_runs and aux_runs
  std::vector<WaitingRequests> waiting;   // they arrived after those of the runs
  bool is_last_slice = true;              // of the bucket's requests
  const KeyFilter* filter = nullptr;      // outlives the job; nullptr: all keys stay
  Shape shape;
  std::uint64_t piece_keys_max = 0;       // a partition with more keys is cut, where heads differ
  std::vector<SegmentId> piece_segments;  // one for each piece, as are the writers
  std::vector<PartitionWriter> piece_writers;
};

/// The requests of one run, verified, or of one array.
struct RequestBatch {
  // The spans point into the first two if this is a run, else into the third.
  std::vector<std::byte> payload;                          // the part of it that the spans need
  std::vector<std::uint64_t> keys;                         // unpacked
  std::shared_ptr<const RequestColumns> waiting;           // the array
  RunId run;                                               // of a run
  std::vector<std::span<const std::uint64_t>> key_spans;   // together all keys
  std::vector<std::span<const std::uint64_t>> tail_spans;  // of 16-byte keys, cut as key_spans
  std::uint64_t key_count = 0;
  const RepeatNotes* repeats = nullptr;  // of an array: requests that no merge needs
  std::uint64_t first_sequence = 0;
  std::uint16_t uniform_tag = 0;
  std::span<const std::uint16_t> tags;       // of the keys
  std::span<const std::uint32_t> sequences;  // of a run
  std::span<const std::byte> values;
  std::vector<std::uint64_t> value_begins;  // variable values: n + 1 offsets
};

/// The result of a merge. The payloads and answers stay until forget_answers().
struct MergeOutcome {
  MergeJob job;
  std::vector<RequestBatch> batches;
  std::vector<std::uint8_t> duplicate;      // by arrival, without repeats
  std::vector<std::uint64_t> value_begins;  // stored values told to checks: n + 1 offsets, or empty
  std::vector<std::byte> values;
  std::vector<PartitionPiece> pieces;  // none: the old partition stays
  std::uint64_t request_count = 0;
  std::uint64_t unique_count = 0;
  std::uint64_t duplicate_count = 0;
  std::uint64_t key_count = 0;  // afterwards
  bool changed = false;         // whether some key or value changed

  /// Frees all that only the dispatch needs, while the outcome waits for the commit of its group.
  void forget_answers();
};

/// Merges `outcome.job`. Runs on any thread; touches only the storage and the job's own extents.
///   sorted  memory that merges reuse, one at a time
///   errors  damage of the old partition or the runs; I/O
Result<void> merge_bucket(Storage& storage, const format::Identity& identity,
                          SortedRequests& sorted, MergeOutcome& outcome);

[[nodiscard]] inline std::uint64_t repeat_count(const RequestBatch& batch) {
  return batch.repeats != nullptr ? batch.repeats->count() : 0;
}

/// Returns the value that came with a request of a batch.
std::span<const std::byte> value_of(const RequestBatch& batch, std::size_t index,
                                    std::int32_t value_bytes);

}  // namespace crawlstore::drum
