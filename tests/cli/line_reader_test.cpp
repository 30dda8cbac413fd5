// SPDX-License-Identifier: Apache-2.0
#include "cli/line_reader.h"

#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/random.h"

namespace crawlstore::cli {
namespace {

constexpr const char* kTooLong = "(too long)";

/// The lines of `text`, written into a pipe in pieces of `piece` bytes.
std::vector<std::string> lines_of(const std::string& text, std::size_t piece = ~std::size_t{0}) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {"no pipe"};
  std::thread writer([&] {
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto written = ::write(ends[1], rest.data(), std::min(piece, rest.size()));
      if (written <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    ::close(ends[1]);
  });
  const StopSignals stop;
  LineReader reader(ends[0], stop);
  std::vector<std::string> lines;
  std::string_view line;
  while (true) {
    const auto next = reader.next(line);
    if (!next || *next == LineReader::Next::kEnd) break;
    lines.emplace_back(*next == LineReader::Next::kTooLong ? kTooLong : line);
  }
  writer.join();
  EXPECT_EQ(reader.bytes_read(), text.size());
  ::close(ends[0]);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, SplitsAtLineFeeds) {
  EXPECT_EQ(lines_of("a\nbc\n\nd\n"), (Lines{"a", "bc", "", "d"}));
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("\n"), Lines{""});
}

TEST(LineReader, TakesALastLineWithoutLineFeed) {
  EXPECT_EQ(lines_of("a\nb"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("b\r"), Lines{"b"});
}

TEST(LineReader, DropsOneCarriageReturnAtTheEnd) {
  EXPECT_EQ(lines_of("a\r\nb\r\r\n\r\nc\rd\n"), (Lines{"a", "b\r", "", "c\rd"}));
}

TEST(LineReader, KeepsEveryByteElse) {
  const std::string all("\0\x01\t\x7F\x80\xFF", 6);
  EXPECT_EQ(lines_of(all + "\n" + all), (Lines{all, all}));
}

TEST(LineReader, SkipsAByteOrderMarkAtTheStart) {
  const std::string mark(kByteOrderMark);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, ~std::size_t{0}}) {
    EXPECT_EQ(lines_of(mark + "a\n" + mark + "b\n", piece), (Lines{"a", mark + "b"}));
    EXPECT_EQ(lines_of(mark + mark + "a", piece), Lines{mark + "a"});
    EXPECT_EQ(lines_of("\n" + mark, piece), (Lines{"", mark}));
    EXPECT_EQ(lines_of(mark, piece), Lines{});
    EXPECT_EQ(lines_of(mark.substr(0, 2), piece), Lines{mark.substr(0, 2)});
  }
}

TEST(LineReader, KeepsLinesLongerThanABlock) {
  const std::string big(5 << 20, 'x');
  EXPECT_EQ(lines_of("a\n" + big + "\nb\n"), (Lines{"a", big, "b"}));
}

TEST(LineReader, SkipsLinesOverTheLimit) {
  const std::string most(LineReader::kLineBytesMax, 'x');
  EXPECT_EQ(lines_of("a\n" + most + "\nb\n"), (Lines{"a", most, "b"}));
  EXPECT_EQ(lines_of("a\n" + most + "x\nb\n"), (Lines{"a", kTooLong, "b"}));
  EXPECT_EQ(lines_of("a\n" + most + most + "\n"), (Lines{"a", kTooLong}));
  EXPECT_EQ(lines_of(most + most), (Lines{kTooLong}));
}

TEST(LineReader, DoesNotDependOnHowBytesArrive) {
  testing::Random random(42);
  Lines expected;
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    expected.emplace_back(random.below(40), 'a');
    text += expected.back() + (random.below(2) == 0 ? "\n" : "\r\n");
  }
  for (const std::size_t piece : {1UL, 2UL, 3UL, 7UL, 4096UL})
    EXPECT_EQ(lines_of(text, piece), expected);
}

TEST(LineReader, PausesWithoutLosingALineThatCameInPart) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const auto write_text = [&ends](const std::string& text) {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  const StopSignals stop;
  LineReader reader(ends[0], stop, [] { return std::chrono::milliseconds(1); });
  std::string_view line;
  write_text("a\nb\nc");
  EXPECT_EQ(reader.next(line), LineReader::Next::kLine);
  EXPECT_EQ(line, "a");
  EXPECT_TRUE(reader.next_at_hand(line));
  EXPECT_EQ(line, "b");
  EXPECT_FALSE(reader.next_at_hand(line));
  EXPECT_EQ(reader.next(line), LineReader::Next::kPause);
  EXPECT_EQ(reader.next(line), LineReader::Next::kPause);
  write_text("d\n");
  EXPECT_EQ(reader.next(line), LineReader::Next::kLine);
  EXPECT_EQ(line, "cd");
  ::close(ends[1]);
  EXPECT_EQ(reader.next(line), LineReader::Next::kEnd);
  ::close(ends[0]);
}

TEST(LineReader, PausesInsideALineOverTheLimit) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string block(std::size_t{64} << 10, 'x');
  const StopSignals stop;
  LineReader reader(ends[0], stop, [] { return std::chrono::milliseconds(0); });
  std::string_view line;
  for (std::size_t bytes = 0; bytes <= LineReader::kLineBytesMax + block.size();
       bytes += block.size()) {
    ASSERT_EQ(::write(ends[1], block.data(), block.size()), static_cast<ssize_t>(block.size()));
    ASSERT_EQ(reader.next(line), LineReader::Next::kPause);
  }
  EXPECT_EQ(::write(ends[1], "x\nb\n", 4), 4);
  EXPECT_EQ(reader.next(line), LineReader::Next::kTooLong);
  EXPECT_EQ(reader.next(line), LineReader::Next::kLine);
  EXPECT_EQ(line, "b");
  ::close(ends[1]);
  ::close(ends[0]);
}

TEST(LineReader, ReportsADescriptorThatCannotBeRead) {
  const StopSignals stop;
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  LineReader reader(folder, stop);
  std::string_view line;
  EXPECT_FALSE(reader.next(line));
  ::close(folder);
}

}  // namespace
}  // namespace crawlstore::cli
