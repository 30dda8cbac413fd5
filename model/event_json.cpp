// SPDX-License-Identifier: Apache-2.0
#include "model/event_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/broken_strings.h"
#include "model/format_text.h"
#include "model/json.h"
#include "model/parse_text.h"
#include "model/utf8.h"

namespace crawlstore::model {
namespace {

using EventJson = nlohmann::json;

constexpr const char* kHalfCharacter =
    "the URL holds half of a surrogate pair, which is no character; `url_hex` takes any bytes";
constexpr const char* kNoUtf8 = "the URL holds bytes that are no UTF-8; `url_hex` takes any bytes";

constexpr std::array kKinds{CrawlEventKind::kPage,      CrawlEventKind::kKnown,
                            CrawlEventKind::kGone,      CrawlEventKind::kFailed,
                            CrawlEventKind::kLinkAdded, CrawlEventKind::kLinkRemoved,
                            CrawlEventKind::kUnchanged, CrawlEventKind::kRedirect,
                            CrawlEventKind::kDenied,    CrawlEventKind::kDuplicate};

tl::unexpected<Error> broken(const char* text) {
  return fail(Errc::kInvalidArgument, text);
}

const EventJson* find(const EventJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const std::string* text_of(const EventJson& json) {
  return json.get_ptr<const EventJson::string_t*>();
}

Result<float> score_of(const EventJson& json) {
  if (!json.is_number()) return broken("`score` is no number");
  const auto score = json.get<double>();
  if (!(std::abs(score) <= static_cast<double>(std::numeric_limits<float>::max()))) {
    return broken("`score` is too large");
  }
  return static_cast<float>(score);
}

Result<std::int64_t> time_of(const EventJson& json) {
  if (json.is_number_unsigned()) {
    const auto time_us = json.get<std::uint64_t>();
    if (time_us <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(time_us);
    }
  }
  if (const std::string* text = text_of(json)) {
    if (const auto time_us = parse_time(*text)) return *time_us;
  }
  return broken("`time` is neither of ISO 8601, from 1970 on, nor microseconds");
}

Result<std::uint16_t> status_of(const EventJson& json) {
  constexpr std::uint64_t kStatusMax = std::numeric_limits<std::uint16_t>::max();
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kStatusMax) {
    return broken("`status` is no whole number from 0 to 65535");
  }
  return json.get<std::uint16_t>();
}

/// Fields that mean something. `links` is not among them: a list of links is read as it comes.
bool is_known_key(std::string_view key) {
  constexpr std::array<std::string_view, 8> kKeys{"kind", "url",   "url_hex",      "index",
                                                  "time", "score", "content_hash", "status"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

std::string_view characters(std::span<const std::byte> bytes) {
  return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

void append_score(std::string& to, float score) {
  if (score != 0) fmt::format_to(std::back_inserter(to), ",\"score\":{}", score);
}

void append_link(std::string& to, const EventLink& link, PageNaming naming) {
  if (naming == PageNaming::kIndexes) {
    if (link.score == 0) {
      to += fmt::to_string(link.index);
      return;
    }
    fmt::format_to(std::back_inserter(to), "{{\"index\":{}", link.index);
  } else {
    if (link.score == 0 && is_utf8(link.url)) return append_json_text(to, link.url);
    to += '{';
    append_json_bytes(to, "url", link.url);
  }
  append_score(to, link.score);
  to += '}';
}

}  // namespace

std::optional<CrawlEventKind> find_event_kind(std::string_view name) {
  for (const CrawlEventKind kind : kKinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

/// Reads one line into its parser.
struct EventLineParser::Reader {
  EventLineParser& parser;
  std::optional<PageNaming> naming;

  std::string_view keep(std::string_view bytes) {
    const std::size_t begin = parser.bytes_.size();
    parser.bytes_ += bytes;
    return std::string_view(parser.bytes_).substr(begin);
  }
  Result<void> note_naming(PageNaming used) {
    if (naming && *naming != used) return broken("it names pages by URLs and by indexes");
    naming = used;
    return {};
  }
  Result<void> take_url(std::string_view bytes, std::string_view& to) {
    if (bytes.size() > kEventUrlBytesMax) return broken("a URL is longer than 16 MiB");
    to = keep(bytes);
    return note_naming(PageNaming::kUrls);
  }
  Result<void> take_index(const EventJson& json, std::uint64_t& to) {
    if (!json.is_number_unsigned()) return broken("`index` is no whole number from 0 on");
    to = json.get<std::uint64_t>();
    return note_naming(PageNaming::kIndexes);
  }

  /// The name of a page or of a link: exactly one of three keys.
  Result<void> take_name(const EventJson& object, std::string_view& url, std::uint64_t& index) {
    const EventJson* const text = find(object, "url");
    const EventJson* const digits = find(object, "url_hex");
    const EventJson* const number = find(object, "index");
    if ((text != nullptr) + (digits != nullptr) + (number != nullptr) != 1) {
      return broken("a page is named by one of `url`, `url_hex` and `index`");
    }
    if (number != nullptr) return take_index(*number, index);
    const std::string* const written = text_of(text != nullptr ? *text : *digits);
    if (written == nullptr) return broken("`url` is no string");
    if (text != nullptr) return take_url(*written, url);
    const auto bytes = parse_hex_bytes(*written);
    if (!bytes) return broken("`url_hex` is not of pairs of hexadecimal digits");
    return take_url(*bytes, url);
  }

  Result<void> take_link(const EventJson& json) {
    EventLink link;
    if (const std::string* text = text_of(json)) {
      CRAWLSTORE_TRY(take_url(*text, link.url));
    } else if (json.is_number()) {
      CRAWLSTORE_TRY(take_index(json, link.index));
    } else if (json.is_object()) {
      CRAWLSTORE_TRY(take_name(json, link.url, link.index));
      if (const EventJson* score = find(json, "score")) {
        CRAWLSTORE_TRY(const auto value, score_of(*score));
        link.score = value;
      }
    } else {
      return broken("a link is a string, a number or an object");
    }
    parser.links_.push_back(link);
    return {};
  }

  /// `links`: what came of reading them.
  Result<void> take_links(const EventJson& json, const Result<void>& links,
                          CrawlEvent& event) const {
    if (!json.is_array()) return broken("`links` is no list");
    const bool is_empty = links && parser.links_.empty();
    if (!has_links(event.kind) && !is_empty) return broken("an event of this kind has no links");
    event.links = parser.links_;
    return links;
  }

  Result<void> take_hash(const EventJson& json, CrawlEvent& event) {
    const std::string* digits = text_of(json);
    const auto bytes = digits == nullptr ? std::nullopt : parse_hex_bytes(*digits);
    if (!bytes) return broken("`content_hash` is not of pairs of hexadecimal digits");
    if (bytes->size() > kEventHashBytesMax) return broken("`content_hash` is over 64 bytes");
    event.content_hash = std::as_bytes(std::span(keep(*bytes)));
    return {};
  }

  Result<void> take_kind(const EventJson& object, CrawlEvent& event) {
    const EventJson* json = find(object, "kind");
    const std::string* name = json == nullptr ? nullptr : text_of(*json);
    if (name == nullptr) return broken("`kind` is missing");
    const auto kind = find_event_kind(*name);
    if (!kind) return broken("this `kind` is not known");
    event.kind = *kind;
    return {};
  }

  Result<CrawlEvent> read(const EventJson& object, bool has_broken_url, const Result<void>& links) {
    CrawlEvent event;
    CRAWLSTORE_TRY(take_kind(object, event));
    if (has_broken_url) return broken(parser.broken_text_);
    CRAWLSTORE_TRY(take_name(object, event.url, event.index));
    if (const EventJson* json = find(object, "time")) {
      CRAWLSTORE_TRY(const auto time_us, time_of(*json));
      event.time_us = time_us;
    }
    if (const EventJson* json = find(object, "score")) {
      CRAWLSTORE_TRY(const auto score, score_of(*json));
      event.score = score;
    }
    if (const EventJson* json = find(object, "status")) {
      CRAWLSTORE_TRY(const auto status, status_of(*json));
      event.http_status = status;
    }
    if (const EventJson* json = find(object, "content_hash"))
      CRAWLSTORE_TRY(take_hash(*json, event));
    if (const EventJson* json = find(object, "links")) {
      CRAWLSTORE_TRY(take_links(*json, links, event));
    }
    if (event.kind == CrawlEventKind::kRedirect && event.links.size() != 1) {
      return broken("a redirect has one link: the page that it leads to");
    }
    parser.naming_ = *naming;
    return event;
  }
};

/// The events by which nlohmann::json tells of a line, as it reads it. Kept are the known fields of
/// the event, and those of one link at a time; a list or an object that stands for such a field is
/// kept empty. So neither a line that is nested nor one of many small things takes memory.
struct EventLineParser::Line {
  Line(Reader& to, std::span<const std::size_t> broken) : reader(to), broken_strings(broken) {}

  Reader& reader;
  std::span<const std::size_t> broken_strings;  // that are still to come
  std::size_t string_count = 0;                 // that have come
  bool has_broken_url = false;                  // the event
  bool has_broken_link = false;                 // the link, its URL
  EventJson event = EventJson::object();
  EventJson link;
  std::string key_of_event;
  std::string key_of_link;
  std::uint64_t depth = 0;  // of objects and lists that are open
  bool is_object = false;   // what the line is
  bool in_links = false;    // the list at depth 2
  bool in_link = false;     // the object at depth 3
  Result<void> links;       // the first one that is wrong

  void take_link(const EventJson& json) {
    if (!links) return;
    links = reader.parser.links_.size() < kLinksMax ? reader.take_link(json)
                                                    : broken("it has more than 2,097,152 links");
  }
  /// A value that is whole, or one that has just been opened.
  bool take(EventJson value) {
    if (depth == 1 && is_object && (is_known_key(key_of_event) || key_of_event == "links")) {
      event[key_of_event] = std::move(value);
    } else if (depth == 2 && in_links) {
      take_link(value);
    } else if (depth == 3 && in_link && is_known_key(key_of_link)) {
      link[key_of_link] = std::move(value);
    }
    return true;
  }
  bool null() { return take(nullptr); }
  bool boolean(bool value) { return take(value); }
  bool number_integer(std::int64_t value) { return take(value); }
  bool number_unsigned(std::uint64_t value) { return take(value); }
  bool number_float(double value, const std::string& /*text*/) { return take(value); }
  /// Whether the string that comes now is broken.
  bool next_is_broken() {
    const bool is_broken = !broken_strings.empty() && broken_strings.front() == string_count;
    if (is_broken) broken_strings = broken_strings.subspan(1);
    ++string_count;
    return is_broken;
  }
  bool string(std::string& value) {
    const bool is_broken = next_is_broken();
    if (depth == 1 && key_of_event == "url") has_broken_url = is_broken;
    if (depth == 3 && in_link && key_of_link == "url") has_broken_link = is_broken;
    if (depth == 2 && in_links && is_broken) return leave_link_out();
    return take(std::move(value));
  }
  bool leave_link_out() {
    ++reader.parser.broken_link_count_;
    return true;
  }
  bool binary(EventJson::binary_t& /*value*/) { return false; }
  bool key(std::string& name) {
    (void)next_is_broken();  // then it is none that is known
    if (depth == 1) {
      key_of_event = std::move(name);
    } else if (depth == 3) {
      key_of_link = std::move(name);
    }
    return true;
  }
  bool start_object(std::size_t /*count*/) {
    if (depth == 0) is_object = true;
    if (depth == 2 && in_links) {
      in_link = true;
      has_broken_link = false;
      link = EventJson::object();
    } else {
      take(EventJson::object());
    }
    ++depth;
    return true;
  }
  bool end_object() {
    --depth;
    if (depth != 2 || !in_link) return true;
    in_link = false;
    if (has_broken_link) return leave_link_out();
    take_link(link);
    return true;
  }
  bool start_array(std::size_t /*count*/) {
    take(EventJson::array());
    if (depth == 1) in_links = is_object && key_of_event == "links";
    if (depth == 1 && in_links) {
      reader.parser.links_.clear();
      reader.parser.broken_link_count_ = 0;
    }
    ++depth;
    return true;
  }
  bool end_array() {
    --depth;
    if (depth == 1) in_links = false;
    return true;
  }
  static bool parse_error(std::size_t /*at*/, const std::string& /*last*/,
                          const EventJson::exception& /*error*/) {
    return false;
  }
};

Result<CrawlEvent> EventLineParser::parse(std::string_view line) {
  links_.clear();
  broken_link_count_ = 0;
  if (const auto event = parse_quickly(line)) return *event;
  links_.clear();
  return parse_slowly(line);
}

Result<CrawlEvent> EventLineParser::parse_slowly(std::string_view line) {
  const auto mended = mend_broken_strings(line);
  if (!mended) return parse_text(line, {});
  broken_text_ = mended->has_bytes ? kNoUtf8 : kHalfCharacter;
  return parse_text(mended->text, mended->broken_strings);
}

Result<CrawlEvent> EventLineParser::parse_text(std::string_view line,
                                               std::span<const std::size_t> broken_strings) {
  // Strings that are written take at least as many bytes in the line.
  bytes_.clear();
  bytes_.reserve(line.size());
  Reader reader{*this, {}};
  Line read(reader, broken_strings);
  // The parser takes a zero byte for the end.
  const bool is_cut = line.find('\0') != std::string_view::npos;
  if (is_cut || !EventJson::sax_parse(line, &read)) return broken("it is no JSON");
  if (!read.is_object) return broken("it is no JSON object");
  return reader.read(read.event, read.has_broken_url, read.links);
}

void append_event_line(std::string& to, const CrawlEvent& event, PageNaming naming) {
  to += "{\"kind\":\"";
  to += name_of(event.kind);
  to += "\",";
  if (naming == PageNaming::kIndexes) {
    to += "\"index\":" + fmt::to_string(event.index);
  } else {
    append_json_bytes(to, "url", event.url);
  }
  if (event.time_us != 0) {
    const std::string time = format_time(event.time_us);
    to += time.ends_with('Z') ? ",\"time\":\"" + time + '"'
                              : ",\"time\":" + fmt::to_string(event.time_us);
  }
  append_score(to, event.score);
  if (!event.content_hash.empty()) {
    to += ",\"content_hash\":\"";
    append_hex(to, characters(event.content_hash));
    to += '"';
  }
  if (event.http_status != 0) to += ",\"status\":" + fmt::to_string(event.http_status);
  for (std::size_t i = 0; i < event.links.size(); ++i) {
    to += i == 0 ? ",\"links\":[" : ",";
    append_link(to, event.links[i], naming);
  }
  if (!event.links.empty()) to += ']';
  to += "}\n";
}

}  // namespace crawlstore::model
