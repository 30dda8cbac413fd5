// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "format/key_block.h"

namespace crawlstore::drum {

/// The lengths of the keys and the values of a DRUM.
struct Shape {
  std::uint16_t key_bytes = format::kKeyBytes;  // 8 or 16
  std::int32_t value_bytes = 0;                 // 0 none, -1 any length
  [[nodiscard]] bool is_wide() const { return key_bytes == format::kWideKeyBytes; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

}  // namespace crawlstore::drum
