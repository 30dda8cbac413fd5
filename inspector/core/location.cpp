// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/location.h"

#include <vector>

#include <fmt/format.h>

#include "model/key_text.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

std::string percent_encode(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_plain(c)) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += '%';
      text += kHexDigits[byte >> 4U];
      text += kHexDigits[byte & 15U];
    }
  }
  return text;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      name += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto byte = model::parse_hex(text.substr(i + 1, 2));
    if (!byte) return std::nullopt;
    name += static_cast<char>(*byte);
    i += 2;
  }
  return name;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto slash = text.find('/');
    words.push_back(text.substr(0, slash));
    if (slash == text.npos) return words;
    text.remove_prefix(slash + 1);
  }
}

std::optional<Thing> parse_extent(std::string_view text) {
  const auto plus = text.find('+');
  const auto offset = model::parse_count(text.substr(0, plus));
  if (!offset) return std::nullopt;
  if (plus == text.npos) return ExtentThing{{*offset, 0}};
  const auto length = model::parse_count(text.substr(plus + 1));
  if (!length || *length > ~*offset) return std::nullopt;
  return ExtentThing{{*offset, *length}};
}

std::optional<Thing> parse_key(std::string drum, std::string_view digits) {
  const auto key = model::parse_key_digits(digits);
  if (!key) return std::nullopt;
  return KeyThing{std::move(drum), key->key, key->is_wide};
}

/// page/INDEX, host/NAME, and both with the name of a page database before the last word.
std::optional<Thing> parse_page_or_host(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  auto pages = percent_decode(words.size() == 3 ? words[1] : "");
  if (!pages) return std::nullopt;
  if (words[0] == "host") {
    auto host = percent_decode(words.back());
    if (!host) return std::nullopt;
    return HostThing{std::move(*pages), std::move(*host)};
  }
  const auto index = model::parse_count(words.back());
  if (!index) return std::nullopt;
  return PageThing{std::move(*pages), *index};
}

/// queue/NAME, scores/NAME, scores/NAME@PAGES. No encoded name has a '@'.
std::optional<Thing> parse_queue_or_scores(std::string_view kind, std::string_view text) {
  const auto at = kind == "scores" ? text.find('@') : text.npos;
  auto name = percent_decode(text.substr(0, at));
  auto pages = percent_decode(at == text.npos ? "" : text.substr(at + 1));
  if (!name || !pages) return std::nullopt;
  if (kind == "queue") return QueueThing{std::move(*name)};
  return ScoresThing{std::move(*pages), std::move(*name)};
}

/// frontier/NAME, frontier/NAME/GROUP.
std::optional<Thing> parse_frontier(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  auto name = percent_decode(words[1]);
  if (!name) return std::nullopt;
  FrontierThing thing{std::move(*name)};
  if (words.size() == 3) {
    thing.group = percent_decode(words[2]);
    if (!thing.group) return std::nullopt;
  }
  return thing;
}

std::optional<Thing> parse_thing(const std::vector<std::string_view>& words) {
  const std::string_view kind = words[0];
  if (kind == "offset" && words.size() == 2) return parse_extent(words[1]);
  if ((kind == "bucket" || kind == "key") && words.size() == 3) {
    auto drum = percent_decode(words[1]);
    if (!drum) return std::nullopt;
    if (kind == "key") return parse_key(std::move(*drum), words[2]);
    const auto bucket = model::parse_count(words[2]);
    if (!bucket) return std::nullopt;
    return BucketThing{std::move(*drum), *bucket};
  }
  if (kind == "page" || kind == "host") return parse_page_or_host(words);
  if (kind == "frontier") return parse_frontier(words);
  if (words.size() != 2) return std::nullopt;
  if (kind == "queue" || kind == "scores") return parse_queue_or_scores(kind, words[1]);
  const auto number = model::parse_count(words[1]);
  if (!number) return std::nullopt;
  if (kind == "segment") return SegmentThing{SegmentId{*number}};
  if (kind == "generation") return GenerationThing{Generation{*number}};
  if (kind == "row") return RowThing{*number};
  return std::nullopt;
}

bool is_panel_id(std::string_view text) {
  for (const char c : text) {
    if ((c < 'a' || c > 'z') && c != '_') return false;
  }
  return !text.empty();
}

struct ThingText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const SegmentThing& thing) const {
    return fmt::format("segment/{}", thing.id.value);
  }
  std::string operator()(const ExtentThing& thing) const {
    if (thing.extent.length_bytes == 0) {
      return fmt::format("offset/0x{:x}", thing.extent.offset_bytes);
    }
    return fmt::format("offset/0x{:x}+{}", thing.extent.offset_bytes, thing.extent.length_bytes);
  }
  std::string operator()(const GenerationThing& thing) const {
    return fmt::format("generation/{}", thing.generation.value);
  }
  std::string operator()(const BucketThing& thing) const {
    return fmt::format("bucket/{}/{}", percent_encode(thing.drum), thing.bucket);
  }
  std::string operator()(const KeyThing& thing) const {
    return "key/" + percent_encode(thing.drum) + "/" + model::format_key(thing.key, thing.is_wide);
  }
  std::string operator()(const RowThing& thing) const { return fmt::format("row/{}", thing.row); }
  std::string operator()(const PageThing& thing) const {
    return "page/" + prefix(thing.pages) + fmt::to_string(thing.index);
  }
  std::string operator()(const HostThing& thing) const {
    return "host/" + prefix(thing.pages) + percent_encode(thing.host);
  }
  std::string operator()(const QueueThing& thing) const {
    return "queue/" + percent_encode(thing.name);
  }
  std::string operator()(const ScoresThing& thing) const {
    return "scores/" + percent_encode(thing.name) +
           (thing.pages.empty() ? "" : "@" + percent_encode(thing.pages));
  }
  std::string operator()(const FrontierThing& thing) const {
    return "frontier/" + percent_encode(thing.name) +
           (thing.group ? "/" + percent_encode(*thing.group) : "");
  }
  static std::string prefix(const std::string& pages) {
    return pages.empty() ? "" : percent_encode(pages) + "/";
  }
};

}  // namespace

std::optional<Location> parse_location(std::string_view text) {
  auto words = split(text);
  if (auto thing = parse_thing(words)) {
    Location location;
    location.thing = std::move(*thing);
    return location;
  }
  if (!is_panel_id(words[0])) return std::nullopt;
  Location location{std::string(words[0]), {}};
  if (words.size() == 1) return location;
  words.erase(words.begin());
  auto thing = parse_thing(words);
  if (!thing) return std::nullopt;
  location.thing = std::move(*thing);
  return location;
}

std::string format_location(const Location& location) {
  const std::string thing = std::visit(ThingText{}, location.thing);
  if (location.panel.empty() || thing.empty()) return location.panel + thing;
  return location.panel + "/" + thing;
}

std::string describe_thing(const Thing& thing) {
  std::string text = std::visit(ThingText{}, thing);
  for (char& c : text) {
    if (c == '/') c = ' ';
  }
  return text;
}

bool is_url(std::string_view text) {
  const auto end = text.find("://");
  return end != text.npos && end > 0 && text.substr(0, end).find('/') == text.npos;
}

std::optional<FileLocation> split_file_location(std::string_view text) {
  const auto hash = text.rfind('#');
  if (hash == text.npos) return std::nullopt;
  auto location = parse_location(text.substr(hash + 1));
  if (!location) return std::nullopt;
  return FileLocation{std::string(text.substr(0, hash)), std::move(*location)};
}

}  // namespace crawlstore::inspector
