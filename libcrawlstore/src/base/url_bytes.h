// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bytes of URLs: which are escaped where, and how a component is written in its normal form.
/// spec/urls.md#url-keys, the table of sets, and rule 11.
///
/// Threads: pure functions of their arguments. Errors: none.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace crawlstore::url_text {

/// A set of bytes; its bit in the table of classes.
enum ByteSet : std::uint16_t {
  kC0 = 1,            ///< escaped in opaque paths and hosts
  kQuery = 2,         ///< escaped in queries
  kSpecialQuery = 4,  ///< escaped in queries of special schemes
  kPath = 8,          ///< escaped in paths of segments
  kUserInfo = 16,     ///< escaped in user information
  kUnreserved = 32,   ///< never escaped; escapes of these are decoded
  kScheme = 64,       ///< letters, digits, "+", "-" and "."
  kForbidden = 128,   ///< not in a host of any scheme
  kBackslash = 256,   ///< a slash in special schemes
  kLooked = 512,      ///< "%" and ".", which may begin what is not normal
};

constexpr std::array<std::uint16_t, 256> make_byte_sets() {
  std::array<std::uint16_t, 256> sets{};
  const auto add = [&sets](unsigned byte, unsigned bits) {
    sets[byte] = static_cast<std::uint16_t>(sets[byte] | bits);
  };
  const auto add_all = [&add](std::string_view bytes, unsigned bits) {
    for (const char c : bytes) add(static_cast<unsigned char>(c), bits);
  };
  constexpr unsigned kInAllFromC0 = kC0 | kQuery | kSpecialQuery | kPath | kUserInfo;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (byte < 0x20 || byte >= 0x7F) add(byte, kInAllFromC0);
  }
  add_all(" \"#<>", kQuery | kSpecialQuery | kPath | kUserInfo);
  add_all("'", kSpecialQuery);
  add_all("?^`{}", kPath | kUserInfo);
  add_all("/:;=@[\\]|", kUserInfo);
  for (unsigned byte = 'a'; byte <= 'z'; ++byte) add(byte, kUnreserved | kScheme);
  for (unsigned byte = 'A'; byte <= 'Z'; ++byte) add(byte, kUnreserved | kScheme);
  for (unsigned byte = '0'; byte <= '9'; ++byte) add(byte, kUnreserved | kScheme);
  add_all("-.", kUnreserved | kScheme);
  add_all("_~", kUnreserved);
  add_all("+", kScheme);
  add_all("\\", kBackslash);
  add_all("%.", kLooked);
  add_all(std::string_view("\0\t\n\r #/:<>?@[\\]^|", 17), kForbidden);
  return sets;
}

inline constexpr std::array<std::uint16_t, 256> kByteSets = make_byte_sets();

constexpr bool is_in(char c, unsigned sets) {
  return (kByteSets[static_cast<unsigned char>(c)] & sets) != 0;
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr char lower(char c) {
  return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

/// Returns the value of a hexadecimal digit of either case; -1 for any other byte.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/// The byte that an escape at `i` stands for; -1 if no escape begins there.
constexpr int escaped_byte(std::string_view text, std::size_t i) {
  if (text.size() - i < 3 || text[i] != '%') return -1;
  const int high = hex_value(text[i + 1]);
  const int low = hex_value(text[i + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

inline void append_escaped(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

/// Appends a component: bytes of `set` are escaped, escapes of unreserved bytes decoded, the
/// digits of others raised (rule 11).
void append_component(std::string& out, std::string_view text, ByteSet set);

}  // namespace crawlstore::url_text
