// SPDX-License-Identifier: Apache-2.0
#include "model/broken_strings.h"

#include <charconv>

#include "model/utf8.h"

namespace crawlstore::model {
namespace {

constexpr std::size_t kEscapeBytes = 6;  // \uXXXX
constexpr unsigned kHighBegin = 0xD800;
constexpr unsigned kLowBegin = 0xDC00;
constexpr unsigned kLowEnd = 0xE000;

/// The unit that `\uXXXX` at `at` stands for; 0: there is another text.
unsigned unit_at(std::string_view json, std::size_t at) {
  const std::string_view escape = json.substr(at, kEscapeBytes);
  if (escape.size() < kEscapeBytes || !escape.starts_with("\\u")) return 0;
  unsigned unit = 0;
  const char* const end = escape.data() + escape.size();
  return std::from_chars(escape.data() + 2, end, unit, 16).ptr == end ? unit : 0;
}

bool is_low(unsigned unit) {
  return kLowBegin <= unit && unit < kLowEnd;
}

/// The thing that stands at a place inside a string.
struct Piece {
  std::size_t length = 1;
  bool is_broken = false;
};

Piece escape_at(std::string_view json, std::size_t at) {
  const unsigned unit = unit_at(json, at);
  if (unit < kHighBegin || kLowEnd <= unit) return {2};
  const bool is_pair = !is_low(unit) && is_low(unit_at(json, at + kEscapeBytes));
  return is_pair ? Piece{2 * kEscapeBytes} : Piece{kEscapeBytes, true};
}

Piece piece_at(std::string_view json, std::size_t at) {
  if (json[at] == '\\') return escape_at(json, at);
  const std::size_t length = utf8_length(json.substr(at));
  return length == 0 ? Piece{1, true} : Piece{length};
}

}  // namespace

std::optional<MendedJson> mend_broken_strings(std::string_view json) {
  MendedJson mended;
  std::size_t copied = 0;
  std::size_t string_count = 0;  // that have begun
  bool in_string = false;
  for (std::size_t at = json.find('"'); at < json.size();) {
    if (json[at] == '"') {
      in_string = !in_string;
      string_count += in_string ? 1 : 0;
    }
    const Piece piece = in_string ? piece_at(json, at) : Piece{};
    if (piece.is_broken) {
      mended.text.append(json, copied, at - copied).append("?");
      mended.has_bytes |= json[at] != '\\';
      copied = at + piece.length;
      if (mended.broken_strings.empty() || mended.broken_strings.back() != string_count - 1) {
        mended.broken_strings.push_back(string_count - 1);
      }
    }
    at += piece.length;
  }
  if (mended.broken_strings.empty()) return std::nullopt;
  mended.text.append(json, copied);
  return mended;
}

}  // namespace crawlstore::model
