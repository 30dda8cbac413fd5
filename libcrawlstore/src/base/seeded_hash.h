// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xxhash.h>

namespace crawlstore {

/// A hash for tables in memory whose keys come from files, which may be hostile: it depends on
/// where the system put its first copy, so that no file has many keys of one hash.
/// The two rounds of numbers are those of MurmurHash3.
class SeededHash {
 public:
  std::size_t operator()(std::uint64_t number) const {
    std::uint64_t hash = number ^ seed_;
    hash = (hash ^ hash >> 33U) * 0xFF51'AFD7'ED55'8CCD;
    hash = (hash ^ hash >> 33U) * 0xC4CE'B9FE'1A85'EC53;
    return hash ^ hash >> 33U;
  }
  std::size_t operator()(std::string_view text) const {
    return XXH3_64bits_withSeed(text.data(), text.size(), seed_);
  }

 private:
  std::uint64_t seed_ = std::bit_cast<std::uintptr_t>(this) * 0x9E37'79B9'7F4A'7C15;
};

}  // namespace crawlstore
