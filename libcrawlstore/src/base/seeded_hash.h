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
class SeededHash {
 public:
  std::size_t operator()(std::uint64_t number) const {
    return XXH3_64bits_withSeed(&number, sizeof number, seed_);
  }
  std::size_t operator()(std::string_view text) const {
    return XXH3_64bits_withSeed(text.data(), text.size(), seed_);
  }

 private:
  std::uint64_t seed_ = std::bit_cast<std::uintptr_t>(this) * 0x9E37'79B9'7F4A'7C15;
};

}  // namespace crawlstore
