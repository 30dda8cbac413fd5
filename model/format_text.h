// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers, sizes and times as people read them. No locale: the same text everywhere.
/// Threads: pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "model/table.h"

namespace crawlstore::model {

/// 1234567 -> "1,234,567".
std::string format_count(std::uint64_t count);

/// 1, "problem" -> "1 problem"; 1234, "problem" -> "1,234 problems".
std::string format_counted(std::uint64_t count, std::string_view noun);

/// 12345 -> "12.1 KiB"; below 1 KiB "123 B". Rounded to one decimal.
std::string format_bytes(std::uint64_t bytes);

/// 81920 -> "0x14000".
std::string format_offset(std::uint64_t offset);

/// Microseconds since the epoch -> "2026-11-21T10:11:12.345678Z"; whole seconds without a fraction.
/// Years outside 0000 to 9999 give the plain number followed by "us".
std::string format_time(std::int64_t time_us);

/// 3.25 -> "3.3 s", 75 -> "1 min 15 s", 3700 -> "1 h 02 min".
std::string format_duration(double seconds);

/// Writes a cell in its unit; nothing becomes "-".
std::string format_cell(const Cell& cell, Unit unit);

/// Bytes that a terminal can show: controls, DEL, what turns the direction of text around (such as
/// U+202E), and what is no UTF-8 become "\xNN", "\" is doubled.
std::string format_printable(std::string_view bytes);

/// A text for a line: as it is, or format_printable() where controls would break the line.
std::string format_line(std::string_view text);

/// Lines for a terminal: TAB, LF and "\" stand for themselves, all else is as format_printable()
/// has it. Cost: one pass over text that needs nothing.
std::string format_for_terminal(std::string_view lines);

}  // namespace crawlstore::model
