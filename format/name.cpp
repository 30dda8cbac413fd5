// SPDX-License-Identifier: Apache-2.0
#include "name.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout.h"

namespace crawlstore::format {

namespace {

struct Lead {
  std::uint32_t length = 0;  ///< of the whole sequence; 0 = no lead byte
  std::uint32_t bits = 0;    ///< payload bits of the lead byte
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {1, byte};
  if (byte >= 0xC0 && byte < 0xE0) return {2, byte & 0x1Fu};
  if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0Fu};
  if (byte >= 0xF0 && byte < 0xF8) return {4, byte & 0x07u};
  return {};
}

bool is_allowed(std::uint32_t point, std::uint32_t length) {
  constexpr std::array<std::uint32_t, 5> kShortest{0, 0, 0x80, 0x800, 0x10000};
  const bool is_control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool is_surrogate = point >= 0xD800 && point < 0xE000;
  return point >= kShortest[length] && point <= 0x10FFFF && !is_control && !is_surrogate;
}

}  // namespace

bool is_valid_name(std::string_view name) {
  if (name.size() > kNameBytesMax) {
    return false;
  }
  for (std::size_t i = 0; i < name.size();) {
    const Lead lead = lead_of(static_cast<std::uint8_t>(name[i]));
    if (lead.length == 0 || lead.length > name.size() - i) {
      return false;
    }
    std::uint32_t point = lead.bits;
    for (std::size_t k = 1; k < lead.length; ++k) {
      const auto byte = static_cast<std::uint8_t>(name[i + k]);
      if ((byte & 0xC0) != 0x80) {
        return false;
      }
      point = point << 6 | (byte & 0x3Fu);
    }
    if (!is_allowed(point, lead.length)) {
      return false;
    }
    i += lead.length;
  }
  return true;
}

Result<void> check_name(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax) {
    return fail(Errc::kTooLarge, "a name has from 1 to 255 bytes");
  }
  if (!is_valid_name(name)) {
    return fail(Errc::kInvalidArgument, "a name is UTF-8 without control characters");
  }
  return {};
}

}  // namespace crawlstore::format
