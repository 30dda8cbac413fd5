// SPDX-License-Identifier: Apache-2.0
#include "model/utf8.h"

#include <array>
#include <cstdint>

namespace crawlstore::model {
namespace {

/// The second bytes that may follow a lead byte; those after it are 80 to BF. (Unicode 15, table
/// 3-7.)
struct LeadRow {
  unsigned char first, last;
  unsigned char second_min, second_max;
  unsigned char length;
};

constexpr std::array kLeads{
    LeadRow{0x00, 0x7F, 0, 0, 1},       LeadRow{0xC2, 0xDF, 0x80, 0xBF, 2},
    LeadRow{0xE0, 0xE0, 0xA0, 0xBF, 3}, LeadRow{0xE1, 0xEC, 0x80, 0xBF, 3},
    LeadRow{0xED, 0xED, 0x80, 0x9F, 3}, LeadRow{0xEE, 0xEF, 0x80, 0xBF, 3},
    LeadRow{0xF0, 0xF0, 0x90, 0xBF, 4}, LeadRow{0xF1, 0xF3, 0x80, 0xBF, 4},
    LeadRow{0xF4, 0xF4, 0x80, 0x8F, 4},
};

bool is_ascii(std::string_view bytes) {
  unsigned char any = 0;
  for (const char byte : bytes) any = static_cast<unsigned char>(any | byte);
  return any < 0x80;
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const auto lead = static_cast<unsigned char>(bytes.front());
  for (const LeadRow& row : kLeads) {
    if (lead < row.first || lead > row.last) continue;
    if (row.length == 1) return 1;
    if (bytes.size() < row.length) return 0;
    const auto second = static_cast<unsigned char>(bytes[1]);
    if (second < row.second_min || second > row.second_max) return 0;
    for (std::size_t i = 2; i < row.length; ++i) {
      if ((static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80) return 0;
    }
    return row.length;
  }
  return 0;
}

char32_t utf8_decode(std::string_view bytes, std::size_t length) {
  auto value = static_cast<char32_t>(static_cast<unsigned char>(bytes[0]));
  if (length == 1) return value;
  value &= 0x7fU >> length;
  for (std::size_t i = 1; i < length; ++i) {
    value = value << 6U | (static_cast<unsigned char>(bytes[i]) & 0x3fU);
  }
  return value;
}

bool is_utf8(std::string_view bytes) {
  constexpr std::size_t kStride = 64;
  while (!bytes.empty()) {
    if (const auto head = bytes.substr(0, kStride); is_ascii(head)) {
      bytes.remove_prefix(head.size());
      continue;
    }
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace crawlstore::model
