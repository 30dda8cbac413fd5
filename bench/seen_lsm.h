// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of the drivers of RocksDB and LevelDB: their interfaces are alike. Ownership:
/// nothing is kept. Threads: one.

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "seen_run.h"

namespace crawlstore::bench {

/// A key as bytes whose order is that of the keys.
template <class Slice>
class KeyBytes {
 public:
  explicit KeyBytes(std::uint64_t key) : bytes_(__builtin_bswap64(key)) {}
  KeyBytes(const KeyBytes&) = delete;
  KeyBytes& operator=(const KeyBytes&) = delete;
  [[nodiscard]] Slice slice() const {
    return Slice(reinterpret_cast<const char*>(&bytes_), sizeof(bytes_));
  }
  static std::uint64_t parse(const Slice& slice) {
    std::uint64_t bytes = 0;
    if (slice.size() != sizeof(bytes)) fail("a key of another length");
    std::memcpy(&bytes, slice.data(), sizeof(bytes));
    return __builtin_bswap64(bytes);
  }

 private:
  std::uint64_t bytes_;
};

/// The value as bytes; none in variant "key".
template <class Slice>
Slice value_slice(std::span<const std::uint64_t> values, std::size_t i) {
  if (values.empty()) return Slice();
  return Slice(reinterpret_cast<const char*>(&values[i]), sizeof(values[i]));
}

inline std::uint64_t parse_value(const std::string& bytes) {
  std::uint64_t value = 0;
  if (bytes.size() == sizeof(value)) std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

/// Marks the ascending keys that an iterator comes across: it steps while the next key is near, and
/// seeks when 32 steps were not enough. While the store is not much larger than the batch this is
/// 3.5 times as fast as a look-up or a seek a key.
template <class Slice, class Iterator>
void mark_present(Iterator& iterator, std::span<const std::uint64_t> keys,
                  std::span<std::uint8_t> was_there) {
  constexpr int kSteps = 32;
  const auto here = [&iterator]() -> std::optional<std::uint64_t> {
    if (!iterator.Valid()) return std::nullopt;
    return KeyBytes<Slice>::parse(iterator.key());
  };
  iterator.SeekToFirst();
  auto at = here();
  for (std::size_t i = 0; i < keys.size() && at; ++i) {
    for (int step = 0; at && *at < keys[i] && step < kSteps; ++step) {
      iterator.Next();
      at = here();
    }
    if (at && *at < keys[i]) {
      iterator.Seek(KeyBytes<Slice>(keys[i]).slice());
      at = here();
    }
    was_there[i] = at && *at == keys[i] ? 1 : 0;
  }
  if (!iterator.status().ok()) fail(iterator.status().ToString());
}

}  // namespace crawlstore::bench
