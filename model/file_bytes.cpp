// SPDX-License-Identifier: Apache-2.0
#include "model/file_bytes.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace crawlstore::model {
namespace {

constexpr std::size_t kSearchPiece = std::size_t{1} << 20U;
constexpr std::size_t kVarintMax = 10;

std::uint64_t number(std::span<const std::byte> bytes, std::size_t size, bool is_big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = is_big_endian ? i : size - 1 - i;
    value = value << 8U | std::to_integer<std::uint64_t>(bytes[at]);
  }
  return value;
}

/// Reads a number of `size` bytes as two's complement.
std::int64_t signed_number(std::uint64_t value, std::size_t size) {
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

void add_varint(std::vector<Field>& fields, std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min(bytes.size(), kVarintMax); ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    if (i + 1 == kVarintMax && byte > 1) return;  // beyond 64 bits
    value |= (byte & 0x7fU) << (7 * i);
    if ((byte & 0x80U) == 0) {
      fields.push_back({"varint", Unit::kCount, value});
      return;
    }
  }
}

bool is_shown(std::byte byte) {
  return byte >= std::byte{0x20} && byte < std::byte{0x7f};
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<const FileBytes>> FileBytes::open(const std::string& path) {
  CRAWLSTORE_TRY(auto storage, open_storage(path, OpenMode::kReadNoPin));
  return std::shared_ptr<const FileBytes>(new FileBytes(std::move(storage)));
}

Result<std::vector<std::byte>> FileBytes::read(std::uint64_t offset, std::size_t count_max) const {
  CRAWLSTORE_TRY(const auto length, size());
  if (offset >= length) return std::vector<std::byte>();
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(std::min<std::uint64_t>(count_max, length - offset)));
  CRAWLSTORE_TRY(const auto count, storage_->read(offset, bytes));
  bytes.resize(count);
  return bytes;
}

Result<std::optional<std::uint64_t>> FileBytes::find(
    std::span<const std::byte> wanted, Extent within,
    const std::function<bool(std::uint64_t)>& go_on) const {
  if (wanted.empty()) return std::optional<std::uint64_t>{};
  const std::uint64_t end =
      within.offset_bytes + std::min(within.length_bytes, ~within.offset_bytes);
  for (std::uint64_t at = within.offset_bytes; at < end;) {
    // Pieces overlap, so that nothing is missed between two.
    const std::size_t length =
        static_cast<std::size_t>(std::min<std::uint64_t>(kSearchPiece, end - at)) + wanted.size() -
        1;
    CRAWLSTORE_TRY(const auto bytes, read(at, length));
    const auto found = std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
    if (found != bytes.end()) {
      return std::optional(at + static_cast<std::uint64_t>(found - bytes.begin()));
    }
    if (bytes.size() < length) break;
    at += kSearchPiece;
    if (!go_on(at)) return fail(Errc::kCancelled, "the search was cancelled");
  }
  return std::optional<std::uint64_t>{};
}

std::vector<Field> byte_values(std::span<const std::byte> bytes) {
  std::vector<Field> fields;
  for (const std::size_t size : {1U, 2U, 4U, 8U}) {
    if (bytes.size() < size) break;
    const std::string bits = std::to_string(8 * size);
    const std::uint64_t little = number(bytes, size, false);
    fields.push_back({"u" + bits, Unit::kCount, little});
    fields.push_back({"i" + bits, Unit::kCount, signed_number(little, size)});
    if (size > 1) fields.push_back({"u" + bits + " be", Unit::kCount, number(bytes, size, true)});
  }
  if (bytes.size() >= 4) {
    const auto bits = static_cast<std::uint32_t>(number(bytes, 4, false));
    fields.push_back({"f32", Unit::kText, fmt::format("{:g}", std::bit_cast<float>(bits))});
  }
  if (bytes.size() >= 8) {
    const std::uint64_t bits = number(bytes, 8, false);
    fields.push_back({"f64", Unit::kText, fmt::format("{:g}", std::bit_cast<double>(bits))});
    fields.push_back({"time_us", Unit::kTimeUs, signed_number(bits, 8)});
  }
  add_varint(fields, bytes);
  return fields;
}

std::string hex_dump(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t line = 0; line < bytes.size(); line += 16) {
    const auto part = bytes.subspan(line, std::min<std::size_t>(16, bytes.size() - line));
    text += fmt::format("{:012x} ", offset + line);
    for (std::size_t i = 0; i < 16; ++i) {
      text += i < part.size() ? fmt::format(" {:02x}", part[i]) : "   ";
    }
    text += "  ";
    for (const std::byte byte : part) text += is_shown(byte) ? static_cast<char>(byte) : '.';
    text += '\n';
  }
  return text;
}

std::optional<std::vector<std::byte>> parse_byte_string(std::string_view text) {
  std::vector<std::byte> bytes;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    for (const char c : text.substr(1, text.size() - 2)) bytes.push_back(static_cast<std::byte>(c));
    if (bytes.empty()) return std::nullopt;
    return bytes;
  }
  std::vector<unsigned> digits;
  for (const char c : text) {
    if (c == ' ' && digits.size() % 2 == 0) continue;
    const auto digit = hex_digit(c);
    if (!digit) return std::nullopt;
    digits.push_back(*digit);
  }
  if (digits.empty() || digits.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digits[i] << 4U | digits[i + 1]));
  }
  return bytes;
}

}  // namespace crawlstore::model
