// SPDX-License-Identifier: Apache-2.0
#include "model/page_detail.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/page_key.h>

#include "model/page_rows.h"
#include "model/scores_view.h"

namespace crawlstore::model {
namespace {

Cell time_cell(std::int64_t time_us) {
  return time_us == 0 ? Cell() : Cell(time_us);
}

std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::vector<Field> fields_of(const PageInfo& page, std::size_t out_count, std::size_t in_count) {
  return {{"index", Unit::kId, page.index},
          {"url", Unit::kText, page.url},
          {"host", Unit::kText, url_host(page.url)},
          {"state", Unit::kText, std::string(name_of(page.state))},
          {"score", Unit::kScore, score_value(page.score)},
          {"depth", Unit::kCount, std::uint64_t{page.depth}},
          {"linked_from", Unit::kId, page.linked_from ? Cell(*page.linked_from) : Cell()},
          {"out_link_count", Unit::kCount, std::uint64_t{out_count}},
          {"in_link_count", Unit::kCount, std::uint64_t{in_count}},
          {"crawl_count", Unit::kCount, std::uint64_t{page.crawl_count}},
          {"change_count", Unit::kCount, std::uint64_t{page.change_count}},
          {"changes_per_day", Unit::kRatio, changes_per_day(page)},
          {"first_crawl_us", Unit::kTimeUs, time_cell(page.first_crawl_us)},
          {"last_crawl_us", Unit::kTimeUs, time_cell(page.last_crawl_us)},
          {"content_hash", Unit::kText,
           page.content_hash.empty() ? Cell() : Cell(hex(page.content_hash))}};
}

PageList list_of(std::vector<std::uint64_t> pages) {
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(pages));
}

}  // namespace

Result<std::vector<std::uint64_t>> path_from_seed(const PageView& view, std::uint64_t index) {
  std::vector<std::uint64_t> path;
  std::optional<std::uint64_t> at = index;
  while (at && path.size() < kPathPagesMax) {
    CRAWLSTORE_TRY(const auto page, view.page(*at));
    path.push_back(*at);
    at = page.linked_from;
    // Only damage leads in a circle; the first time it does is told by looking at what there is.
    if (at && std::ranges::find(path, *at) != path.end()) break;
  }
  std::ranges::reverse(path);
  return path;
}

Result<PageDetail> page_detail(const PageView& view, std::uint64_t index) {
  CRAWLSTORE_TRY(auto page, view.page(index));
  CRAWLSTORE_TRY(auto path, path_from_seed(view, index));
  CRAWLSTORE_TRY(auto out, view.out_links(index));
  CRAWLSTORE_TRY(auto in, view.in_links(index));
  PageDetail detail;
  detail.fields = fields_of(page, out.size(), in.size());
  std::ranges::move(score_fields(view, index), std::back_inserter(detail.fields));
  detail.page = std::move(page);
  detail.path = list_of(std::move(path));
  detail.out_links = list_of(std::move(out));
  detail.in_links = list_of(std::move(in));
  return detail;
}

}  // namespace crawlstore::model
