// SPDX-License-Identifier: Apache-2.0
#include "base/url_host.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>

#include <arpa/inet.h>
#include <unicode/uchar.h>
#include <unicode/uidna.h>
#include <unicode/ustring.h>

#include <crawlstore/url.h>

#include "base/url_bytes.h"

namespace crawlstore::url_text {
namespace {

// --- Addresses ---

// The groups of an IPv6 address, most significant first.
using Groups = std::array<unsigned, 8>;

std::optional<Groups> read_ipv6(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), copy.begin());
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET6, copy.data(), bytes.data()) != 1) return std::nullopt;
  Groups groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  return groups;
}

struct ZeroRun {
  std::size_t begin = 0;
  std::size_t size = 0;
};

// The first of the longest runs of zero groups.
ZeroRun longest_zero_run(const Groups& groups) {
  ZeroRun longest;
  ZeroRun run;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    run = groups[i] != 0 ? ZeroRun{i + 1, 0} : ZeroRun{run.begin, run.size + 1};
    if (run.size > longest.size) longest = run;
  }
  return longest;
}

template <typename Number>
void append_number(std::string& out, Number number, int base) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  out.append(digits.data(), end);
}

void append_ipv6(std::string& out, const Groups& groups) {
  const ZeroRun run = longest_zero_run(groups);
  const bool is_cut = run.size > 1;
  out += '[';
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (is_cut && i == run.begin) {
      out += "::";
      i += run.size - 1;
      continue;
    }
    append_number(out, groups[i], 16);
    if (i + 1 < groups.size() && !(is_cut && i + 1 == run.begin)) out += ':';
  }
  out += ']';
}

// A number of an IPv4 address, 2^32 standing for all that are larger; nothing if it is none.
std::optional<std::uint64_t> read_ipv4_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = lower(text[1]) == 'x' ? 16 : 8;
    text.remove_prefix(base == 16 ? 2 : 1);
  }
  constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 32;
  std::uint64_t number = 0;
  for (const char c : text) {
    const int digit = hex_value(c);
    if (digit < 0 || digit >= base) return std::nullopt;
    number =
        std::min(number * static_cast<unsigned>(base) + static_cast<unsigned>(digit), kTooLarge);
  }
  return number;
}

std::string_view last_label(std::string_view host) {
  if (host.size() > 1 && host.ends_with('.')) host.remove_suffix(1);
  return host.substr(host.rfind('.') + 1);  // npos + 1 is 0
}

// The address that a host with a number at its end is; nothing if it is refused.
std::optional<std::uint32_t> read_ipv4(std::string_view host) {
  if (host.size() > 1 && host.ends_with('.')) host.remove_suffix(1);
  std::uint64_t address = 0;
  for (unsigned before = 0;; ++before) {  // numbers in front of the one that is read
    if (before == 4) return std::nullopt;
    const std::size_t dot = host.find('.');
    const auto number = read_ipv4_number(host.substr(0, dot));
    if (!number) return std::nullopt;
    if (dot == std::string_view::npos) {
      if (*number >> (32 - 8 * before) != 0) return std::nullopt;
      return static_cast<std::uint32_t>(address | *number);
    }
    if (*number > 255) return std::nullopt;
    if (before < 3) address |= *number << (24 - 8 * before);
    host.remove_prefix(dot + 1);
  }
}

void append_ipv4(std::string& out, std::uint32_t address) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    append_number(out, (address >> shift) & 255, 10);
    if (shift != 0) out += '.';
  }
}

// --- Names beyond ASCII ---

constexpr UChar32 kGone = -1;

// Characters that Unicode 16 maps and ICU 72, of Unicode 15, refuses, and what the first of them
// becomes; kGone: they go.
struct LateMapping {
  UChar32 first;
  UChar32 last;
  UChar32 to;
};

constexpr std::array<LateMapping, 18> kLateMappings = {{
    {0x04C0, 0x04C0, 0x04CF},     // Cyrillic palochka
    {0x10A0, 0x10C5, 0x2D00},     // Georgian capital letters
    {0x115F, 0x1160, kGone},      // Hangul fillers
    {0x17B4, 0x17B5, kGone},      // Khmer inherent vowels
    {0x180E, 0x180E, kGone},      // Mongolian vowel separator
    {0x1E9E, 0x1E9E, 0x00DF},     // capital sharp s, which ICU 72 makes "ss"
    {0x2061, 0x2063, kGone},      // invisible operators
    {0x206A, 0x206F, kGone},      // deprecated format characters
    {0x2132, 0x2132, 0x214E},     // turned capital F
    {0x2183, 0x2183, 0x2184},     // Roman numeral reversed one hundred
    {0x3164, 0x3164, kGone},      // Hangul filler
    {0xFFA0, 0xFFA0, kGone},      // halfwidth Hangul filler
    {0x1D173, 0x1D17A, kGone},    // musical controls
    {0x2F868, 0x2F868, 0x36FC},   // CJK compatibility ideographs
    {0x2F874, 0x2F874, 0x5F53},   //
    {0x2F91F, 0x2F91F, 0x243AB},  //
    {0x2F95F, 0x2F95F, 0x7AEE},   //
    {0x2F9BF, 0x2F9BF, 0x45D7},   //
}};

UChar32 mapped_late(UChar32 c) {
  for (const LateMapping& mapping : kLateMappings) {
    if (c < mapping.first || c > mapping.last) continue;
    return mapping.to == kGone ? kGone : mapping.to + (c - mapping.first);
  }
  return c;
}

// Newer versions of ICU know more characters, of which keys must not depend. U+1806 is one that
// ICU 72 knows and refuses.
bool is_known_character(UChar32 c) {
  UVersionInfo age{};
  u_charAge(c, static_cast<std::uint8_t*>(age));
  constexpr std::uint8_t kUnicodeMax = 14;
  return age[0] != 0 && age[0] <= kUnicodeMax && c != 0x1806;
}

// The units that a name may need in any encoding.
constexpr std::int32_t kUnitsMax = kUrlHostBytesMax;
using Utf16 = std::array<char16_t, kUnitsMax>;
using Utf32 = std::array<UChar32, kUnitsMax>;

// Returns the number of characters; nothing if there are too many, or an unknown one.
std::optional<std::int32_t> read_characters(const Utf16& text, std::int32_t size, Utf32& out) {
  constexpr std::int32_t kCharactersMax = 1000;  // ICU has such a limit for labels
  UErrorCode status = U_ZERO_ERROR;
  std::int32_t count = 0;
  u_strToUTF32(out.data(), kUnitsMax, &count, text.data(), size, &status);
  const bool is_known = U_SUCCESS(status) && count <= kCharactersMax &&
                        std::all_of(out.begin(), out.begin() + count, is_known_character);
  return is_known ? std::optional(count) : std::nullopt;
}

// Whether a label begins with "xn--". The name that Punycode stands for must not have one.
bool has_punycode(std::span<const UChar32> name) {
  constexpr std::array<UChar32, 4> kPrefix{'x', 'n', '-', '-'};
  for (auto label = name.begin(); label != name.end();) {
    if (std::equal(kPrefix.begin(), kPrefix.end(), label,
                   label + std::min<std::ptrdiff_t>(4, name.end() - label))) {
      return true;
    }
    label = std::find(label, name.end(), '.');
    if (label != name.end()) ++label;
  }
  return false;
}

// In UTF-16, with late mappings done: how many units; nothing if the name is no UTF-8 or has an
// unknown character. `name` has at most kUnitsMax bytes.
std::optional<std::int32_t> read_name(std::string_view name, Utf16& out) {
  Utf32 characters{};
  std::int32_t size = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strFromUTF8(out.data(), kUnitsMax, &size, name.data(), static_cast<std::int32_t>(name.size()),
                &status);
  if (U_FAILURE(status)) return std::nullopt;
  const auto count = read_characters(out, size, characters);
  if (!count) return std::nullopt;
  const auto end = characters.begin() + *count;
  std::transform(characters.begin(), end, characters.begin(), mapped_late);
  const auto kept_end = std::remove(characters.begin(), end, kGone);
  u_strFromUTF32(out.data(), kUnitsMax, &size, characters.data(),
                 static_cast<std::int32_t>(kept_end - characters.begin()), &status);
  return U_SUCCESS(status) ? std::optional(size) : std::nullopt;
}

const UIDNA& uts46() {
  static const UIDNA* const kProcessor = [] {
    UErrorCode status = U_ZERO_ERROR;
    const UIDNA* const processor =
        uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII |
                            UIDNA_NONTRANSITIONAL_TO_UNICODE,
                        &status);
    if (U_FAILURE(status)) throw std::runtime_error("ICU lacks its data for UTS 46");
    return processor;
  }();
  return *kProcessor;
}

using Convert = decltype(uidna_nameToASCII);

// A conversion of UTS 46: how many units; nothing if it refuses the name.
std::optional<std::int32_t> convert(Convert* to, const Utf16& name, std::int32_t size, Utf16& out) {
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t converted =
      to(&uts46(), name.data(), size, out.data(), kUnitsMax, &info, &status);
  if (status == U_MEMORY_ALLOCATION_ERROR) throw std::bad_alloc();
  constexpr std::uint32_t kAllowed = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
                                     UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |
                                     UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;
  const bool is_taken = U_SUCCESS(status) && (info.errors & ~kAllowed) == 0;
  return is_taken ? std::optional(converted) : std::nullopt;
}

// ToASCII of UTS 46. Labels that are Punycode already must be of known characters, too.
std::optional<std::string> to_ascii(std::string_view host) {
  Utf16 name{};
  Utf16 ascii{};
  Utf32 characters{};
  const auto name_size = read_name(host, name);
  if (!name_size) return std::nullopt;
  const auto size = convert(uidna_nameToASCII, name, *name_size, ascii);
  if (!size) return std::nullopt;
  const auto shown_size = convert(uidna_nameToUnicode, ascii, *size, name);
  if (!shown_size) return std::nullopt;
  const auto count = read_characters(name, *shown_size, characters);
  if (!count || has_punycode(std::span(characters).first(static_cast<std::size_t>(*count)))) {
    return std::nullopt;
  }
  return std::string(ascii.data(), ascii.data() + *size);
}

// --- Hosts ---

std::string without_escapes(std::string_view host) {
  std::string decoded;
  decoded.reserve(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    const int byte = escaped_byte(host, i);
    decoded += byte < 0 ? host[i] : static_cast<char>(byte);
    if (byte >= 0) i += 2;
  }
  return decoded;
}

bool is_forbidden(char c) {
  return is_in(c, kC0 | kForbidden) || c == '%';
}

bool append_name(std::string& out, std::string_view host) {
  std::string name = without_escapes(host);
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(name.begin(), name.end(), is_ascii)) {
    std::transform(name.begin(), name.end(), name.begin(), lower);
  } else {
    auto ascii = to_ascii(name);
    if (!ascii) return false;
    name = std::move(*ascii);
  }
  if (name.empty() || std::any_of(name.begin(), name.end(), is_forbidden)) return false;
  if (!is_number_label(last_label(name))) {
    out += name;
    return true;
  }
  const auto address = read_ipv4(name);
  if (address) append_ipv4(out, *address);
  return address.has_value();
}

bool append_opaque(std::string& out, std::string_view host) {
  if (std::any_of(host.begin(), host.end(), [](char c) { return is_in(c, kForbidden); })) {
    return false;
  }
  append_component(out, host, kC0);
  return true;
}

bool append_any(std::string& out, std::string_view host, HostOf scheme) {
  if (!host.starts_with('[')) {
    return scheme == HostOf::kSpecialScheme ? append_name(out, host) : append_opaque(out, host);
  }
  if (host.size() < 2 || !host.ends_with(']')) return false;
  const auto groups = read_ipv6(host.substr(1, host.size() - 2));
  if (groups) append_ipv6(out, *groups);
  return groups.has_value();
}

}  // namespace

bool is_number_label(std::string_view label) {
  if (label.empty() || !is_digit(label[0])) return false;
  return std::all_of(label.begin(), label.end(), is_digit) ||
         (lower(label[std::min<std::size_t>(1, label.size() - 1)]) == 'x' &&
          read_ipv4_number(label).has_value());
}

bool append_host(std::string& out, std::string_view host, HostOf scheme) {
  const std::size_t begin = out.size();
  return host.size() <= kUrlHostBytesMax && append_any(out, host, scheme) &&
         out.size() - begin <= kUrlHostBytesMax;
}

}  // namespace crawlstore::url_text
