// SPDX-License-Identifier: Apache-2.0
#include "service/core/numbers.h"

namespace crawlstore::service {
namespace {

constexpr unsigned kDigitBits = 7;
constexpr unsigned kLastShift = 63;  // of the tenth digit, which has one bit of the number

}  // namespace

void put_number(std::string& bytes, std::uint64_t number) {
  for (; number >> kDigitBits != 0; number >>= kDigitBits) {
    bytes.push_back(static_cast<char>((number & 0x7F) | 0x80));
  }
  bytes.push_back(static_cast<char>(number));
}

std::optional<std::uint64_t> take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift <= kLastShift && !bytes.empty(); shift += kDigitBits) {
    const auto digit = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == kLastShift && digit > 1) break;
    number |= std::uint64_t{digit & 0x7FU} << shift;
    if (digit < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace crawlstore::service
