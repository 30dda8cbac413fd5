// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers of 32 bits, each in 0, 1, 2 or 4 bytes: spec/links.md#short-numbers. The lengths
/// (selectors, 2 bits a number) stand apart from the bytes (data), so that four numbers are decoded
/// by one shuffle. Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace crawlstore::format {

/// Bytes of the selectors of `count` numbers.
constexpr std::uint64_t selector_bytes(std::uint64_t count) {
  return count / 4 + (count % 4 != 0 ? 1 : 0);
}

/// Writes both parts and returns how long the data are.
///   selectors  selector_bytes(numbers.size()) bytes
///   data       room for 4 bytes a number; what lies behind the data is overwritten
///   cost       about a nanosecond a number
std::size_t encode_short_numbers(std::span<const std::uint32_t> numbers,
                                 std::span<std::byte> selectors, std::span<std::byte> data);

/// Fills `numbers` from hostile bytes. Reads nothing outside of both spans.
///   selectors  selector_bytes(numbers.size()) bytes
///   data       begins with the data and may go on behind them; the longer it is, the fewer numbers
///              at the end are decoded one by one
///   returns    how many bytes the data take; nothing if `data` is shorter than that, or a selector
///              behind the last number is not 0. Whether each number has its shortest form is not
///              looked at.
///   cost       about half a nanosecond a number with SSSE3
std::optional<std::size_t> decode_short_numbers(std::span<const std::byte> selectors,
                                                std::span<const std::byte> data,
                                                std::span<std::uint32_t> numbers);

/// The same without instructions that not every machine has.
std::optional<std::size_t> decode_short_numbers_portable(std::span<const std::byte> selectors,
                                                         std::span<const std::byte> data,
                                                         std::span<std::uint32_t> numbers);

}  // namespace crawlstore::format
