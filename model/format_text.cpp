// SPDX-License-Identifier: Apache-2.0
#include "model/format_text.h"

#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "model/any_byte.h"
#include "model/utf8.h"

namespace crawlstore::model {
namespace {

/// `decimals`; of a number between 0 and `small` as many as show two digits, down to a millionth.
std::string format_decimals(double number, int decimals, double small) {
  if (!(number > 0 && number < small)) return fmt::format("{:.{}f}", number, decimals);
  if (number < 1e-6) return fmt::format("{:.1e}", number);
  return fmt::format("{:.{}f}", number, 1 - static_cast<int>(std::floor(std::log10(number))));
}

std::string format_from_now(double seconds) {
  if (std::abs(seconds) < 0.05) return "now";
  if (seconds > 0) return "in " + format_duration(seconds);
  return format_duration(-seconds) + " ago";
}

/// Every kind of cell, shown as its unit says.
struct CellText {
  Unit unit;

  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
  std::string operator()(double number) const {
    if (unit == Unit::kSeconds) return format_duration(number);
    if (unit == Unit::kFromNow) return format_from_now(number);
    if (unit == Unit::kExact) return fmt::to_string(number);
    if (unit == Unit::kScore) return fmt::format("{:.5g}", number);
    if (unit == Unit::kShare) return format_decimals(number * 100, 1, 1) + " %";
    return format_decimals(number, 2, 0.005);
  }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::int64_t number) const {
    if (unit == Unit::kTimeUs) return format_time(number);
    if (number >= 0) return (*this)(static_cast<std::uint64_t>(number));
    // Its size, not its negation, which the least number does not have.
    if (unit == Unit::kCount) return "-" + format_count(-static_cast<std::uint64_t>(number));
    return fmt::to_string(number);
  }
  std::string operator()(std::uint64_t number) const {
    switch (unit) {
      case Unit::kCount:
        return format_count(number);
      case Unit::kBytes:
        return format_bytes(number);
      case Unit::kOffset:
      case Unit::kBits:
        return format_offset(number);
      case Unit::kTimeUs:
        return format_time(static_cast<std::int64_t>(number));
      default:
        return fmt::to_string(number);
    }
  }
};

bool is_ascii_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20) | (c == '\x7F');
}

/// Controls, and what is not seen but changes how the text around it is: marks and overrides of
/// direction (Unicode, UAX #9), separators of lines and paragraphs.
bool is_hidden(char32_t c) {
  return c < 0x20 || (0x7F <= c && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (0x2028 <= c && c <= 0x202E) || (0x2066 <= c && c <= 0x2069);
}

/// `take` appends characters of ASCII that are written in a way of their own, and says so.
template <class Take>
std::string printable(std::string_view bytes, const Take& take) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const std::string_view piece = bytes.substr(0, length == 0 ? 1 : length);
    bytes.remove_prefix(piece.size());
    if (length == 1 && take(text, piece.front())) continue;
    if (length != 0 && !is_hidden(utf8_decode(piece, length))) {
      text += piece;
      continue;
    }
    for (const char byte : piece) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return text;
}

}  // namespace

std::string format_count(std::uint64_t count) {
  const std::string digits = fmt::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string format_counted(std::uint64_t count, std::string_view noun) {
  return format_count(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  double scaled = static_cast<double>(bytes) / 1024;
  // A number that would be rounded to 1024.0 is 1.0 of the next unit.
  while (scaled >= 1023.95 && unit + 1 < kUnits.size()) {
    scaled /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", scaled, kUnits[unit]);
}

std::string format_offset(std::uint64_t offset) {
  return fmt::format("{:#x}", offset);
}

std::string format_time(std::int64_t time_us) {
  using namespace std::chrono_literals;
  // Times of hostile files: only years of four digits are dates, the rest would overflow.
  constexpr std::int64_t kYear0Us = -62'167'219'200'000'000;
  constexpr std::int64_t kYear10000Us = 253'402'300'800'000'000;
  if (time_us < kYear0Us || time_us >= kYear10000Us) return fmt::format("{} us", time_us);
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(time_us)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  const int year = static_cast<int>(date.year());
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", year, static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                  clock.seconds().count());
  if (clock.subseconds() != 0us) text += fmt::format(".{:06}", clock.subseconds().count());
  return text + 'Z';
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1e15) return "for ever";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_cell(const Cell& cell, Unit unit) {
  return std::visit(CellText{unit}, cell);
}

std::string format_printable(std::string_view bytes) {
  return printable(bytes, [](std::string& text, char c) {
    if (c != '\\') return false;
    text += "\\\\";
    return true;
  });
}

std::string format_line(std::string_view text) {
  return any_byte(text, is_ascii_control) ? format_printable(text) : std::string(text);
}

std::string format_for_terminal(std::string_view lines) {
  const auto needs_a_look = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x7F) | ((byte < 0x20) & (byte != '\n') & (byte != '\t'));
  };
  if (!any_byte(lines, needs_a_look)) return std::string(lines);
  return printable(lines, [](std::string& text, char c) {
    if (c != '\n' && c != '\t') return false;
    text += c;
    return true;
  });
}

}  // namespace crawlstore::model
