// SPDX-License-Identifier: Apache-2.0
#include "model/key_text.h"

#include <fmt/format.h>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>
#include <crawlstore/url_seen.h>

namespace crawlstore::model {
namespace {

constexpr std::size_t kDigits = 16;  // of 8 bytes

}  // namespace

std::string format_key(Key16 key, bool is_wide) {
  return is_wide ? fmt::format("{:016x}{:016x}", key.head, key.tail)
                 : fmt::format("{:016x}", key.head);
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  if (digits.empty() || digits.size() > kDigits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    const bool is_digit = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | 0x20);
    const bool is_letter = lower >= 'a' && lower <= 'f';
    if (!is_digit && !is_letter) return std::nullopt;
    value = value << 4U | static_cast<std::uint64_t>(is_digit ? c - '0' : lower - 'a' + 10);
  }
  return value;
}

std::optional<KeyDigits> parse_key_digits(std::string_view digits) {
  const bool is_wide = digits.size() == 2 * kDigits;
  if (!is_wide && digits.size() != kDigits) return std::nullopt;
  const auto head = parse_hex(digits.substr(0, kDigits));
  const auto tail = is_wide ? parse_hex(digits.substr(kDigits)) : std::optional<std::uint64_t>(0);
  if (!head || !tail) return std::nullopt;
  return KeyDigits{{*head, *tail}, is_wide};
}

std::optional<Key16> parse_key(std::string_view text, const DrumInfo& info,
                               std::uint64_t key_seed) {
  const bool is_wide = info.key_bytes > 8;
  const auto digits = parse_key_digits(text);
  if (digits && digits->is_wide == is_wide) return digits->key;
  if (!text.empty() && info.key_scheme == KeyScheme::kPage) {
    UrlNormalizer normalizer;
    return page_key(normalizer.normalize(text).text, key_seed).key;
  }
  if (text.empty() || !info.has_url_keys()) return std::nullopt;
  UrlKeyKind kind = is_wide ? UrlKeyKind::kXxh3Wide : UrlKeyKind::kXxh3;
  if (info.key_scheme == KeyScheme::kUrlRabin) kind = UrlKeyKind::kRabin;
  return UrlKeyer(kind, key_seed, UrlNormalizer::to_find(info.normalizer))(text);
}

}  // namespace crawlstore::model
