// SPDX-License-Identifier: Apache-2.0
#include "model/parse_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
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

/// The number times ten to that power, where that is a whole one.
std::optional<std::uint64_t> times_ten_to(std::uint64_t number, int power) {
  for (; power > 0 && number != 0; --power) {
    if (number > ~std::uint64_t{0} / 10) return std::nullopt;
    number *= 10;
  }
  for (; power < 0 && number != 0; ++power) {
    if (number % 10 != 0) return std::nullopt;
    number /= 10;
  }
  return number;
}

/// Takes an exponent ("e6") or a unit ("M") off the end of a number: what power of ten it means.
std::optional<int> take_power(std::string_view& number) {
  if (const auto e = number.find_first_of("eE"); e != std::string_view::npos) {
    const auto power = parse_whole(number.substr(e + 1), 10);
    number = number.substr(0, e);
    return power && *power < 20 ? std::optional(static_cast<int>(*power)) : std::nullopt;
  }
  constexpr std::string_view kUnits = "kMGT";
  if (number.empty()) return std::nullopt;
  const auto unit = kUnits.find(number.back() == 'K' ? 'k' : number.back());
  if (unit == std::string_view::npos) return std::nullopt;
  number.remove_suffix(1);
  return 3 * (static_cast<int>(unit) + 1);
}

/// "1e6", "1.5M": no digit is lost on the way.
std::optional<std::uint64_t> parse_scaled(std::string_view text) {
  auto power = take_power(text);
  if (!power) return std::nullopt;
  const auto point = text.find('.');
  if (point == std::string_view::npos) {
    const auto whole = parse_whole(text, 10);
    return whole ? times_ten_to(*whole, *power) : std::nullopt;
  }
  const std::string_view fraction = text.substr(point + 1);
  if (point == 0 || fraction.empty() || fraction.size() > 20) return std::nullopt;
  const auto digits = parse_whole(std::string(text.substr(0, point)).append(fraction), 10);
  return digits ? times_ten_to(*digits, *power - static_cast<int>(fraction.size())) : std::nullopt;
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

/// Takes so many digits from the front.
std::optional<unsigned> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  unsigned number = 0;
  for (const char c : text.substr(0, count)) {
    if (!is_digit(c)) return std::nullopt;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool take_char(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> take_date_us(std::string_view& text) {
  const auto year = take_digits(text, 4);
  if (!year || !take_char(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take_char(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  const std::chrono::sys_time<std::chrono::microseconds> start{std::chrono::sys_days(date)};
  return start.time_since_epoch().count();
}

constexpr std::int64_t kUsPerSecond = 1'000'000;

std::optional<std::int64_t> take_clock_us(std::string_view& text) {
  const auto hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take_char(text, ':')) return std::nullopt;
  const auto minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59 || !take_char(text, ':')) return std::nullopt;
  const auto seconds = take_digits(text, 2);
  if (!seconds || *seconds > 59) return std::nullopt;
  std::int64_t fraction_us = 0;
  if (take_char(text, '.')) {
    std::int64_t unit_us = kUsPerSecond;
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    while (!text.empty() && is_digit(text.front()) && unit_us > 1) {
      unit_us /= 10;
      fraction_us += unit_us * (text.front() - '0');
      text.remove_prefix(1);
    }
  }
  return (std::int64_t{*hours} * 3600 + *minutes * 60 + *seconds) * kUsPerSecond + fraction_us;
}

/// The rest of the text is "Z" or an offset from UTC.
std::optional<std::int64_t> parse_offset_us(std::string_view text) {
  if (text == "Z") return 0;
  const bool is_west = text.starts_with('-');
  if (!is_west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take_char(text, ':')) return std::nullopt;
  const auto minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59 || !text.empty()) return std::nullopt;
  const std::int64_t offset_us = (std::int64_t{*hours} * 3600 + *minutes * 60) * kUsPerSecond;
  return is_west ? -offset_us : offset_us;
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_whole(text.substr(2), 16);
  const std::string digits = without_separators(text);
  if (const auto whole = parse_whole(digits, 10)) return whole;
  return parse_scaled(digits);
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

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  struct DurationUnit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr std::array<DurationUnit, 6> kUnits = {
      {{"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86'400e9}}};
  const auto number_end =
      std::find_if_not(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
  const auto number = text.substr(0, static_cast<std::size_t>(number_end - text.begin()));
  std::string_view name = text.substr(number.size());
  if (name.starts_with(' ')) name.remove_prefix(1);
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [name](const DurationUnit& one) { return one.name == name; });
  double count = 0;
  const char* end = number.data() + number.size();
  const auto [stopped, error] =
      std::from_chars(number.data(), end, count, std::chars_format::fixed);
  if (unit == kUnits.end() || error != std::errc{} || stopped != end) return std::nullopt;
  const double nanoseconds = count * unit->nanoseconds;
  if (nanoseconds >= 0x1p63) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

std::optional<double> parse_score(std::string_view text) {
  double score = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, score);
  const bool is_number = error == std::errc{} && stopped == end && std::isfinite(score);
  return is_number && !std::signbit(score) ? std::optional(score) : std::nullopt;
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

std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto date_us = take_date_us(text);
  if (!date_us) return std::nullopt;
  std::int64_t time_us = *date_us;
  if (!text.empty()) {
    if (!take_char(text, 'T')) return std::nullopt;
    const auto clock_us = take_clock_us(text);
    if (!clock_us) return std::nullopt;
    const auto offset_us = parse_offset_us(text);
    if (!offset_us) return std::nullopt;
    time_us += *clock_us - *offset_us;
  }
  if (time_us < 0) return std::nullopt;
  return time_us;
}

std::optional<std::string> parse_hex_bytes(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = parse_whole(digits.substr(i, 2), 16);
    if (!byte || digits[i] == '-') return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

}  // namespace crawlstore::model
