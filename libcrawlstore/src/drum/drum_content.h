// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payload of one run of a drum must keep by itself: spec/format.md, the
/// sections on its segments.

#include <cstdint>
#include <span>
#include <vector>

#include "container/kind.h"

namespace crawlstore::drum {

/// Of whatever holds keys.
///   key_min, max  of 16-byte keys the heads
struct KeyContent : container::RunContent {
  using RunContent::RunContent;
  std::uint16_t key_bytes = 0;
  std::int32_t value_bytes = 0;
  std::uint64_t key_min = 0;
  std::uint64_t key_max = 0;
};

/// Of key runs and result runs.
///   sequence_column_bytes  of key runs: where the numbers of 4 bytes begin in the payload that are
///                          to be added to sequence_min; 0: there are none, they are 0, 1, 2 ...
///   consumers              those named, ascending
struct RequestContent final : KeyContent {
  using KeyContent::KeyContent;
  std::uint64_t sequence_min = 0;
  std::uint64_t sequence_max = 0;
  std::uint64_t sequence_column_bytes = 0;
  std::vector<std::uint16_t> consumers;
};

/// A KeyContent. memory  some windows, and one block
Result<container::RunContentPtr> check_partition(const container::PayloadSource& payload,
                                                 const container::ContentProgress& progress);
/// A RequestContent.
Result<container::RunContentPtr> check_key_run(std::span<const std::byte> payload);
/// A RunContent.
Result<container::RunContentPtr> check_aux_run(std::span<const std::byte> payload);
/// A RequestContent.
Result<container::RunContentPtr> check_result_run(std::span<const std::byte> payload);

}  // namespace crawlstore::drum
