// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The payload of a `drum` segment as plain structs: spec/drum.md#drum. Any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore::format {

/// One bucket: keys in [first_key, first_key of the next bucket); of 16-byte keys their heads.
struct DrumBucket {
  std::uint64_t first_key = 0;
  SegmentId partition;  ///< 0 = no keys yet
  SegmentId key_log;    ///< 0 = nothing pending
  SegmentId aux_log;    ///< 0 = no auxiliary bytes pending
  std::uint64_t key_count = 0;
  std::uint64_t pending_count = 0;
  friend bool operator==(const DrumBucket&, const DrumBucket&) = default;
};

struct DrumConsumer {
  ConsumerId id;
  std::string name;
  SegmentId results;  ///< 0 = none wait
  std::uint64_t result_count = 0;
  friend bool operator==(const DrumConsumer&, const DrumConsumer&) = default;
};

struct DrumTable {
  std::uint16_t key_bytes = 8;
  KeyScheme key_scheme = KeyScheme::kOpaque;
  std::int32_t value_bytes = 0;
  std::uint64_t next_sequence = 0;
  std::uint64_t merge_count = 0;
  std::uint64_t unparsed_count = 0;     ///< URLs that no parser took, keyed as they are
  std::vector<DrumBucket> buckets;      ///< at least one; first_key 0, then strictly ascending
  std::vector<DrumConsumer> consumers;  ///< ascending id; id 0 always exists
  std::uint64_t merge_bytes = 0;        ///< thresholds of the writer, for display; 0 = not stated
  std::uint64_t merge_requests = 0;
  std::uint64_t partition_keys_max = 0;
  std::string normalizer;  ///< of URLs; empty: normalisation version 2
  friend bool operator==(const DrumTable&, const DrumTable&) = default;
};

std::vector<std::byte> encode_drum_table(const DrumTable& table);

/// errors kSegmentInvalid; text names the rule
Result<DrumTable> parse_drum_table(std::span<const std::byte> bytes);

inline constexpr std::uint32_t kBucketsMax = 65536;
inline constexpr std::uint16_t kConsumersMax = 16383;

}  // namespace crawlstore::format
