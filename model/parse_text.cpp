// SPDX-License-Identifier: Apache-2.0
#include "model/parse_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

namespace crawlstore::model {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The text without the separators that stand between two digits.
std::string without_separators(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_separator = text[i] == ',' || text[i] == '_' || text[i] == '\'';
    const bool is_between =
        i != 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (!is_separator || !is_between) digits += text[i];
  }
  return digits;
}

std::optional<std::uint64_t> parse_whole(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc{} || stopped != end || digits.empty()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> unit_factor(std::string_view unit) {
  std::string lower(unit);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.empty() || lower == "b") return 1;
  constexpr std::string_view kPrefixes = "kmgt";
  const auto power = kPrefixes.find(lower.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (rest != "ib" && rest != "b") return std::nullopt;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= rest == "ib" ? 1024 : 1000;
  return factor;
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_whole(text.substr(2), 16);
  return parse_whole(without_separators(text), 10);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto number_end = std::find_if(text.begin(), text.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == ' ';
  });
  const auto number = text.substr(0, static_cast<std::size_t>(number_end - text.begin()));
  std::string_view unit = text.substr(number.size());
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto factor = unit_factor(unit);
  if (!factor) return std::nullopt;
  const std::string digits = without_separators(number);
  if (const auto whole = parse_whole(digits, 10)) {
    if (*whole > ~std::uint64_t{0} / *factor) return std::nullopt;
    return *whole * *factor;
  }
  double fraction = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] =
      std::from_chars(digits.data(), end, fraction, std::chars_format::fixed);
  if (error != std::errc{} || stopped != end || digits.front() == '-') return std::nullopt;
  const double bytes = std::floor(fraction * static_cast<double>(*factor));
  if (!(bytes >= 0) || bytes >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<Uuid> parse_uuid(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits),
               [](char c) { return c != '-'; });
  Uuid uuid;
  if (digits.size() != 2 * uuid.size()) return std::nullopt;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    const auto byte = parse_whole(std::string_view(digits).substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    uuid[i] = static_cast<std::byte>(*byte);
  }
  return uuid;
}

}  // namespace crawlstore::model
