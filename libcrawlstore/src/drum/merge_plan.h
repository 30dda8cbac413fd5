// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Plans of merges: sizes and limits in, merges out. Pure functions.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/tools/merge_rules.h>

#include "drum/shape.h"
#include "format/directory.h"

namespace crawlstore::drum {

struct KeyFilter;

/// One bucket's merge, or a slice of it: the leading `run_count` runs. The last slice also takes
/// all other locked runs and all sealed requests.
struct PlannedMerge {
  std::uint64_t first_key = 0;  // names the bucket, whatever splits meanwhile
  std::size_t run_count = 0;
  std::uint64_t request_bytes = 0;
  bool is_last_slice = true;
  const KeyFilter* filter = nullptr;  // as in MergeJob; of the last slice only
  std::uint64_t filtered_bytes = 0;   // of the partition, if there is a filter
};

/// All that waits for a bucket.
struct BucketLoad {
  std::uint64_t first_key = 0;
  std::uint64_t last_key = 0;
  std::span<const format::RunRef> key_runs;
  std::uint64_t sealed_keys = 0;  // that the merge sorts
  std::uint64_t sealed_bytes = 0;
  const KeyFilter* filter = nullptr;
  std::uint64_t filtered_bytes = 0;
};

/// Plans all of it, in slices of at most `slice_requests_max` requests, but at least a run. A
/// filter is asked in the last one, when the values are known.
std::vector<PlannedMerge> plan_slices(const BucketLoad& load, std::uint64_t slice_requests_max);

/// Returns the number of leading merges of a plan that are made in one flight: whole buckets until
/// they have `flight_bytes` of requests or `filtered_bytes_max` of partitions, or one slice.
std::size_t choose_flight(std::span<const PlannedMerge> plan, std::uint64_t flight_bytes,
                          std::uint64_t filtered_bytes_max);

/// The buckets [first, end).
struct BucketRange {
  std::size_t first = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return first == end; }
};

/// Returns the bucket that waits with the most bytes, or none.
///   waiting_bytes(bucket)  of its requests in memory that no merge has planned to take
template <class WaitingBytes>
BucketRange choose_fullest(std::size_t bucket_count, const WaitingBytes& waiting_bytes) {
  std::size_t fullest = 0;
  for (std::size_t b = 1; b < bucket_count; ++b) {
    if (waiting_bytes(b) > waiting_bytes(fullest)) fullest = b;
  }
  return {fullest, fullest + (waiting_bytes(fullest) != 0 ? 1 : 0)};
}

/// Returns the next buckets of a sweep that goes on at `start`: the first that waits, around the
/// end, and those behind it until they have about `flight_bytes`; or none.
///   is_planned(bucket)  whether a merge will take its requests
template <class WaitingBytes, class IsPlanned>
BucketRange choose_next(std::size_t bucket_count, std::size_t start, std::uint64_t flight_bytes,
                        const WaitingBytes& waiting_bytes, const IsPlanned& is_planned) {
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const std::size_t first = (start + i) % bucket_count;
    std::uint64_t bytes = waiting_bytes(first);
    if (bytes == 0) continue;
    std::size_t end = first + 1;
    while (end < bucket_count && !is_planned(end) &&
           bytes + waiting_bytes(end) / 2 < flight_bytes) {
      bytes += waiting_bytes(end++);
    }
    return {first, end};
  }
  return {};
}

/// A bucket after a merge, at most.
struct MergedSize {
  std::uint64_t key_count = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t key_range = 0;  // its last key less its first
  Shape shape;
};

/// The pieces into which a merge cuts a bucket.
struct Pieces {
  std::uint64_t count = 1;
  std::uint64_t keys_max = 0;   // of a piece
  std::uint64_t bytes_max = 0;  // of the partition of a piece
};

/// Chooses the pieces of a merged bucket.
///   may_cut             whether it may be cut for its keys and bytes
///   partition_keys_max  above which it is cut
///   count_max           pieces that the DRUM has room for, at least 1
Pieces choose_pieces(const MergedSize& merged, bool may_cut, std::uint64_t partition_keys_max,
                     std::uint64_t count_max);

}  // namespace crawlstore::drum
