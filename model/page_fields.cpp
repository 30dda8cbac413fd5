// SPDX-License-Identifier: Apache-2.0
#include "model/page_fields.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "model/format_text.h"
#include "model/graph_text.h"
#include "model/json.h"
#include "model/utf8.h"

namespace crawlstore::model {
namespace {

struct ColumnName {
  std::string_view name;
  PageColumn column;
};

constexpr std::array kColumns{
    ColumnName{"index", PageColumn::kIndex},
    ColumnName{"url", PageColumn::kUrl},
    ColumnName{"state", PageColumn::kState},
    ColumnName{"crawl_count", PageColumn::kCrawlCount},
    ColumnName{"change_count", PageColumn::kChangeCount},
    ColumnName{"first_crawl", PageColumn::kFirstCrawl},
    ColumnName{"last_crawl", PageColumn::kLastCrawl},
    ColumnName{"score", PageColumn::kScore},
    ColumnName{"depth", PageColumn::kDepth},
    ColumnName{"http_status", PageColumn::kHttpStatus},
    ColumnName{"failure_count", PageColumn::kFailureCount},
};

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63U;

/// Ascending in the order of the signed numbers.
std::uint64_t unsigned_order(std::int64_t number) {
  return static_cast<std::uint64_t>(number) ^ kSignBit;
}

std::uint64_t unsigned_order(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number == 0 ? 0.0F : number);
  return (bits >> 31U) != 0 ? ~bits : bits | 0x8000'0000U;
}

/// 0 means: never.
Cell crawl_time_cell(std::int64_t time_us) {
  return time_us == 0 ? Cell{} : Cell{time_us};
}

std::string time_text(std::int64_t time_us, std::string_view never) {
  return time_us == 0 ? std::string(never) : format_time(time_us);
}

std::string hash_text(const PageInfo& page) {
  std::string digits;
  const auto& hash = page.content_hash;
  append_hex(digits,
             {static_cast<const char*>(static_cast<const void*>(hash.data())), hash.size()});
  return digits;
}

/// The heading of a column of scores.
std::string heading(const NamedScore& score) {
  return "score:" + std::string(score.name);
}

void append_time_json(std::string& to, std::string_view name, std::int64_t time_us) {
  auto out = std::back_inserter(to);
  if (time_us == 0) {
    fmt::format_to(out, ",\"{0}_us\":null,\"{0}\":null", name);
  } else {
    fmt::format_to(out, ",\"{0}_us\":{1},\"{0}\":\"{2}\"", name, time_us, format_time(time_us));
  }
}

}  // namespace

std::optional<PageColumn> find_page_column(std::string_view name) {
  for (const ColumnName& known : kColumns) {
    if (known.name == name) return known.column;
  }
  return std::nullopt;
}

std::vector<std::string> page_column_names() {
  std::vector<std::string> names;
  names.reserve(kColumns.size());
  for (const ColumnName& known : kColumns) names.emplace_back(known.name);
  return names;
}

std::uint64_t sort_number(const PageInfo& page, PageColumn column) {
  switch (column) {
    case PageColumn::kIndex:
      return page.index;
    case PageColumn::kUrl:
      return 0;
    case PageColumn::kState:
      return static_cast<std::uint64_t>(page.state);
    case PageColumn::kCrawlCount:
      return page.crawl_count;
    case PageColumn::kChangeCount:
      return page.change_count;
    case PageColumn::kFirstCrawl:
      return unsigned_order(page.first_crawl_us);
    case PageColumn::kLastCrawl:
      return unsigned_order(page.last_crawl_us);
    case PageColumn::kScore:
      return unsigned_order(page.score);
    case PageColumn::kDepth:
      return page.depth;
    case PageColumn::kHttpStatus:
      return page.http_status;
    case PageColumn::kFailureCount:
      return page.failure_count;
  }
  return 0;
}

std::string format_score(float score) {
  return fmt::format("{}", score);
}

double score_value(float score) {
  const std::string digits = format_score(score);
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Field url_field(std::string_view url) {
  if (is_utf8(url)) return {"url", Unit::kText, std::string(url)};
  std::string digits;
  append_hex(digits, url);
  return {"url_hex", Unit::kText, std::move(digits)};
}

Cell changes_per_day(const PageInfo& page) {
  constexpr double kSecondsADay = 86'400;
  const auto rate = page.change_rate();
  return rate ? Cell{*rate * kSecondsADay} : Cell{};
}

Cell http_status_cell(const PageInfo& page) {
  return page.http_status == 0 ? Cell{} : Cell{std::uint64_t{page.http_status}};
}

std::vector<Field> page_fields(const PageInfo& page) {
  return {{"index", Unit::kId, page.index},
          url_field(page.url),
          {"state", Unit::kText, std::string(name_of(page.state))},
          {"crawl_count", Unit::kCount, std::uint64_t{page.crawl_count}},
          {"change_count", Unit::kCount, std::uint64_t{page.change_count}},
          {"first_crawl_us", Unit::kTimeUs, crawl_time_cell(page.first_crawl_us)},
          {"last_crawl_us", Unit::kTimeUs, crawl_time_cell(page.last_crawl_us)},
          {"changes_per_day", Unit::kRatio, changes_per_day(page)},
          {"score", Unit::kRatio, score_value(page.score)},
          {"content_hash", Unit::kText, page.content_hash.empty() ? Cell{} : Cell{hash_text(page)}},
          {"http_status", Unit::kId, http_status_cell(page)},
          {"failure_count", Unit::kCount, std::uint64_t{page.failure_count}},
          {"depth", Unit::kCount, std::uint64_t{page.depth}},
          {"linked_from", Unit::kId, page.linked_from ? Cell{*page.linked_from} : Cell{}}};
}

void append_page_json(std::string& to, const PageInfo& page,
                      const std::optional<NamedScore>& score) {
  auto out = std::back_inserter(to);
  fmt::format_to(out, "{{\"index\":{},", page.index);
  append_json_bytes(to, "url", page.url);
  fmt::format_to(out, ",\"state\":\"{}\",\"crawl_count\":{},\"change_count\":{}",
                 name_of(page.state), page.crawl_count, page.change_count);
  append_time_json(to, "first_crawl", page.first_crawl_us);
  append_time_json(to, "last_crawl", page.last_crawl_us);
  fmt::format_to(out, ",\"score\":{},\"content_hash\":", format_score(page.score));
  to += page.content_hash.empty() ? "null" : '"' + hash_text(page) + '"';
  to += ",\"http_status\":";
  to += page.http_status == 0 ? "null" : fmt::to_string(page.http_status);
  fmt::format_to(out, ",\"failure_count\":{},\"depth\":{},\"linked_from\":", page.failure_count,
                 page.depth);
  to += page.linked_from ? fmt::to_string(*page.linked_from) : "null";
  if (score) {
    to += ',';
    append_json_text(to, heading(*score));
    to += ':';
    to += score->value ? fmt::to_string(*score->value) : "null";
  }
  to += '}';
}

std::vector<Column> page_columns(const std::optional<NamedScore>& score) {
  std::vector<Column> columns{
      {"index", Unit::kId},        {"state", Unit::kText},         {"crawl_count", Unit::kId},
      {"change_count", Unit::kId}, {"first_crawl", Unit::kTimeUs}, {"last_crawl", Unit::kTimeUs},
      {"http_status", Unit::kId},  {"failure_count", Unit::kId},   {"score", Unit::kExact},
      {"depth", Unit::kCount},     {"content_hash", Unit::kText}};
  if (score) columns.push_back({heading(*score), Unit::kScore});
  columns.push_back({"url", Unit::kText});
  return columns;
}

std::vector<Cell> page_cells(const PageInfo& page, const std::optional<NamedScore>& score) {
  std::vector<Cell> cells{page.index,
                          std::string(name_of(page.state)),
                          std::uint64_t{page.crawl_count},
                          std::uint64_t{page.change_count},
                          crawl_time_cell(page.first_crawl_us),
                          crawl_time_cell(page.last_crawl_us),
                          http_status_cell(page),
                          std::uint64_t{page.failure_count},
                          score_value(page.score),
                          std::uint64_t{page.depth},
                          page.content_hash.empty() ? Cell{} : Cell{hash_text(page)}};
  if (score) cells.push_back(score->value ? Cell(*score->value) : Cell());
  cells.emplace_back(page.url);
  return cells;
}

std::string page_csv_header() {
  return "index,url,state,crawl_count,change_count,first_crawl,last_crawl,score,depth,linked_from,"
         "content_hash,out_link_count,http_status,failure_count\n";
}

void append_page_csv(std::string& to, const PageInfo& page, std::uint64_t out_link_count,
                     bool for_spreadsheet) {
  auto out = std::back_inserter(to);
  fmt::format_to(out, "{},", page.index);
  append_csv_field(to, page.url, for_spreadsheet);
  fmt::format_to(out, ",{},{},{},{},{},{},{},{},{},{},{},{}\n", name_of(page.state),
                 page.crawl_count, page.change_count, time_text(page.first_crawl_us, ""),
                 time_text(page.last_crawl_us, ""), format_score(page.score), page.depth,
                 page.linked_from ? fmt::to_string(*page.linked_from) : "", hash_text(page),
                 out_link_count, page.http_status == 0 ? "" : fmt::to_string(page.http_status),
                 page.failure_count);
}

}  // namespace crawlstore::model
