// SPDX-License-Identifier: Apache-2.0
#include "model/format_text.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

using namespace std::string_literals;

TEST(FormatCounted, CountsOneAndMany) {
  EXPECT_EQ(format_counted(0, "problem"), "0 problems");
  EXPECT_EQ(format_counted(1, "problem"), "1 problem");
  EXPECT_EQ(format_counted(1234, "key"), "1,234 keys");
}

TEST(FormatCount, SeparatesThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(FormatBytes, TakesTheUnitThatFits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(12345), "12.1 KiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16.0 EiB");
}

TEST(FormatTime, IsIso8601InUtc) {
  EXPECT_EQ(format_time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_time(1'700'000'000'000'000), "2023-11-14T22:13:20Z");
  EXPECT_EQ(format_time(1'700'000'000'000'042), "2023-11-14T22:13:20.000042Z");
  EXPECT_EQ(format_time(951'782'400'000'000), "2000-02-29T00:00:00Z");
  EXPECT_EQ(format_time(-1), "1969-12-31T23:59:59.999999Z");
}

TEST(FormatTime, ReportsYearsThatHaveNoFourDigitsAsNumbers) {
  EXPECT_EQ(format_time(253'402'300'799'999'999), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_time(253'402'300'800'000'000), "253402300800000000 us");
  EXPECT_EQ(format_time(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808 us");
  EXPECT_EQ(format_time(-62'167'219'200'000'000), "0000-01-01T00:00:00Z");
}

TEST(FormatCell, ShowsWhatWasChosenToTheLastDigit) {
  EXPECT_EQ(format_cell(0.999999, Unit::kExact), "0.999999");
  EXPECT_EQ(format_cell(1e-6, Unit::kExact), "1e-06");
  EXPECT_EQ(format_cell(1.0, Unit::kExact), "1");
  EXPECT_EQ(format_cell(0.999999, Unit::kScore), "1");
}

TEST(FormatDuration, TakesTheUnitsThatFit) {
  EXPECT_EQ(format_duration(3.25), "3.2 s");
  EXPECT_EQ(format_duration(59.96), "1 min 00 s");
  EXPECT_EQ(format_duration(75), "1 min 15 s");
  EXPECT_EQ(format_duration(3700), "1 h 01 min");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "for ever");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(FormatCell, FollowsTheUnit) {
  EXPECT_EQ(format_cell(std::int64_t{-1234}, Unit::kCount), "-1,234");
  EXPECT_EQ(format_cell(std::int64_t{1234}, Unit::kCount), "1,234");
  EXPECT_EQ(format_cell(std::numeric_limits<std::int64_t>::min(), Unit::kCount),
            "-9,223,372,036,854,775,808");
  EXPECT_EQ(format_cell(std::int64_t{-1234}, Unit::kId), "-1234");
  EXPECT_EQ(format_cell(std::uint64_t{81920}, Unit::kOffset), "0x14000");
  EXPECT_EQ(format_cell(std::uint64_t{81920}, Unit::kCount), "81,920");
  EXPECT_EQ(format_cell(std::uint64_t{81920}, Unit::kId), "81920");
  EXPECT_EQ(format_cell(std::uint64_t{81920}, Unit::kBytes), "80.0 KiB");
  EXPECT_EQ(format_cell(std::int64_t{-1}, Unit::kId), "-1");
  EXPECT_EQ(format_cell(4.567, Unit::kRatio), "4.57");
  EXPECT_EQ(format_cell(0.00058, Unit::kRatio), "0.00058");
  EXPECT_EQ(format_cell(0.000002, Unit::kRatio), "0.0000020");
  EXPECT_EQ(format_cell(5.8e-9, Unit::kRatio), "5.8e-09");
  EXPECT_EQ(format_cell(1.0, Unit::kShare), "100.0 %");
  EXPECT_EQ(format_cell(0.4567, Unit::kShare), "45.7 %");
  EXPECT_EQ(format_cell(0.00058, Unit::kShare), "0.058 %");
  EXPECT_EQ(format_cell(5.8e-12, Unit::kShare), "5.8e-10 %");
  EXPECT_EQ(format_cell(0.0, Unit::kShare), "0.0 %");
  EXPECT_EQ(format_cell(true, Unit::kFlag), "yes");
  EXPECT_EQ(format_cell({}, Unit::kCount), "-");
}

TEST(FormatPrintable, EscapesWhatATerminalMightObey) {
  EXPECT_EQ(format_printable("plain text"), "plain text");
  EXPECT_EQ(format_printable("a\tb\x1b[31m\x7F\0"s), "a\\x09b\\x1b[31m\\x7f\\x00");
  EXPECT_EQ(format_printable("\xC3\xA9"), "\xC3\xA9");
  EXPECT_EQ(format_printable("\xC2\x9B"), "\\xc2\\x9b");
  EXPECT_EQ(format_printable("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(format_printable("C:\\x41"), "C:\\\\x41");
}

TEST(FormatPrintable, EscapesWhatTurnsTextAround) {
  EXPECT_EQ(format_printable("gpj\xE2\x80\xAE.exe"), "gpj\\xe2\\x80\\xae.exe");
  EXPECT_EQ(format_printable("\xE2\x81\xA6\xD8\x9C"), "\\xe2\\x81\\xa6\\xd8\\x9c");
  EXPECT_EQ(format_printable("\xE2\x80\xA6\xD8\x9B"), "\xE2\x80\xA6\xD8\x9B");
}

TEST(FormatLine, EscapesOnlyWhatBreaksALine) {
  EXPECT_EQ(format_line("C:\\x \xFF"), "C:\\x \xFF");
  EXPECT_EQ(format_line("a\tb\\"), "a\\x09b\\\\");
}

TEST(FormatForTerminal, KeepsLinesAndColumns) {
  EXPECT_EQ(format_for_terminal("a\tC:\\x\n\xC3\xA9\n"), "a\tC:\\x\n\xC3\xA9\n");
  EXPECT_EQ(format_for_terminal("a\x1b]0;t\x07\r\n\xC2\x9B\xFF"),
            "a\\x1b]0;t\\x07\\x0d\n\\xc2\\x9b\\xff");
}

}  // namespace
}  // namespace crawlstore::model
