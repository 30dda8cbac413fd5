// SPDX-License-Identifier: Apache-2.0
#include "model/page_detail.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/page_key.h>
#include <crawlstore/tools/page_copies.h>

#include "model/page_fields.h"
#include "model/scores_view.h"

namespace crawlstore::model {
namespace {

Cell crawl_time(std::int64_t time_us) {
  return time_us == 0 ? Cell() : Cell(time_us);
}

std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Cell count_of(const PageList& list) {
  return list == nullptr ? Cell() : Cell(std::uint64_t{list->size()});
}

std::vector<Field> fields_of(const PageInfo& page, const PageDetail& detail) {
  return {{"index", Unit::kId, page.index},
          {"url", Unit::kText, page.url},
          {"host", Unit::kText, url_host(page.url)},
          {"state", Unit::kText, std::string(name_of(page.state))},
          {"score", Unit::kScore, score_value(page.score)},
          {"depth", Unit::kCount, std::uint64_t{page.depth}},
          {"linked_from", Unit::kId, page.linked_from ? Cell(*page.linked_from) : Cell()},
          {"out_link_count", Unit::kCount, count_of(detail.out_links)},
          {"in_link_count", Unit::kCount, count_of(detail.in_links)},
          {"crawl_count", Unit::kCount, std::uint64_t{page.crawl_count}},
          {"change_count", Unit::kCount, std::uint64_t{page.change_count}},
          {"http_status", Unit::kId, http_status_cell(page)},
          {"failure_count", Unit::kCount, std::uint64_t{page.failure_count}},
          {"changes_per_day", Unit::kRatio, changes_per_day(page)},
          {"first_crawl_us", Unit::kTimeUs, crawl_time(page.first_crawl_us)},
          {"last_crawl_us", Unit::kTimeUs, crawl_time(page.last_crawl_us)},
          {"content_hash", Unit::kText,
           page.content_hash.empty() ? Cell() : Cell(hex(page.content_hash))}};
}

/// Returns the readable parts of a page whose URL or record is damaged.
PageInfo readable_page(const PageView& view, std::uint64_t index) {
  PageInfo page;
  page.index = index;
  page.url = view.url(index).value_or(std::string());
  return page;
}

/// The same: the fields that can be read all the same.
std::vector<Field> readable_fields(const PageView& view, std::uint64_t index,
                                   const PageDetail& detail) {
  std::vector<Field> fields{{"index", Unit::kId, index}};
  if (const auto url = view.url(index)) {
    fields.push_back({"url", Unit::kText, *url});
    fields.push_back({"host", Unit::kText, url_host(*url)});
  }
  if (const auto state = view.state(index)) {
    fields.push_back({"state", Unit::kText, std::string(name_of(*state))});
  }
  if (const auto score = view.score(index)) {
    fields.push_back({"score", Unit::kScore, score_value(*score)});
  }
  fields.push_back({"out_link_count", Unit::kCount, count_of(detail.out_links)});
  fields.push_back({"in_link_count", Unit::kCount, count_of(detail.in_links)});
  return fields;
}

/// Adds the scores of a page; for those that cannot be read, the reason.
void add_scores(const PageView& view, std::uint64_t index, std::vector<Field>& fields) {
  auto scores = score_fields(view, index);
  for (Field& field : scores.fields) {
    const auto problem = scores.problems.find(field.name);
    if (problem != scores.problems.end()) {
      field = {problem->first, Unit::kText, describe(problem->second)};
    }
    fields.push_back(std::move(field));
  }
}

/// The other pages that have its content.
Result<std::vector<std::uint64_t>> copies_of(const PageView& view, const PageInfo& page) {
  std::vector<std::uint64_t> copies;
  const auto note = [&](std::uint64_t index) {
    if (index != page.index) copies.push_back(index);
    return true;
  };
  CRAWLSTORE_TRY(for_each_page_of_content(view, page.content_hash, note));
  return copies;
}

PageList shared_list(std::vector<std::uint64_t> pages) {
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
  PageDetail detail;
  const auto note = [&detail](const Error& problem) {
    if (std::ranges::find(detail.problems, problem) == detail.problems.end()) {
      detail.problems.push_back(problem);
    }
  };
  const auto list_of = [&note](const Result<std::vector<std::uint64_t>>& read) {
    if (read) return shared_list(*read);
    note(read.error());
    return PageList();
  };
  auto page = view.page(index);
  if (!page && page.error().code == Errc::kInvalidArgument) {
    return tl::unexpected<Error>(page.error());
  }
  if (!page) note(page.error());
  detail.path = list_of(path_from_seed(view, index));
  detail.out_links = list_of(view.out_links(index));
  detail.in_links = list_of(view.in_links(index));
  if (page && view.info().has_content_index) detail.copies = list_of(copies_of(view, *page));
  detail.fields = page ? fields_of(*page, detail) : readable_fields(view, index, detail);
  add_scores(view, index, detail.fields);
  detail.page = page ? std::move(*page) : readable_page(view, index);
  return detail;
}

}  // namespace crawlstore::model
