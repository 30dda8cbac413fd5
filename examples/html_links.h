// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The links of HTML pages, found by their tags alone. A parser that builds a tree takes time that
/// grows with the square of how deep elements are nested, and whoever wrote a page chooses that.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <crawlstore/url.h>

namespace html {

constexpr std::string_view kSpaces = " \t\n\f\r";

/// Takes away what stands before the first of these characters, or all, and returns it.
inline std::string_view take_until(std::string_view& text, std::string_view characters) {
  const std::string_view taken = text.substr(0, text.find_first_of(characters));
  text.remove_prefix(taken.size());
  return taken;
}

inline void skip(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  return result;
}

/// The character that a reference such as "&amp;" or "&#x26;" stands for; 0: none, or a name that
/// URLs do not need.
inline std::uint32_t character_of(std::string_view reference) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  for (const auto& [name, character] : kNamed) {
    if (name == reference) return static_cast<unsigned char>(character);
  }
  if (!reference.starts_with("&#")) return 0;
  const int base = reference.starts_with("&#x") || reference.starts_with("&#X") ? 16 : 10;
  const char* const digits = reference.data() + (base == 16 ? 3 : 2);
  const char* const end = reference.data() + reference.size() - 1;
  std::uint32_t number = 0;
  return std::from_chars(digits, end, number, base).ptr == end && number < 0x110000 ? number : 0;
}

inline void append_utf8(std::string& to, std::uint32_t character) {
  int shift = character < 0x80 ? 0 : character < 0x800 ? 6 : character < 0x10000 ? 12 : 18;
  const std::uint32_t lead = shift == 0 ? 0 : 0xFF00U >> (shift / 6 + 1) & 0xFF;
  to += static_cast<char>(lead | character >> shift);
  while (shift != 0) {
    shift -= 6;
    to += static_cast<char>(0x80 | (character >> shift & 0x3F));
  }
}

inline std::string without_references(std::string_view text) {
  constexpr std::size_t kReferenceBytesMax = 10;
  std::string result;
  while (true) {
    result += take_until(text, "&");
    if (text.empty()) return result;
    const std::string_view near = text.substr(0, kReferenceBytesMax);
    const std::string_view reference = near.substr(0, near.find(';') + 1);
    const std::uint32_t character = character_of(reference);
    append_utf8(result, character == 0 ? '&' : character);
    text.remove_prefix(character == 0 ? 1 : reference.size());
  }
}

/// A start tag: its name, and its first attribute `href`.
struct Tag {
  std::string name;
  bool has_href = false;
  std::string_view href{};
};

/// Takes away the attributes of a tag and its '>'. False: the page ends before.
inline bool take_attributes(std::string_view& text, Tag& tag) {
  while (true) {
    skip(text, " \t\n\f\r/");
    if (text.empty()) return false;
    if (text.front() == '>') break;
    const std::string_view first = text.substr(0, 1);  // may be '='
    text.remove_prefix(1);
    const std::string name = lower(std::string(first).append(take_until(text, " \t\n\f\r/>=")));
    skip(text, kSpaces);
    std::string_view value;
    if (text.starts_with('=')) {
      text.remove_prefix(1);
      skip(text, kSpaces);
      const bool is_quoted = text.starts_with('"') || text.starts_with('\'');
      const std::string_view quote = text.substr(0, 1);
      if (is_quoted) text.remove_prefix(1);
      value = take_until(text, is_quoted ? quote : " \t\n\f\r>");
      if (is_quoted) text.remove_prefix(std::min<std::size_t>(1, text.size()));
    }
    if (name != "href" || tag.has_href) continue;
    tag.has_href = true;
    tag.href = value;
  }
  text.remove_prefix(1);
  return true;
}

/// Takes away what is text up to its end tag, whatever stands in it.
inline void skip_raw_text(std::string_view& text, const std::string& name) {
  constexpr std::array<std::string_view, 8> kRaw{"iframe", "noembed",  "noframes", "script",
                                                 "style",  "textarea", "title",    "xmp"};
  if (std::find(kRaw.begin(), kRaw.end(), name) == kRaw.end()) return;
  std::size_t end = text.find("</");
  while (end < text.size() && lower(text.substr(end + 2, name.size())) != name) {
    end = text.find("</", end + 2);
  }
  text.remove_prefix(std::min(end, text.size()));
}

}  // namespace html

/// Calls `visit` with the URL of every <a href> of a page, in the order of the page.
///   base  the page's URL in its normal form, which <base href> replaces
///   page  any bytes
///   cost  one pass, and a copy of a link
template <class Visit>
void for_each_link(std::string base, std::string_view page, Visit&& visit) {
  crawlstore::UrlNormalizer normalizer;
  while (true) {
    html::take_until(page, "<");
    if (page.size() < 2) return;
    if (page.starts_with("<!--")) {
      page.remove_prefix(std::min(page.find("-->", 2), page.size()));
      continue;
    }
    page.remove_prefix(1);
    if (((page.front() | 0x20) < 'a') || ((page.front() | 0x20) > 'z')) continue;
    html::Tag tag{html::lower(html::take_until(page, " \t\n\f\r/>"))};
    if (!html::take_attributes(page, tag)) return;
    html::skip_raw_text(page, tag.name);
    if (!tag.has_href || (tag.name != "a" && tag.name != "base")) continue;
    const std::string reference = html::without_references(tag.href);
    const auto url = normalizer.resolve(reference, base);
    if (url.parsed && tag.name == "base") base = std::string(url.text);
    if (url.parsed && tag.name == "a") visit(std::string(url.text));
  }
}
