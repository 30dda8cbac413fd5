// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pieces of a file that the tests of format/ share, and small words to make and break them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "format/checksum.h"
#include "format/directory.h"
#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"
#include "format/superblock.h"

namespace crawlstore::testing {

using Bytes = std::vector<std::byte>;

/// 00112233-4455-4677-8899-aabbccddeeff.
inline Uuid sample_uuid() {
  Uuid uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<std::byte>(i * 0x11);
  uuid[6] = std::byte{0x46};
  return uuid;
}

inline constexpr std::int64_t kSampleTimeUs = 1'700'000'000'000'000;

/// Byte i is (i * 7 + i / 251) mod 256.
inline Bytes pattern(std::size_t length) {
  Bytes bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <class T>
Bytes bytes_of_struct(const T& value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// A random number below `end`.
template <class T = std::uint32_t>
T below(std::mt19937_64& random, std::uint64_t end) {
  return static_cast<T>(random() % end);
}

/// The same bytes with `value` at `offset`.
template <class T>
Bytes with(Bytes bytes, std::size_t offset, T value) {
  format::store(bytes.data() + offset, value);
  return bytes;
}

/// `00 ff ...`
inline std::string hex_of(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

/// `0x0123456789abcdef`
inline std::string hex_of(std::uint64_t value) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

/// The code of a failed Result, or the code 0.
template <class T>
Errc code_of(const Result<T>& result) {
  return result ? Errc{} : result.error().code;
}

/// The text of a failed Result, or "accepted".
template <class T>
std::string text_of(const Result<T>& result) {
  return result ? "accepted" : result.error().text;
}

inline format::Identity sample_identity() {
  format::Identity identity{};
  identity.uuid = sample_uuid();
  identity.key_seed = 0x0123456789abcdef;
  identity.created_us = kSampleTimeUs;
  return format::seal_identity(identity);
}

/// Generation 1 of the smallest file, not sealed.
inline format::Superblock sample_superblock() {
  format::Superblock superblock{};
  superblock.generation = 1;
  superblock.commit_time_us = kSampleTimeUs;
  superblock.high_water_bytes = format::kDataStart + format::kUnitBytes;
  superblock.root_offset_bytes = format::kDataStart;
  superblock.root_payload_bytes = 80;
  return superblock;
}

inline format::Superblock sealed(const format::Superblock& superblock) {
  return format::seal_superblock(superblock, sample_uuid(), 1, 0);
}

/// A store that was just created: 86,016 bytes.
inline Bytes smallest_file() {
  format::DirectoryRoot root;
  root.generation = {1};
  format::Superblock superblock = sample_superblock();
  const Bytes piece = format::seal_root(format::encode_root(root), sample_identity(), superblock);
  Bytes file(format::kDataStart);
  std::memcpy(file.data(), bytes_of_struct(sample_identity()).data(), format::kUnitBytes);
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    const auto sealed_copy = format::seal_superblock(superblock, sample_uuid(), 1, copy);
    std::memcpy(file.data() + format::kSuperblockOffsets[1][copy],
                bytes_of_struct(sealed_copy).data(), format::kUnitBytes);
  }
  file.insert(file.end(), piece.begin(), piece.end());
  return file;
}

}  // namespace crawlstore::testing
