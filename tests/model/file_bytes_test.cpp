// SPDX-License-Identifier: Apache-2.0
#include "model/file_bytes.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/format_text.h"
#include "support/bytes.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

using Bytes = std::vector<std::byte>;
using testing::bytes_of;
using testing::SeededRandom;

class FileBytesTest : public ::testing::Test {
 protected:
  std::shared_ptr<const FileBytes> open(const Bytes& content) {
    testing::put_file(path_, content);
    auto file = FileBytes::open(path_);
    EXPECT_TRUE(file);
    return *file;
  }
  /// To the end, without a failure.
  static std::optional<std::uint64_t> find(const FileBytes& file, const Bytes& wanted,
                                           Extent within) {
    const auto found = file.find(wanted, within, [](std::uint64_t) { return true; });
    EXPECT_TRUE(found);
    return found.value_or(std::nullopt);
  }
  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "any.bin";
};

TEST_F(FileBytesTest, ReadsAnyWindow) {
  SeededRandom random;
  const Bytes content = testing::random_bytes(100'000, testing::test_seed());
  const auto file = open(content);
  EXPECT_EQ(file->size(), content.size());
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t offset = random.below(content.size() + 1000);
    const std::size_t count = random.below(5000);
    const std::size_t begin = std::min<std::size_t>(offset, content.size());
    const std::size_t end = std::min(begin + count, content.size());
    EXPECT_EQ(file->read(offset, count), Bytes(content.begin() + static_cast<std::ptrdiff_t>(begin),
                                               content.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

TEST_F(FileBytesTest, ReadsNothingBehindTheEnd) {
  const auto file = open(testing::filled(100, 1));
  EXPECT_EQ(file->read(100, 10), Bytes());
  EXPECT_EQ(file->read(std::uint64_t{1} << 62U, 10), Bytes());
  EXPECT_EQ(file->read(~std::uint64_t{0}, 10), Bytes());
  EXPECT_EQ(file->read(~std::uint64_t{0} - 5, 10), Bytes());
  EXPECT_EQ(file->read(90, std::size_t{1} << 40U), testing::filled(10, 1));
  EXPECT_EQ(file->read(0, 0), Bytes());
}

TEST_F(FileBytesTest, ReadsWhatIsLeftOfAFileThatIsCut) {
  const auto file = open(testing::filled(100'000, 7));
  std::filesystem::resize_file(path_, 1000);
  EXPECT_EQ(file->size(), 1000U);
  EXPECT_EQ(file->read(990, 100), testing::filled(10, 7));
  EXPECT_EQ(file->read(50'000, 100), Bytes());
  EXPECT_EQ(find(*file, bytes_of("x"), {0, 100'000}), std::nullopt);
}

TEST_F(FileBytesTest, SaysWhyItCannotOpen) {
  EXPECT_EQ(testing::code_of(FileBytes::open(folder_ / "none")), Errc::kNotFound);
}

TEST_F(FileBytesTest, FindsWhatANaiveSearchFinds) {
  SeededRandom random;
  // The content has two letters, so that there is much to find; longer than a piece or two.
  Bytes content(2'500'000);
  for (std::byte& byte : content)
    byte = std::byte{random.one_in(9) ? std::uint8_t{1} : std::uint8_t{0}};
  const auto file = open(content);
  for (int i = 0; i < 60; ++i) {
    Bytes wanted(1 + random.below(40));
    for (std::byte& byte : wanted)
      byte = std::byte{random.one_in(9) ? std::uint8_t{1} : std::uint8_t{0}};
    const Extent within{random.below(content.size()), random.below(content.size())};
    const auto begin = content.begin() + static_cast<std::ptrdiff_t>(within.offset_bytes);
    const auto found = std::search(begin, content.end(), wanted.begin(), wanted.end());
    const auto offset = static_cast<std::uint64_t>(found - content.begin());
    const auto expected = found == content.end() || offset >= within.end_bytes()
                              ? std::nullopt
                              : std::optional(offset);
    EXPECT_EQ(find(*file, wanted, within), expected);
  }
}

TEST_F(FileBytesTest, FindsWhatLiesAcrossPieces) {
  const Bytes wanted = bytes_of("needle");
  for (const std::size_t at : {0U, (1U << 20U) - 6, (1U << 20U) - 5, (1U << 20U) - 1, 1U << 20U,
                               (2U << 20U) - 3, (3U << 20U) - 6}) {
    Bytes content(3U << 20U);
    std::copy(wanted.begin(), wanted.end(), content.begin() + static_cast<std::ptrdiff_t>(at));
    const auto file = open(content);
    EXPECT_EQ(find(*file, wanted, {0, content.size()}), at);
    EXPECT_EQ(find(*file, wanted, {0, ~std::uint64_t{0}}), at);
    EXPECT_EQ(find(*file, wanted, {at, ~std::uint64_t{0}}), at);
    EXPECT_EQ(find(*file, wanted, {at, 1}), at) << "it begins there";
    EXPECT_EQ(find(*file, wanted, {0, at}), std::nullopt);
    EXPECT_EQ(find(*file, wanted, {at + 1, content.size()}), std::nullopt);
  }
}

TEST_F(FileBytesTest, StopsASearchInTheMiddle) {
  const auto file = open(Bytes(5U << 20U));
  std::vector<std::uint64_t> asked;
  const auto result = file->find(bytes_of("x"), {0, 5U << 20U}, [&](std::uint64_t at) {
    asked.push_back(at);
    return asked.size() < 3;
  });
  EXPECT_EQ(testing::code_of(result), Errc::kCancelled);
  EXPECT_EQ(asked.size(), 3U);
  EXPECT_TRUE(std::is_sorted(asked.begin(), asked.end()));
}

TEST_F(FileBytesTest, FindsNothingOfNothing) {
  const auto file = open(testing::filled(10, 1));
  EXPECT_EQ(find(*file, {}, {0, 10}), std::nullopt);
  EXPECT_EQ(find(*file, testing::filled(11, 1), {0, 10}), std::nullopt);
  EXPECT_EQ(find(*file, testing::filled(10, 1), {0, 0}), std::nullopt);
  EXPECT_EQ(find(*file, testing::filled(1, 1), {50, 10}), std::nullopt);
}

Cell value_of(const std::vector<Field>& fields, const std::string& name) {
  for (const Field& field : fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

TEST(ByteValues, ReadsBothByteOrders) {
  const auto fields = byte_values(bytes_of("\x01\x02\xff\x80\x05\x06\x07\xf8"));
  EXPECT_EQ(value_of(fields, "u8"), Cell{std::uint64_t{1}});
  EXPECT_EQ(value_of(fields, "u16"), Cell{std::uint64_t{0x0201}});
  EXPECT_EQ(value_of(fields, "u16 be"), Cell{std::uint64_t{0x0102}});
  EXPECT_EQ(value_of(fields, "u32"), Cell{std::uint64_t{0x80ff0201}});
  EXPECT_EQ(value_of(fields, "i32"), Cell{std::int64_t{0x80ff0201} - (std::int64_t{1} << 32)});
  EXPECT_EQ(value_of(fields, "u32 be"), Cell{std::uint64_t{0x0102ff80}});
  EXPECT_EQ(value_of(fields, "u64"), Cell{std::uint64_t{0xf807060580ff0201}});
  EXPECT_EQ(value_of(fields, "u64 be"), Cell{std::uint64_t{0x0102ff80050607f8}});
  EXPECT_EQ(value_of(fields, "i64"),
            Cell{static_cast<std::int64_t>(std::uint64_t{0xf807060580ff0201})});
  EXPECT_EQ(value_of(byte_values(bytes_of("\xff")), "i8"), Cell{std::int64_t{-1}});
}

TEST(ByteValues, AreGroupedAlikeWithAndWithoutASign) {
  const auto fields = byte_values(bytes_of("\x89\x43\x01\x80"));
  const auto shown = [&](const char* name) {
    const auto found = std::ranges::find(fields, name, &Field::name);
    return format_cell(found->value, found->unit);
  };
  EXPECT_EQ(shown("u16"), "17,289");
  EXPECT_EQ(shown("i16"), "17,289");
  EXPECT_EQ(shown("i32"), "-2,147,400,823");
}

TEST(ByteValues, ReadsVarintsAndFloats) {
  EXPECT_EQ(value_of(byte_values(bytes_of("\x7f")), "varint"), Cell{std::uint64_t{127}});
  EXPECT_EQ(value_of(byte_values(bytes_of("\xac\x02")), "varint"), Cell{std::uint64_t{300}});
  EXPECT_EQ(value_of(byte_values(testing::filled(9, 0xff)), "varint"), Cell{}) << "no end";
  Bytes most = testing::filled(9, 0xff);
  most.push_back(std::byte{1});
  EXPECT_EQ(value_of(byte_values(most), "varint"), Cell{~std::uint64_t{0}});
  most.back() = std::byte{2};
  EXPECT_EQ(value_of(byte_values(most), "varint"), Cell{}) << "beyond 64 bits";
  const Bytes one = {{}, {}, std::byte{0x80}, std::byte{0x3f}};
  EXPECT_EQ(value_of(byte_values(one), "f32"), Cell{std::string("1")});
}

TEST(ByteValues, TakesAnyLength) {
  for (std::size_t length = 0; length < 40; ++length) {
    const auto fields = byte_values(testing::random_bytes(length, testing::test_seed() + length));
    EXPECT_EQ(fields.empty(), length == 0);
    EXPECT_EQ(value_of(fields, "u64").index() != 0, length >= 8);
  }
}

TEST(HexDump, ShowsSixteenALine) {
  EXPECT_EQ(hex_dump(0x14000, bytes_of("crawl\x7f\n\x80 0123456")),
            "000000014000  63 72 61 77 6c 7f 0a 80 20 30 31 32 33 34 35 36  crawl... 0123456\n");
  EXPECT_EQ(hex_dump(0, bytes_of("ab")),
            "000000000000  61 62" + std::string(3 * 14 + 2, ' ') + "ab\n");
  EXPECT_EQ(hex_dump(0, {}), "");
  const std::string many = hex_dump(0, testing::filled(100, 0));
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 7);
  EXPECT_NE(many.find("\n000000000060  00 00 00 00 "), std::string::npos);
}

TEST(ByteString, ReadsTextsAndDigits) {
  EXPECT_EQ(parse_byte_string("\"crawl\""), bytes_of("crawl"));
  EXPECT_EQ(parse_byte_string("\" \xff \""), bytes_of(" \xff "));
  EXPECT_EQ(parse_byte_string("89 43 52"), bytes_of("\x89\x43\x52"));
  EXPECT_EQ(parse_byte_string("8943fF"), bytes_of("\x89\x43\xff"));
  for (const char* text :
       {"", " ", "8", "8 9", "893", "xx", "0x89", "\"", "\"open", "\"\"", "89,43"}) {
    EXPECT_EQ(parse_byte_string(text), std::nullopt) << text;
  }
}

TEST(ByteString, ReadsAnyBytesAsDigits) {
  SeededRandom random;
  for (int i = 0; i < 500; ++i) {
    const Bytes bytes = testing::random_bytes(1 + random.below(40), random.next());
    std::string digits;
    for (const std::byte byte : bytes) {
      constexpr const char* kDigits = "0123456789abcdef";
      digits += kDigits[std::to_integer<unsigned>(byte) >> 4U];
      digits += kDigits[std::to_integer<unsigned>(byte) & 15U];
      if (random.one_in(3)) digits += ' ';
    }
    EXPECT_EQ(parse_byte_string(digits), bytes);
    static_cast<void>(parse_byte_string(random.hostile_text(6)));
  }
}

}  // namespace
}  // namespace crawlstore::model
