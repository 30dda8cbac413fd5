// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace crawlstore::queue {

/// A hash of pages for tables in memory. Pages come from files, which may be hostile: the hash
/// depends on where the system put its first copy, so that no file has many pages of one hash.
class PageHash {
 public:
  std::size_t operator()(std::uint64_t page) const {
    std::uint64_t hash = page * multiplier_;
    hash = (hash ^ hash >> 32U) * multiplier_;
    return hash ^ hash >> 32U;
  }

 private:
  std::uint64_t multiplier_ = (std::bit_cast<std::uintptr_t>(this) * 0x9E37'79B9'7F4A'7C15) | 1U;
};

}  // namespace crawlstore::queue
