// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The planner: how many buckets a DRUM should have, and what it will read, write and take, before
/// it is made. It follows the flights of the DRUM one after the other, by the rules of the code,
/// with amounts in place of keys: every bucket gets the same share of the requests (keys are
/// hashes), and of the requests the same share is new at all times.
///
/// Ownership: plain values. Threads: pure functions, any thread.
/// Theory: Lee, Leonard, Wang, Loguinov, "IRLbot: Scaling to 6 Billion Pages and Beyond", WWW 2008,
/// section 4; formulas and constants: spec/design.md, cost model.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/error.h>

namespace crawlstore::model {

/// A forecast of the keys and requests that will come. When that is right, bytes and passes are
/// good to a tenth from 8 buckets on (below, to a third), times to a factor of 2.
struct DrumForecast {
  /// Different keys among the requests, 1 to 2^40; the only field without a default.
  std::uint64_t key_count = 0;
  /// All check_update requests, repeats included; 0 = 4 * key_count.
  std::uint64_t request_count = 0;
  /// Memory for the arrays, like DrumOptions::memory_bytes. The process needs more: resident_bytes.
  /// At least 64 KiB, 16 requests, and a thousandth of all requests.
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
  /// The bytes of a key: 8, or 16.
  std::uint32_t key_bytes = 8;
  /// The bytes of a value, on average; values of any length cost 4 more.
  std::uint64_t value_bytes = 0;
  /// The bytes of a request's auxiliary, on average; auxiliaries of several lengths cost 4 more.
  std::uint64_t aux_bytes = 0;
  /// The share of the bytes of auxiliaries that is left in logs, which compress them (LZ4) where
  /// that saves an eighth: above 0 to 1. About 0.5 of URLs, 1 of numbers that look random.
  double aux_stored_share = 0.5;
  /// Bytes that the disk reads and writes a second; by default those of a plain SSD.
  std::uint64_t disk_read_bytes_per_second = 500'000'000;
  std::uint64_t disk_write_bytes_per_second = 200'000'000;
  /// Plans for this many buckets; 0 = chooses, a power of two.
  std::uint32_t bucket_count = 0;
};

/// The settings to use, and the work that will have been done when all is merged. Counts and bytes
/// of a DRUM alone in its store, with the default DrumOptions but those named here.
struct DrumPlan {
  std::uint32_t bucket_count = 0;         ///< for DrumOptions
  std::uint64_t memory_bytes = 0;         ///< for DrumOptions: of all arrays and what is in flight
  std::uint64_t resident_bytes = 0;       ///< of the process: that, merges and buffers
  std::uint64_t request_count = 0;        ///< planned for
  std::uint64_t array_request_count = 0;  ///< that an array holds when it is taken, on average
  std::uint64_t merge_request_count = 0;  ///< that a bucket's merge sorts, those of logs among them
  std::uint64_t flight_bytes = 0;         ///< of requests that are taken out of arrays at a time
  std::uint64_t flight_bucket_count = 0;  ///< from which they come, on average
  std::uint64_t pass_count = 0;  ///< over the repository: DrumStatus::merge_count at the end
  std::uint64_t commit_count = 0;
  /// Requests that are written to a log, for a merge would cost more; the others never leave
  /// memory.
  std::uint64_t logged_request_count = 0;
  std::uint64_t first_logged_request = 0;  ///< so many had come when that began; if it does
  /// Bytes by the counts of StorageCounters.
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t log_written_bytes = 0;     ///< of these: requests
  std::uint64_t commit_written_bytes = 0;  ///< of these: directory, DRUM table, superblocks
  double read_bytes_per_request = 0;
  double written_bytes_per_request = 0;
  std::uint64_t partition_bytes = 0;  ///< of all keys with their values, at the end
  double bytes_per_key = 0;           ///< of these
  std::uint64_t file_bytes = 0;       ///< at the end, before compact(): with what is free in it
  double submit_seconds = 0;          ///< CPU of the thread that submits and dispatches
  double merge_seconds = 0;           ///< CPU of the thread that merges
  double disk_seconds = 0;            ///< if the system's cache held nothing
  /// From the first request to the end: these three overlapped, as far as they wait for each other.
  double seconds = 0;
  /// Pairs of different keys with the same 64 bits: n^2 / 2^65, or with the same 128: n^2 / 2^129.
  /// Each hides a page.
  double expected_false_duplicates = 0;
  std::vector<std::string> reasons;  ///< why, a sentence each
};

/// Plans.
///   errors  kInvalidArgument: a field is out of its range, or the memory is too little for an
///           array, or for a repository that would be read and written a thousand times
///   cost    some milliseconds; about a second when there will be a thousand passes
[[nodiscard]] Result<DrumPlan> plan_drum(const DrumForecast& forecast);

}  // namespace crawlstore::model
