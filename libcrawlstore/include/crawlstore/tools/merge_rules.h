// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When a DRUM empties its arrays, how much at a time, whether that merges or logs, and how much
/// room it reserves: what decides on the bytes that it reads and writes. A DRUM follows these
/// rules, and who foresees what one will do (`crawlstore plan`) calls them as well. They are no
/// promise: another version may have others.
///
/// Units: bytes and requests, as said. Bytes of requests are those that they have in memory: key,
/// value and auxiliary.
/// Ownership: as in crawlstore.hpp. Threads: pure functions, any thread. Errors: none. Cost:
/// constant. Why these numbers: spec/design.md, cost model.

#include <algorithm>
#include <bit>
#include <cstdint>

#pragma GCC visibility push(default)
namespace crawlstore::drum {

/// Most requests that one sort takes.
inline constexpr std::uint32_t kSortCountMax = std::uint32_t{1} << 24;
/// An array, and what a flight takes, has at least so many bytes.
inline constexpr std::uint64_t kArrayBytesMin = 4096;
/// Bytes that sorting and answering a request needs beside its own.
inline constexpr std::uint64_t kMergeBytesPerRequest = 48;
/// However small the memory, a slice of a merge takes so many requests.
inline constexpr std::uint64_t kSliceRequestsMin = 4096;
/// A bucket's log has at most so many runs.
inline constexpr std::uint64_t kLogRunsMax = 256;
/// A log that cannot be joined any more is merged before it has all its runs.
inline constexpr std::uint64_t kRunsUntilMerge = kLogRunsMax / 4 * 3;
/// A log with this many runs has its newest runs joined.
inline constexpr std::uint64_t kJoinRunCount = kLogRunsMax / 2;
/// Requests and bytes that joined runs may have however small the memory: they are read whole.
inline constexpr std::uint64_t kJoinedRequestsMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kJoinedBytesMin = std::uint64_t{64} << 20;
/// Divisors of the memory: a flight takes that part, and a bucket is merged when it has that part.
inline constexpr std::uint64_t kFlightShare = 16;
inline constexpr std::uint64_t kHotShare = 4;
/// Most keys of a partition's block, and where its values have more bytes, it ends before.
inline constexpr std::uint32_t kPartitionBlockKeysMax = 512;
inline constexpr std::uint64_t kBlockValueBytesMax = 16 * 1024 * 1024;

/// Bytes that one flight takes out of arrays.
constexpr std::uint64_t flight_bytes(std::uint64_t memory_bytes) {
  return std::max(kArrayBytesMin, memory_bytes / kFlightShare);
}

/// Whether the arrays and what is in flight or landing, two flights at least, fill the memory.
constexpr bool fills_memory(std::uint64_t array_bytes, std::uint64_t sealed_bytes,
                            std::uint64_t memory_bytes) {
  return array_bytes + std::max(sealed_bytes, 2 * flight_bytes(memory_bytes)) >= memory_bytes;
}

/// Whether one array takes too much of the memory, or has half the requests that one sort takes.
constexpr bool is_hot(std::uint64_t array_bytes, std::uint64_t request_count,
                      std::uint64_t memory_bytes) {
  return array_bytes >= memory_bytes / kHotShare || request_count >= kSortCountMax / 2;
}

/// Requests that one slice of a merge takes.
///   beside_bytes  of a value of fixed size, and of a key behind its first 8 bytes
constexpr std::uint64_t slice_requests_max(std::uint64_t memory_bytes, std::uint64_t beside_bytes) {
  return std::clamp(memory_bytes / (kMergeBytesPerRequest + 2 * beside_bytes), kSliceRequestsMin,
                    std::uint64_t{kSortCountMax});
}

/// Whether it is cheaper to merge some buckets from memory now than to log their requests and merge
/// them with later ones. With partitions of P bytes, requests of R bytes in memory and of L in the
/// logs, a merge costs P for reading and P for writing. Logging costs R twice, and makes the merge
/// wait until the logs hold 2 P.
constexpr bool pays_to_merge(std::uint64_t partition_bytes, std::uint64_t memory_bytes,
                             std::uint64_t log_bytes) {
  return 3 * memory_bytes >= 2 * partition_bytes || memory_bytes + log_bytes >= 2 * partition_bytes;
}

/// Bytes that a partition's payload needs at most: what a merge reserves before it knows which
/// keys are new.
///   range  last possible key - first possible key; of 16-byte keys that of their heads
///   value_total_bytes  of all values, lengths included
constexpr std::uint64_t partition_bytes_max(std::uint64_t key_count, std::uint64_t range,
                                            std::uint64_t value_total_bytes, bool is_wide) {
  // A block that ends early for its values and the one behind it have more than
  // kBlockValueBytesMax together.
  const std::uint64_t blocks =
      key_count / kPartitionBlockKeysMax + 2 * value_total_bytes / kBlockValueBytesMax + 2;
  // Elias-Fano: at most 2 + log2(range / n) bits a key; log2 rounded up, in quarters of a byte.
  const std::uint64_t per_key = range / std::max<std::uint64_t>(1, key_count);
  const auto bits = static_cast<std::uint64_t>(std::bit_width(per_key)) + 2;
  constexpr std::uint64_t kBlockOverheadBytes = 16 + 8 + 8 + 12 + 16;
  const std::uint64_t tails = is_wide ? (key_count + blocks) * 8 : 0;
  return key_count * bits / 8 + tails + blocks * kBlockOverheadBytes + value_total_bytes + 128;
}

}  // namespace crawlstore::drum
#pragma GCC visibility pop
