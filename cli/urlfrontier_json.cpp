// SPDX-License-Identifier: Apache-2.0
#include "cli/urlfrontier_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "model/json.h"
#include "model/utf8.h"
#include "service/core/crawls.h"
#include "service/core/metadata.h"

namespace crawlstore::cli {
namespace {

namespace dom = simdjson::dom;
using service::Crawl;
using service::Metadata;

constexpr const char* kNoItem = "it is no URLItem of URLFrontier";

auto refused(const char* why) {
  return fail(Errc::kInvalidArgument, why);
}

// Members may be null, which is as if they were not there. False: a member has another type.

bool take_text(const dom::element& json, std::string& to) {
  std::string_view text;
  if (json.is_null()) return true;
  if (json.get(text) != simdjson::SUCCESS) return false;
  to = text;
  return true;
}

/// Numbers of 64 bits come as text, too.
bool take_number(const dom::element& json, std::optional<std::uint64_t>& to) {
  std::string_view text;
  std::uint64_t number = 0;
  if (json.is_null()) return true;
  if (json.get(text) == simdjson::SUCCESS) {
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stopped != end) return false;
  } else if (double exact = 0; json.is_double() && json.get(exact) == simdjson::SUCCESS) {
    constexpr double kMost = 9'007'199'254'740'992;  // 2^53
    if (!(exact >= 0 && exact <= kMost) || exact != std::floor(exact)) return false;
    number = static_cast<std::uint64_t>(exact);
  } else if (json.get(number) != simdjson::SUCCESS) {
    return false;
  }
  to = number;
  return true;
}

bool take_values(const dom::element& json, std::vector<std::string>& to) {
  dom::array values;
  if (json.is_null()) return true;
  if (json.get(values) != simdjson::SUCCESS) return false;
  for (const dom::element value : values) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    to.emplace_back(text);
  }
  return true;
}

bool take_metadata(const dom::element& json, UrlItem& to) {
  dom::object entries;
  if (json.is_null()) return true;
  if (json.get(entries) != simdjson::SUCCESS) return false;
  Metadata metadata;
  for (const dom::key_value_pair entry : entries) {
    dom::object list;
    if (entry.value.get(list) != simdjson::SUCCESS) return false;
    std::vector<std::string>& values = metadata[std::string(entry.key)];
    values.clear();
    for (const dom::key_value_pair member : list) {
      if (member.key == "values" && !take_values(member.value, values)) return false;
    }
  }
  const auto said = metadata.find("priority");
  const bool is_said = said != metadata.end() && !said->second.empty();
  to.priority = is_said ? service::priority_of(said->second.front()) : 0;
  to.metadata = service::encode(metadata);
  return true;
}

bool take_info(const dom::element& json, UrlItem& to) {
  dom::object info;
  if (json.is_null()) return true;
  if (json.get(info) != simdjson::SUCCESS) return false;
  return std::all_of(info.begin(), info.end(), [&to](const dom::key_value_pair& member) {
    if (member.key == "url") return take_text(member.value, to.url);
    if (member.key == "key") return take_text(member.value, to.key);
    if (member.key == "crawlID") return take_text(member.value, to.crawl);
    return member.key != "metadata" || take_metadata(member.value, to);
  });
}

/// A KnownURLItem or a DiscoveredURLItem.
bool take_item(const dom::element& json, bool is_known, UrlItem& to) {
  dom::object item;
  if (json.get(item) != simdjson::SUCCESS) return false;
  if (is_known) to.refetch_s = 0;
  return std::all_of(item.begin(), item.end(), [&](const dom::key_value_pair& member) {
    if (member.key == "info") return take_info(member.value, to);
    const bool is_date =
        member.key == "refetchableFromDate" || member.key == "refetchable_from_date";
    return !is_known || !is_date || take_number(member.value, to.refetch_s);
  });
}

Result<void> take_line(const dom::object& line, UrlItem& to) {
  unsigned item_count = 0;
  for (const dom::key_value_pair member : line) {
    const bool is_known = member.key == "known";
    if (is_known || member.key == "discovered") {
      if (member.value.is_null()) continue;
      ++item_count;
      if (!take_item(member.value, is_known, to)) return refused(kNoItem);
    } else if (member.key == "creationDate" || member.key == "creation_date") {
      if (!take_number(member.value, to.created_s)) return refused(kNoItem);
    }
  }
  if (item_count == 0) return refused("it has neither `known` nor `discovered`");
  if (item_count > 1) return refused("it has more than one of `known` and `discovered`");
  if (to.created_s == 0U) to.created_s.reset();
  return {};
}

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Refuses what crawlstored refuses.
Result<void> complete(UrlItem& item) {
  if (item.url.empty()) return refused("it has no URL");
  if (item.key.empty()) {
    auto host = service::host_of(item.url);
    if (!host) return refused("its URL has no host, and it has no key");
    item.key = *std::move(host);
  }
  if (item.key.size() > Crawl::kKeyBytesMax) {
    return refused("the key of its queue has more than 255 bytes");
  }
  if (item.url.size() + item.metadata.size() > Crawl::kUrlBytesMax) {
    return refused("its URL and metadata have more than 65,500 bytes");
  }
  if (std::max(item.refetch_s.value_or(0), item.created_s.value_or(0)) > Crawl::kTimeMaxS) {
    return refused("it has a date beyond the year 10889");
  }
  item.crawl = service::Crawls::id_of(item.crawl);
  return {};
}

bool is_text(const Metadata& metadata) {
  return std::ranges::all_of(metadata, [](const auto& entry) {
    return model::is_utf8(entry.first) && std::ranges::all_of(entry.second, model::is_utf8);
  });
}

/// A member of an object; the first one after `{`.
void append_member(std::string& to, std::string_view name, std::string_view text) {
  if (to.back() != '{') to += ',';
  model::append_json_text(to, name);
  to += ':';
  model::append_json_text(to, text);
}

void append_metadata(std::string& to, const Metadata& metadata) {
  to += R"(,"metadata":)";
  char before = '{';
  for (const auto& [name, values] : metadata) {
    to += std::exchange(before, ',');
    model::append_json_text(to, name);
    to += ":{";
    char before_value = '[';
    if (!values.empty()) to += R"("values":)";
    for (const std::string& value : values) {
      to += std::exchange(before_value, ',');
      model::append_json_text(to, value);
    }
    to += values.empty() ? "}" : "]}";
  }
  to += '}';
}

}  // namespace

struct UrlItemParser::Json {
  dom::parser parser;
  std::string padded;  // the line, and what simdjson may read after it
};

UrlItemParser::UrlItemParser(std::string crawl)
    : crawl_(std::move(crawl)), json_(std::make_unique<Json>()) {}

UrlItemParser::~UrlItemParser() = default;

Result<const UrlItem*> UrlItemParser::parse(std::string_view line) {
  if (line.size() > kLineBytesMax) return refused("it is longer than 1 MiB");
  line = trim(line);
  item_ = {};
  if (!line.starts_with('{')) {
    if (!model::is_utf8(line)) return refused("it is no UTF-8");
    item_.url = line;
    item_.crawl = crawl_;
  } else {
    json_->padded.assign(line).append(simdjson::SIMDJSON_PADDING, ' ');
    dom::object object;
    const char* const text = json_->padded.data();
    if (json_->parser.parse(text, line.size(), false).get(object) != simdjson::SUCCESS) {
      return refused("it is no JSON");
    }
    CRAWLSTORE_TRY(take_line(object, item_));
  }
  CRAWLSTORE_TRY(complete(item_));
  return &item_;
}

UrlItemLoss append_url_item(std::string& to, const service::KnownUrl& url, std::string_view queue,
                            std::string_view crawl) {
  if (!model::is_utf8(url.record.url) || !model::is_utf8(queue)) return UrlItemLoss::kAll;
  to += R"({"known":{"info":{)";
  append_member(to, "url", url.record.url);
  append_member(to, "key", queue);
  const auto metadata = service::decode_metadata(url.record.metadata);
  const bool has_metadata = metadata && is_text(*metadata);
  if (has_metadata && !metadata->empty()) append_metadata(to, *metadata);
  append_member(to, "crawlID", crawl);
  to += '}';
  const auto end = std::back_inserter(to);
  if (url.refetch_s != 0) fmt::format_to(end, R"(,"refetchableFromDate":"{}")", url.refetch_s);
  to += '}';
  if (url.record.created_s != 0) {
    fmt::format_to(end, R"(,"creationDate":"{}")", url.record.created_s);
  }
  to += "}\n";
  return has_metadata ? UrlItemLoss::kNone : UrlItemLoss::kMetadata;
}

}  // namespace crawlstore::cli
