// SPDX-License-Identifier: Apache-2.0
//
// Lines of JSON that are right, as simdjson reads them. Whatever is unusual is left to the other
// reader, which says what is wrong: so nothing is taken here that is refused there. The one number
// that only simdjson takes to be from 0 on is -0: lines with it are left as well.
#include <cmath>
#include <limits>

#include <simdjson.h>

#include "model/event_json.h"
#include "model/parse_text.h"

namespace crawlstore::model {
namespace {

namespace dom = simdjson::dom;

/// Fields that were there: none may come twice, and a page has one name.
enum FieldBit : unsigned {
  kKind = 1,
  kName = 2,
  kTime = 4,
  kScore = 8,
  kHash = 16,
  kLinks = 32,
  kStatus = 64
};

bool is_first(unsigned& seen, FieldBit field) {
  const bool first = (seen & field) == 0;
  seen |= field;
  return first;
}

bool take_kind(const dom::element& json, CrawlEvent& event) {
  std::string_view name;
  if (json.get(name) != simdjson::SUCCESS) return false;
  const auto kind = find_event_kind(name);
  if (kind) event.kind = *kind;
  return kind.has_value();
}

bool take_score(const dom::element& json, float& to) {
  double score = 0;
  if (json.get(score) != simdjson::SUCCESS) return false;
  if (std::abs(score) > static_cast<double>(std::numeric_limits<float>::max())) return false;
  to = static_cast<float>(score);
  return true;
}

bool take_time(const dom::element& json, std::int64_t& to) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS) {
    return json.get(to) == simdjson::SUCCESS && to > 0;
  }
  const auto time_us = parse_time(text);
  if (time_us) to = *time_us;
  return time_us.has_value();
}

bool take_status(const dom::element& json, std::uint16_t& to) {
  std::uint64_t status = 0;
  if (json.get(status) != simdjson::SUCCESS) return false;
  to = static_cast<std::uint16_t>(status);
  return to == status && to != 0;  // -0 is left to the other reader
}

}  // namespace

/// Views of an event are into the parser, whose buffers take 14 bytes a byte of the longest line.
struct EventLineParser::Quick {
  explicit Quick(EventLineParser& parser_of_lines) : to(parser_of_lines) {}

  EventLineParser& to;
  dom::parser parser;
  std::string padded;  // the line, and what simdjson may read behind it
  bool has_urls = false;
  bool has_indexes = false;
  bool has_zero = false;  // as an index

  bool take_url(const dom::element& json, std::string_view& url) {
    has_urls = true;
    return json.get(url) == simdjson::SUCCESS;
  }
  bool take_index(const dom::element& json, std::uint64_t& index) {
    has_indexes = true;
    const bool is_number = json.get(index) == simdjson::SUCCESS;
    has_zero |= index == 0;
    return is_number;
  }

  bool take_linked(const dom::object& object, EventLink& link) {
    unsigned seen = 0;
    for (const auto [key, value] : object) {
      bool is_taken = key != "url_hex";
      if (key == "url") {
        is_taken = is_first(seen, kName) && take_url(value, link.url);
      } else if (key == "index") {
        is_taken = is_first(seen, kName) && take_index(value, link.index);
      } else if (key == "score") {
        is_taken = is_first(seen, kScore) && take_score(value, link.score);
      }
      if (!is_taken) return false;
    }
    return (seen & kName) != 0;
  }

  bool take_links(const dom::element& json) {
    dom::array list;
    if (json.get(list) != simdjson::SUCCESS) return false;
    for (const dom::element value : list) {
      EventLink link;
      dom::object object;
      const bool is_taken = value.is_string() ? take_url(value, link.url)
                            : value.get(object) == simdjson::SUCCESS
                                ? take_linked(object, link)
                                : take_index(value, link.index);
      if (!is_taken || to.links_.size() == kLinksMax) return false;
      to.links_.push_back(link);
    }
    return true;
  }

  bool take_hash(const dom::element& json, CrawlEvent& event) const {
    std::string_view digits;
    if (json.get(digits) != simdjson::SUCCESS) return false;
    auto bytes = parse_hex_bytes(digits);
    if (!bytes || bytes->size() > kEventHashBytesMax) return false;
    to.bytes_ = std::move(*bytes);
    event.content_hash = std::as_bytes(std::span(to.bytes_));
    return true;
  }

  bool take_field(const dom::key_value_pair& field, unsigned& seen, CrawlEvent& event) {
    const std::string_view key = field.key;
    const dom::element& value = field.value;
    if (key == "kind") return is_first(seen, kKind) && take_kind(value, event);
    if (key == "url") return is_first(seen, kName) && take_url(value, event.url);
    if (key == "index") return is_first(seen, kName) && take_index(value, event.index);
    if (key == "time") return is_first(seen, kTime) && take_time(value, event.time_us);
    if (key == "score") return is_first(seen, kScore) && take_score(value, event.score);
    if (key == "content_hash") return is_first(seen, kHash) && take_hash(value, event);
    if (key == "status") return is_first(seen, kStatus) && take_status(value, event.http_status);
    if (key == "links") return is_first(seen, kLinks) && take_links(value);
    return key != "url_hex";
  }

  bool take(std::string_view line, CrawlEvent& event) {
    padded.assign(line).append(simdjson::SIMDJSON_PADDING, ' ');
    dom::object object;
    if (parser.parse(padded.data(), line.size(), false).get(object) != simdjson::SUCCESS) {
      return false;
    }
    has_urls = has_indexes = has_zero = false;
    unsigned seen = 0;
    for (const dom::key_value_pair field : object) {
      if (!take_field(field, seen, event)) return false;
    }
    if ((seen & kKind) == 0 || (seen & kName) == 0 || has_urls == has_indexes) return false;
    if (has_zero && line.find("-0") != std::string_view::npos) return false;
    event.links = to.links_;
    if (event.kind == CrawlEventKind::kRedirect) return event.links.size() == 1;
    return event.links.empty() || has_links(event.kind);
  }
};

EventLineParser::EventLineParser(std::size_t quick_bytes_max)
    : quick_bytes_max_(quick_bytes_max), quick_(std::make_unique<Quick>(*this)) {}

EventLineParser::~EventLineParser() = default;

std::optional<CrawlEvent> EventLineParser::parse_quickly(std::string_view line) {
  if (line.size() > quick_bytes_max_) return std::nullopt;
  CrawlEvent event;
  if (!quick_->take(line, event)) return std::nullopt;
  naming_ = quick_->has_urls ? PageNaming::kUrls : PageNaming::kIndexes;
  return event;
}

}  // namespace crawlstore::model
