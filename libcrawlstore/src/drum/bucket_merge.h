// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The merge of one bucket (or of a slice of its requests): load, sort, walk once against the
/// partition, write the new one. Answers are dispatched from the outcome, in arrival order.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/run.h"
#include "drum/partition.h"
#include "drum/request_columns.h"
#include "drum/sort_requests.h"
#include "format/request_run.h"

namespace crawlstore::drum {

/// Requests that never were in a log, in arrival order.
struct WaitingRequests {
  std::shared_ptr<const RequestColumns> columns;
  std::uint64_t first_sequence = 0;
};

/// What a merge needs; made on the caller's thread, with all extents reserved.
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
  std::vector<WaitingRequests> waiting;   // behind those of the runs
  bool is_last_slice = true;              // of the bucket's requests
  Shape shape;
  std::uint64_t piece_keys_max = 0;       // a partition with more keys is cut, where heads differ
  std::vector<SegmentId> piece_segments;  // one a piece, with its writer
  std::vector<PartitionWriter> piece_writers;
};

/// Requests of one run, verified, or of one array.
struct RequestBatch {
  std::vector<std::byte> payload;   // of a run, as far as the spans point into it, and
  std::vector<std::uint64_t> keys;  // its keys unpacked, or
  std::shared_ptr<const RequestColumns> waiting;           // an array: what the spans point into
  RunId run;                                               // of a run
  std::vector<std::span<const std::uint64_t>> key_spans;   // one behind the other
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

/// What came out. The payloads and answers stay until forget_answers().
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
  bool changed = false;         // some key or value did change

  /// Frees what only the dispatch needs; a group of outcomes waits for its commit.
  void forget_answers();
};

/// Merges `outcome.job`. Runs on any thread; touches only the storage and the job's own extents.
///   sorted  memory that one merge after the other uses
///   errors  damage of the old partition or the runs; I/O
Result<void> merge_bucket(Storage& storage, const format::Identity& identity,
                          SortedRequests& sorted, MergeOutcome& outcome);

[[nodiscard]] inline std::uint64_t repeat_count(const RequestBatch& batch) {
  return batch.repeats != nullptr ? batch.repeats->count() : 0;
}

/// The value that came with a request of a batch.
std::span<const std::byte> value_of(const RequestBatch& batch, std::size_t index,
                                    std::int32_t value_bytes);

}  // namespace crawlstore::drum
