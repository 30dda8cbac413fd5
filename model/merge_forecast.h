// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Foresees what a DRUM will read, write and compute: its flights, one after the other, by the
/// rules of merge_rules.h. Requests and keys are amounts, not things: every bucket gets the same
/// share, and of the requests the same share is new at all times. Pure functions; any thread.

#include <cstdint>

namespace crawlstore::model {

/// The requests that will come. Counts > 0.
struct MergeWorkload {
  double key_count = 0;  ///< different keys among the requests
  double request_count = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t bucket_count = 0;
  std::uint32_t key_bytes = 8;    ///< of every key
  std::uint64_t value_bytes = 0;  ///< of every value
  std::uint64_t aux_bytes = 0;    ///< of every auxiliary
  double aux_stored_share = 1;    ///< of its bytes, what is left of them in a log
  double read_bytes_per_second = 0;
  double write_bytes_per_second = 0;
  /// Buckets that are not told apart: more are simulated in groups.
  std::uint32_t groups_max = 1024;

  /// The bytes of a request in an array.
  [[nodiscard]] std::uint64_t request_bytes() const { return beside_bytes() + 8 + aux_bytes; }
  /// The bytes of a key after its first 8, and of its value: as they are, in runs and partitions.
  [[nodiscard]] std::uint64_t beside_bytes() const { return key_bytes - 8 + value_bytes; }
};

/// The work that will have been done when all is merged. Bytes are those that StorageCounters
/// counts.
struct MergeForecast {
  double bytes_read = 0;
  double bytes_written = 0;
  double commit_bytes = 0;       ///< of the written: directory, DRUM table, superblocks
  double log_bytes = 0;          ///< of the written: runs of logs
  double partition_bytes = 0;    ///< at the end
  double file_bytes = 0;         ///< at the end: what was ever in use at once
  std::uint64_t pass_count = 0;  ///< sweeps that began, and merges of everything
  double commit_count = 0;
  double bucket_merge_count = 0;
  double merge_requests = 0;         ///< of a bucket's merge, all but the last pass
  double last_merge_requests = 0;    ///< of the largest merge of the last pass
  double array_requests = 0;         ///< of an array when it is taken, all but the last pass
  double flight_buckets = 0;         ///< all but the last pass
  double logged_requests = 0;        ///< that were written to a log
  double first_logged_request = -1;  ///< how many had come then; < 0 never
  double submit_seconds = 0;         ///< CPU of the thread that submits and dispatches
  double merge_seconds = 0;          ///< CPU of the thread that merges
  double disk_seconds = 0;
  double seconds = 0;  ///< of the submitting thread, with its waits for the two others
};

/// Bytes of the partition of `key_count` random keys in one of `bucket_count` ranges, and of its
/// extent with checksums and padding: expected values.
struct PartitionBytes {
  double payload = 0;
  double extent = 0;
};
PartitionBytes partition_bytes(double key_count, const MergeWorkload& workload);

/// Payloads of the runs that `requests` of one bucket make.
struct RunBytes {
  double keys = 0;
  double auxes = 0;
  double unpacked = 0;  ///< both, with keys as they are in memory
};
RunBytes run_bytes(const MergeWorkload& workload, double requests, bool has_sequences);

/// cost  O(passes * min(buckets, groups_max)), half a microsecond each
MergeForecast forecast_merges(const MergeWorkload& workload);

}  // namespace crawlstore::model
