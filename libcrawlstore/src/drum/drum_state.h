// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The state of an open DRUM in memory, without its arrays, and its way to segments and back.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/store_impl.h"
#include "drum/log_rules.h"
#include "drum/partition.h"
#include "drum/shape.h"
#include "format/drum_table.h"

namespace crawlstore::drum {

static_assert(kLogRunsMax == format::kRunsPerLogMax);

/// Returns references to the runs, at their present places.
std::vector<format::RunRef> refs_of(std::span<const container::RunPtr> runs);

/// A key run, and its auxiliary run if it has one; that one's id is the key run's plus 1.
struct RequestRuns {
  container::RunPtr keys;
  container::RunPtr auxes;
};

/// Runs of a bucket's two logs, ascending run ids, and so ascending sequences.
struct LogRuns {
  std::vector<container::RunPtr> keys;
  std::vector<container::RunPtr> auxes;
  std::uint64_t request_count = 0;
  std::uint64_t key_bytes = 0;
  std::uint64_t aux_bytes = 0;

  void add(RequestRuns runs);
  void add(const LogRuns& other);
  /// Removes the first `key_run_count` key runs and their auxiliary runs.
  void drop_front(std::size_t key_run_count);
  /// Returns the size without the first `key_run_count` key runs; there must be more.
  [[nodiscard]] LogSize size_after(std::size_t key_run_count) const;
  [[nodiscard]] bool empty() const { return keys.empty(); }
};

struct Bucket {
  std::uint64_t first_key = 0;
  std::uint64_t key_count = 0;
  SegmentId partition;
  container::RunPtr partition_run;
  std::shared_ptr<const PartitionLookup> lookup;  // of partition_run; nullptr before a look-up
  SegmentId key_log;                              // 0 until the first run is written
  SegmentId aux_log;
  LogRuns pending;                   // published or not; the next merge takes them
  LogRuns tentative;                 // of the transaction that is being dispatched
  std::size_t locked_run_count = 0;  // leading runs of `pending` that a merge has planned to take
  bool is_planned = false;           // whether a merge will take them and the sealed requests

  /// Moves the transaction's runs to the pending ones.
  void keep_tentative();
};

/// The name of the consumer whose answers are neither told nor kept: that of inserts.
inline constexpr std::string_view kNobody = ".insert";

struct Consumer {
  ConsumerId id;
  std::string name;
  SegmentId results;
  std::vector<container::RunPtr> runs;
  std::uint64_t result_count = 0;
};

/// Everything that a commit publishes of a DRUM. A copy is a version of it: a run that no commit
/// has published is released when no version names it.
struct DrumState {
  SegmentId id;
  std::string name;
  std::uint16_t key_bytes = format::kKeyBytes;
  std::int32_t value_bytes = 0;
  KeyScheme key_scheme = KeyScheme::kOpaque;
  std::uint64_t next_sequence = 0;
  /// The next sequence in the file while this is larger than next_sequence. Requests may get
  /// sequences below it, and dispatchers see them, before a commit knows of them.
  std::uint64_t sequence_limit = 0;
  std::uint64_t merge_count = 0;
  std::uint64_t unparsed_count = 0;
  std::string normalizer;           // of URLs; empty means version 2
  std::vector<Bucket> buckets;      // ascending first_key; the first has 0
  std::vector<Consumer> consumers;  // ascending id; 0 is always there
  container::RunPtr table_run;      // put_state() wrote it last
  [[nodiscard]] Shape shape() const { return {key_bytes, value_bytes}; }
  /// Returns the bucket of a key, or of a head. O(log buckets).
  [[nodiscard]] std::size_t bucket_of(std::uint64_t key) const;
  [[nodiscard]] std::uint64_t last_key(std::size_t bucket) const;
  /// Returns the consumer with this id, or nullptr. O(log consumers).
  [[nodiscard]] Consumer* find_consumer(ConsumerId wanted);
  [[nodiscard]] std::uint64_t pending_count() const;
  [[nodiscard]] std::uint64_t key_count() const;
  /// Follows when a commit has published what put_state() put.
  void published();
  /// Gives up all runs; the counts stay.
  void release_runs();
};

/// Returns an empty DRUM with `bucket_count` equal key ranges.
DrumState make_state(SegmentId id, std::string_view name, Shape shape, std::uint32_t bucket_count);

/// Reads the state of the DRUM segment from the writer's directory.
Result<DrumState> load_state(container::Writer& writer, const format::SegmentEntry& entry);

/// The limits by which the writer merges, stored for readers; the writer does not load them again.
struct Thresholds {
  MergeThresholds merge;
  std::uint64_t partition_keys_max = 0;
};

/// Puts all segments of the DRUM into the changes of `writer`, and writes a new table.
Result<void> put_state(container::SegmentWriter& writer, container::Runs& runs, DrumState& state,
                       const Thresholds& thresholds);

}  // namespace crawlstore::drum
