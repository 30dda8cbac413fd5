// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The chunks of a run that are whole.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "container/run_io.h"
#include "format/layout.h"

namespace crawlstore::rescue {

/// A payload whose damaged chunks are zeros.
struct DamagedPayload {
  std::vector<std::byte> bytes;
  std::vector<bool> is_lost;  ///< by chunk

  [[nodiscard]] bool is_whole(std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t i = begin / format::kChunkBytes; i * format::kChunkBytes < end; ++i) {
      if (is_lost[i]) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_whole() const { return is_whole(0, bytes.size()); }
  /// Bytes in front of the first damaged chunk.
  [[nodiscard]] std::uint64_t whole_bytes() const;
};

/// errors  of the storage, not of damage
Result<DamagedPayload> read_damaged(const container::RunReader& reader);

}  // namespace crawlstore::rescue
