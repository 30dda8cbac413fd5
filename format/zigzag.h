// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Signed differences in modular arithmetic as numbers without a sign, small ones of either sign as
/// small numbers: spec/links.md#link-block.

#include <cstdint>

namespace crawlstore::format {

constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return difference << 1 ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t number) {
  return number >> 1 ^ (0 - (number & 1));
}

}  // namespace crawlstore::format
