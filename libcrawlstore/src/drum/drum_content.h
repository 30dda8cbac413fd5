// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payload of one run of a drum must keep by itself: spec/drum.md.

#include <cstdint>
#include <span>
#include <vector>

#include "container/kind.h"

namespace crawlstore::drum {

/// The content of any run that holds keys.
///   key_min, max  the heads, if keys have 16 bytes
struct KeyContent : container::RunContent {
  using RunContent::RunContent;
  std::uint16_t key_bytes = 0;
  std::int32_t value_bytes = 0;
  std::uint64_t key_min = 0;
  std::uint64_t key_max = 0;
};

/// The content of key runs and result runs.
///   sequence_column_bytes  key runs: place in the payload of the numbers of 4 bytes that are added
///                          to sequence_min; 0 if they are 0, 1, 2 ... and not stored
///   consumers              those that the run names, ascending
struct RequestContent final : KeyContent {
  using KeyContent::KeyContent;
  std::uint64_t sequence_min = 0;
  std::uint64_t sequence_max = 0;
  std::uint64_t sequence_column_bytes = 0;
  std::vector<ConsumerId> consumers;
};

/// Checks a partition and returns a KeyContent.
///   memory  some windows, and one block
Result<container::RunContentPtr> check_partition(const container::PayloadSource& payload,
                                                 const container::ContentProgress& progress);
/// Checks a key run and returns a RequestContent.
Result<container::RunContentPtr> check_key_run(std::span<const std::byte> payload);
/// Checks an auxiliary run and returns a RunContent.
Result<container::RunContentPtr> check_aux_run(std::span<const std::byte> payload);
/// Checks a result run and returns a RequestContent.
Result<container::RunContentPtr> check_result_run(std::span<const std::byte> payload);

/// The rows of the segments that a DRUM is made of: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::drum
