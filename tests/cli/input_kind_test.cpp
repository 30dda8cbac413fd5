// SPDX-License-Identifier: Apache-2.0
#include "cli/input_kind.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/layout.h"

namespace crawlstore::cli {
namespace {

using namespace std::string_literals;

struct Case {
  std::string head;
  InputKind kind;
};

std::string magic_of_crawl_files() {
  const std::uint64_t magic = format::kIdentityMagic;
  std::string bytes(sizeof magic, '\0');
  std::memcpy(bytes.data(), &magic, sizeof magic);
  return bytes;
}

std::vector<Case> cases() {
  return {{"\x1f\x8b"s, InputKind::kGzip},
          {"\x28\xb5\x2f\xfd"s, InputKind::kZstd},
          {"\x5f\x2a\x4d\x18"s, InputKind::kZstd},
          {"BZh"s, InputKind::kBzip2},
          {"\xfd\x37zXZ\0"s, InputKind::kXz},
          {"\xff\xfe"s, InputKind::kUtf16},
          {"\xfe\xff"s, InputKind::kUtf16},
          {"h\0t\0t\0p\0"s, InputKind::kUtf16},
          {"\0h\0t\0t\0p"s, InputKind::kUtf16},
          {"WARC/"s, InputKind::kWarc},
          {"filedesc://"s, InputKind::kArc},
          {magic_of_crawl_files(), InputKind::kCrawlFile},
          {"<?xml"s, InputKind::kXml},
          {"\xEF\xBB\xBF\r\n\n\t <urlset"s, InputKind::kXml},
          {" <sitemapindex"s, InputKind::kXml}};
}

TEST(InputKind, IsKnownFromTheLastByteThatDecides) {
  for (const auto& [head, kind] : cases()) {
    EXPECT_EQ(find_input_kind(head, false), kind);
    EXPECT_EQ(find_input_kind(head + "rest", false), kind);
    for (std::size_t length = 0; length < head.size(); ++length) {
      EXPECT_EQ(find_input_kind(head.substr(0, length), false), std::nullopt) << head << length;
    }
  }
}

TEST(InputKind, IsPlainWhereAnInputEndsBefore) {
  for (const auto& [head, kind] : cases()) {
    EXPECT_EQ(find_input_kind(head.substr(0, head.size() - 1), true), InputKind::kPlain) << head;
  }
}

TEST(InputKind, IsPlainFromTheFirstByteThatDiffers) {
  for (const auto& [head, kind] : cases()) {
    std::string other = head;
    other.back() = head.back() == 'p' ? '\0' : '!';  // a wide character may be any other letter
    EXPECT_EQ(find_input_kind(other, false), InputKind::kPlain) << head;
  }
  EXPECT_EQ(find_input_kind("http", false), InputKind::kPlain);
}

TEST(InputKind, DoesNotWaitAfterALineOfBlanks) {
  EXPECT_EQ(find_input_kind(" \t", false), std::nullopt);
  EXPECT_EQ(find_input_kind(" \t\n", false), InputKind::kPlain);
}

TEST(InputKind, IsDecidedAtTheLatestByTheWholeHead) {
  const std::string ends(kInputHeadBytes, '\n');
  EXPECT_EQ(find_input_kind(ends.substr(1), false), std::nullopt);
  EXPECT_EQ(find_input_kind(ends, false), InputKind::kPlain);
}

}  // namespace
}  // namespace crawlstore::cli
