// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace crawlstore::queue {

/// A hash of pages for tables in memory. Pages come from files, which may be hostile: the hash
/// depends on where the system put its first copy, so that no file has many pages of one hash.
/// The two rounds are those of MurmurHash3.
class PageHash {
 public:
  std::size_t operator()(std::uint64_t page) const {
    std::uint64_t hash = page ^ seed_;
    hash = (hash ^ hash >> 33U) * 0xFF51'AFD7'ED55'8CCD;
    hash = (hash ^ hash >> 33U) * 0xC4CE'B9FE'1A85'EC53;
    return hash ^ hash >> 33U;
  }

 private:
  std::uint64_t seed_ = std::bit_cast<std::uintptr_t>(this) * 0x9E37'79B9'7F4A'7C15;
};

}  // namespace crawlstore::queue
