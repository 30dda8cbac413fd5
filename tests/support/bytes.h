// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bytes, and how they get in and out of files and storages: the vocabulary of the tests of io/.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/storage.h>

#include "support/random.h"

namespace crawlstore::testing {

inline std::vector<std::byte> filled(std::size_t length_bytes, unsigned value) {
  return std::vector<std::byte>(length_bytes, static_cast<std::byte>(value));
}

inline std::vector<std::byte> random_bytes(std::size_t length_bytes, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(length_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Up to `length_bytes` bytes at `offset`; empty after a failure.
inline std::vector<std::byte> read_bytes(Storage& storage, std::uint64_t offset,
                                         std::size_t length_bytes) {
  std::vector<std::byte> bytes(length_bytes);
  bytes.resize(storage.read(offset, bytes).value_or(0));
  return bytes;
}

inline void put_file(const std::string& path, std::span<const std::byte> content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const void* bytes = content.data();
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(content.size()));
}

inline std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> content;
  for (char letter = 0; file.get(letter);) content.push_back(static_cast<std::byte>(letter));
  return content;
}

/// The code of a failed result, or Errc{} of a successful one.
template <class T>
Errc code_of(const Result<T>& result) {
  return result ? Errc{} : result.error().code;
}

}  // namespace crawlstore::testing
