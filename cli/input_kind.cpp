// SPDX-License-Identifier: Apache-2.0
#include "cli/input_kind.h"

#include <algorithm>
#include <array>

namespace crawlstore::cli {
namespace {

using namespace std::string_view_literals;

/// kPartly: all bytes that are there match, and more are wanted.
enum class Match : std::uint8_t { kNo, kPartly, kYes };

struct Signature {
  InputKind kind;
  std::string_view bytes;
};

constexpr std::array kSignatures{
    Signature{InputKind::kGzip, "\x1f\x8b"sv},
    Signature{InputKind::kZstd, "\x28\xb5\x2f\xfd"sv},
    Signature{InputKind::kBzip2, "BZh"sv},
    Signature{InputKind::kXz, "\xfd\x37zXZ\0"sv},
    Signature{InputKind::kUtf16, "\xff\xfe"sv},
    Signature{InputKind::kUtf16, "\xfe\xff"sv},
    Signature{InputKind::kWarc, "WARC/"sv},
    Signature{InputKind::kArc, "filedesc://"sv},
    Signature{InputKind::kCrawlFile, "\x89\x43RWL\r\n\x1a"sv},
};

Match match(std::string_view head, std::string_view signature) {
  if (head.starts_with(signature)) return Match::kYes;
  return signature.starts_with(head) ? Match::kPartly : Match::kNo;
}

/// A frame that may be skipped, with which parallel compressors of zstd begin.
Match match_skippable_frame(std::string_view head) {
  if (head.empty()) return Match::kPartly;
  if (head.front() < '\x50' || head.front() > '\x5f') return Match::kNo;
  return match(head.substr(1), "\x2a\x4d\x18"sv);
}

bool is_ascii_text(char c) {
  return (' ' <= c && c <= '~') || c == '\t' || c == '\r' || c == '\n';
}

/// UTF-16 without a mark: four ASCII characters, with zeros at the even or at the odd places.
Match match_wide(std::string_view head, std::size_t zero_parity) {
  constexpr std::size_t kBytes = 8;
  for (std::size_t i = 0; i < std::min(kBytes, head.size()); ++i) {
    const bool fits = i % 2 == zero_parity ? head[i] == '\0' : is_ascii_text(head[i]);
    if (!fits) return Match::kNo;
  }
  return head.size() < kBytes ? Match::kPartly : Match::kYes;
}

/// XML after a mark, empty lines and blanks. A line of blanks alone is text: its verdict must not
/// wait for the next one.
Match match_xml(std::string_view head) {
  constexpr std::array kBeginnings{"<?xml"sv, "<urlset"sv, "<sitemapindex"sv};
  if (head.size() < kByteOrderMark.size() && kByteOrderMark.starts_with(head)) {
    return Match::kPartly;
  }
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  head.remove_prefix(std::min(head.find_first_not_of("\r\n"sv), head.size()));
  head.remove_prefix(std::min(head.find_first_not_of(" \t"sv), head.size()));
  Match best = Match::kNo;
  for (const std::string_view beginning : kBeginnings) {
    best = std::max(best, match(head, beginning));
  }
  return best;
}

}  // namespace

std::optional<InputKind> find_input_kind(std::string_view head, bool is_all) {
  bool is_open = false;
  std::optional<InputKind> found;
  const auto look = [&](InputKind kind, Match matched) {
    if (matched == Match::kYes && !found) found = kind;
    is_open |= matched == Match::kPartly;
  };
  for (const auto& [kind, bytes] : kSignatures) look(kind, match(head, bytes));
  look(InputKind::kZstd, match_skippable_frame(head));
  look(InputKind::kUtf16, match_wide(head, 0));
  look(InputKind::kUtf16, match_wide(head, 1));
  look(InputKind::kXml, match_xml(head));
  if (found) return found;
  if (is_open && !is_all && head.size() < kInputHeadBytes) return std::nullopt;
  return InputKind::kPlain;
}

const char* refusal_of(InputKind kind) {
  switch (kind) {
    case InputKind::kPlain:
      break;
    case InputKind::kGzip:
    case InputKind::kZstd:
      return "it is packed twice; give what unpacking it once gives";
    case InputKind::kBzip2:
      return "it is packed by bzip2; give what `bzip2 -dc` makes of it";
    case InputKind::kXz:
      return "it is packed by xz; give what `xz -dc` makes of it";
    case InputKind::kUtf16:
      return "it is UTF-16; give what `iconv -f UTF-16 -t UTF-8` makes of it";
    case InputKind::kWarc:
      return "it is a WARC file, of records and not of lines; give the URLs in it";
    case InputKind::kArc:
      return "it is an ARC file, of records and not of lines; give the URLs in it";
    case InputKind::kCrawlFile:
      return "it is a crawl file; give what `crawlstore export` makes of it";
    case InputKind::kXml:
      return "it is XML, such as a sitemap; give the URLs in it, a line each";
  }
  return "it is read";
}

}  // namespace crawlstore::cli
