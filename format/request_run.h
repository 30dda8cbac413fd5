// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs of a bucket's two logs (requests that wait for a merge) and of a results log:
/// spec/drum.md#request-runs, #result-runs. Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "aux_blocks.h"
#include "layout.h"

namespace crawlstore::format {

/// Low two bits of a tag; the 14 bits above are the consumer.
enum class Operation : std::uint8_t { kCheck = 0, kUpdate = 1, kCheckUpdate = 2 };

inline constexpr std::uint32_t kAuxBytesMax = 1 << 26;
inline constexpr std::uint64_t kRequestsPerRunMax = 1 << 24;

constexpr std::uint16_t make_tag(Operation operation, ConsumerId consumer) {
  return static_cast<std::uint16_t>(consumer.value << 2 | static_cast<std::uint16_t>(operation));
}
constexpr Operation operation_of(std::uint16_t tag) {
  return static_cast<Operation>(tag & 3);
}
constexpr ConsumerId consumer_of(std::uint16_t tag) {
  return {static_cast<std::uint16_t>(tag >> 2)};
}

/// flags of KeyRunHeader
inline constexpr std::uint32_t kRunHasTags = 1;
inline constexpr std::uint32_t kRunHasSequences = 2;
/// flags of AuxRunHeader
inline constexpr std::uint32_t kAuxUniformLength = 1;

/// Requests as columns. Spans point into the caller's memory, both ways.
///   keys       n; packed in the payload; of 16-byte keys their heads, the first 8 bytes
///   tails      n, of 16-byte keys; or empty
///   tags       n, or empty: all are uniform_tag
///   sequences  n offsets from first_sequence, strictly ascending from 0; or empty: 0, 1, 2 ...
///   values     fixed: n * value_bytes; variable: all bytes; operations without a value have zeros
///              (fixed) or length 0
///   lengths    variable only: n
struct KeyRun {
  std::uint64_t first_sequence = 0;
  std::int32_t value_bytes = 0;
  std::uint16_t uniform_tag = 0;
  std::span<const std::uint64_t> keys;
  std::span<const std::uint16_t> tags;
  std::span<const std::uint32_t> sequences;
  std::span<const std::uint32_t> lengths;
  std::span<const std::byte> values;
  std::span<const std::uint64_t> tails{};
};

/// Appends the payload to `out`.
void encode_key_run(const KeyRun& run, std::vector<std::byte>& out);

/// `bytes` must be 8-byte aligned in memory (columns are handed out as spans of numbers). The keys
/// are unpacked into `keys`, where the run's span of them points: at most 512 bytes for 8 of
/// `bytes`.
///   errors  kSegmentInvalid (offset relative to `bytes`)
///   cost    about a nanosecond a key
Result<KeyRun> parse_key_run(std::span<const std::byte> bytes, std::vector<std::uint64_t>& keys);

/// Auxiliary bytes as columns: lengths empty = all are uniform_length_bytes. A run for
/// encode_aux_run() has no blocks: it compresses where that pays. A parsed run has bytes or blocks:
/// read both with AuxReader.
struct AuxRun {
  std::uint64_t record_count = 0;
  std::uint32_t uniform_length_bytes = 0;
  std::span<const std::uint32_t> lengths;
  std::span<const std::byte> bytes;
  AuxBlocks blocks{};
};
void encode_aux_run(const AuxRun& run, std::vector<std::byte>& out);
/// Looks at no block.
Result<AuxRun> parse_aux_run(std::span<const std::byte> bytes);

/// Verdicts kept for an absent consumer. verdict 0 = unique, 1 = duplicate (of a plain update: 0).
/// keys and tails as in a key run.
struct ResultRun {
  std::int32_t value_bytes = 0;
  std::span<const std::uint64_t> keys;
  std::span<const std::uint64_t> sequences;
  std::span<const std::uint16_t> tags;
  std::span<const std::uint8_t> verdicts;
  std::span<const std::uint32_t> value_lengths;  ///< variable values only
  std::span<const std::uint32_t> aux_lengths;
  std::span<const std::byte> values;
  std::span<const std::byte> auxes;
  std::span<const std::uint64_t> tails{};
};
void encode_result_run(const ResultRun& run, std::vector<std::byte>& out);
Result<ResultRun> parse_result_run(std::span<const std::byte> bytes);

}  // namespace crawlstore::format
