// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers about what a DRUM holds: how large its partitions are, how its keys are spread.
///
/// Ownership: as in crawlstore.hpp. Threads: any number; a call that reads makes no other one wait.
/// Errors: damage, with segment and offset. The bytes are in spec/drum.md#partition.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include <crawlstore/drum_view.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The partition of one bucket; all zeros when the bucket has no keys.
struct PartitionInfo {
  SegmentId partition;
  std::uint64_t key_count = 0;
  std::uint64_t block_count = 0;
  std::uint64_t payload_bytes = 0;    ///< blocks, index and footer
  std::uint64_t allocated_bytes = 0;  ///< with checksums and padding
  /// Bits of the payload over key_count; 0 without keys.
  [[nodiscard]] double bits_per_key() const;
};

/// cost    the footer of one partition, when it is touched for the first time
/// errors  kInvalidArgument: there is no such bucket; of damage
[[nodiscard]] Result<PartitionInfo> partition_info(const DrumView& view, std::uint64_t bucket);

/// The nearness of a bucket to its next merge and split, by what its writer stated (DrumInfo).
struct BucketFill {
  std::uint64_t key_log_bytes = 0;  ///< payload of the requests that wait
  std::uint64_t aux_log_bytes = 0;  ///< payload of their auxiliaries
  std::uint64_t run_count = 0;      ///< of the key log
  /// The fuller log, or its requests, over the threshold: above 1 the bucket calls for a merge (as
  /// it does with too many runs to join). One from memory may come earlier. nullopt = not stated.
  std::optional<double> merge_ratio;
  /// Keys over partition_keys_max: above 1 the next merge splits. nullopt = not stated.
  std::optional<double> split_ratio;
};

/// cost    reads nothing: the directory has it all
/// errors  kInvalidArgument: there is no such bucket; kSegmentInvalid: nor such a log
[[nodiscard]] Result<BucketFill> bucket_fill(const DrumView& view, std::uint64_t bucket);

/// Distances of keys from the one before them. Keys of 16 bytes are compared by their heads.
struct GapHistogram {
  /// [i]: gaps of 2^i to 2^(i + 1) - 1.
  std::array<std::uint64_t, 64> counts{};
  std::uint64_t shared_head_count = 0;  ///< keys of 16 bytes with the head of the one before
  std::uint64_t key_count = 0;          ///< keys looked at: gaps, shared heads, and the first key
};

struct GapOptions {
  /// The only bucket to look at. nullopt: the whole DRUM, gaps from bucket to bucket included.
  std::optional<std::uint64_t> bucket;
  /// Called after each few thousand keys with keys done and all; false stops with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

/// Reads all these keys, in order: a background job. Everything counted has been verified.
///   cost    one sequential read of the partitions, through a buffer of 1 MiB
///   errors  kInvalidArgument: there is no such bucket; kCancelled; of damage
[[nodiscard]] Result<GapHistogram> gap_histogram(const DrumView& view,
                                                 const GapOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
