// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A search for one key in a block of which bounds alone were checked: whatever the bytes say, it
/// ends and stays inside.

#include <span>

#include "format/key_block.h"
#include "require.h"

namespace crawlstore::fuzz {

inline void check_search(std::span<const std::byte> bytes, std::int32_t value_bytes,
                         std::uint16_t key_bytes) {
  const auto block = format::parse_key_block_bounds(bytes, value_bytes, key_bytes);
  if (!block) return;
  for (const std::uint64_t above : {0U, 1U, 1U << 16}) {
    const auto place = format::find_key(*block, block->first_key + above, 0);
    require(!place || *place < block->key_count);
  }
}

}  // namespace crawlstore::fuzz
