// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The only place where raw bytes become numbers. Everything on disk is little-endian; both
/// compilers turn these into single loads and stores on little-endian machines.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace crawlstore::format {

/// Loads a T at `bytes`. The caller has proved that sizeof(T) bytes are there. No alignment needed.
template <class T>
inline T load(const std::byte* bytes) {
  static_assert(std::is_unsigned_v<T> || std::is_signed_v<T>);
  T value;
  std::memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  if constexpr (sizeof(T) == 2) value = static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) value = static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) value = static_cast<T>(__builtin_bswap64(value));
#endif
  return value;
}

/// Stores a T at `bytes`.
template <class T>
inline void store(std::byte* bytes, T value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  if constexpr (sizeof(T) == 2) value = static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) value = static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) value = static_cast<T>(__builtin_bswap64(value));
#endif
  std::memcpy(bytes, &value, sizeof value);
}

/// Loads a number of `width_bytes` bytes, 0 to 8. The caller has proved that they are there.
inline std::uint64_t load_narrow(const std::byte* bytes, std::size_t width_bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = width_bytes; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value;
}

/// Stores the lower `width_bytes` bytes, 0 to 8, of `value`.
inline void store_narrow(std::byte* bytes, std::uint64_t value, std::size_t width_bytes) {
  for (std::size_t i = 0; i < width_bytes; ++i) {
    bytes[i] = static_cast<std::byte>(value >> (8 * i));
  }
}

/// Loads a struct of layout.h, padding-free and little-endian like the machine (asserted there).
template <class T>
inline T load_struct(const std::byte* bytes) {
  static_assert(std::has_unique_object_representations_v<T>);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// Stores a struct of layout.h.
template <class T>
inline void store_struct(std::byte* bytes, const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  std::memcpy(bytes, &value, sizeof value);
}

/// Bytes that a number needs without zeros behind it: 0 to 8.
constexpr std::size_t number_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value)) + 7) / 8;
}

/// Loads a number of `width` bytes, at most 8, as load() does.
inline std::uint64_t load_number(const std::byte* bytes, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i > 0; --i) {
    value = value << 8U | std::to_integer<std::uint64_t>(bytes[i - 1]);
  }
  return value;
}

/// Stores the `width` lowest bytes of a number.
inline void store_number(std::byte* bytes, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
}

/// A column of numbers as it lies in memory. The caller has proved that it is aligned for T and
/// that its length is a multiple of sizeof(T); a column of bytes fits every T = std::byte.
template <class T>
inline std::span<const T> numbers(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// `value` rounded up to a multiple of `unit`, a power of two. The caller keeps value below 2^63.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

/// Whether every byte is zero: for padding and reserved bytes.
inline bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace crawlstore::format
