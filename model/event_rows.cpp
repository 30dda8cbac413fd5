// SPDX-License-Identifier: Apache-2.0
#include "model/event_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/page_fields.h"

namespace crawlstore::model {
namespace {

constexpr std::size_t kUrl = 2;
constexpr std::size_t kFirstLink = 6;
constexpr std::uint64_t kProgressEvery = 1024;

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The name of a page or a link: its URL, or its index if there are no URLs.
Cell name_cell(bool has_urls, std::string_view url, std::uint64_t index, bool is_whole) {
  if (!has_urls) return index;
  return is_whole ? std::string(url) : row_url(url);
}

Row row_of(const CrawlEvent& event, std::uint64_t sequence, bool has_urls, bool is_whole) {
  Cell first_link;
  if (!event.links.empty()) {
    const EventLink& link = event.links.front();
    first_link = name_cell(has_urls, link.url, link.index, is_whole);
  }
  return {sequence,
          std::string(name_of(event.kind)),
          name_cell(has_urls, event.url, event.index, is_whole),
          event.time_us == 0 ? Cell() : Cell(event.time_us),
          score_value(event.score),
          std::uint64_t{event.links.size()},
          std::move(first_link),
          event.content_hash.empty() ? Cell() : Cell(hex(event.content_hash))};
}

class EventRows final : public TableSource {
 public:
  EventRows(PageView view, std::uint64_t first, std::vector<Row> rows)
      : view_(std::move(view)), first_(first), rows_(std::move(rows)) {
    const bool has_urls = view_.info().has_urls;
    columns_ = {{"sequence", Unit::kCount},
                {"kind", Unit::kText},
                {has_urls ? "url" : "index", has_urls ? Unit::kText : Unit::kId},
                {"time_us", Unit::kTimeUs},
                {"score", Unit::kScore},
                {"link_count", Unit::kCount},
                {"first_link", has_urls ? Unit::kText : Unit::kId},
                {"content_hash", Unit::kText}};
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override { return rows_.size(); }
  [[nodiscard]] Result<std::vector<Row>> rows(std::uint64_t first,
                                              std::size_t count_max) const override {
    const std::uint64_t begin = std::min<std::uint64_t>(first, rows_.size());
    const std::uint64_t count = std::min<std::uint64_t>(count_max, rows_.size() - begin);
    const auto at = rows_.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<Row>(at, at + static_cast<std::ptrdiff_t>(count));
  }
  [[nodiscard]] bool is_in_memory() const override { return true; }
  [[nodiscard]] Result<Row> whole_row(std::uint64_t number, Row row) const override {
    if (row.size() != columns_.size() || (!is_cut(row[kUrl]) && !is_cut(row[kFirstLink]))) {
      return row;
    }
    std::uint64_t sequence = 0;
    const auto read = view_.for_each_event([&](const CrawlEvent& event) {
      if (sequence == first_ + number) row = row_of(event, sequence, view_.info().has_urls, true);
      return sequence++ != first_ + number;
    });
    if (!read) return tl::unexpected<Error>(read.error());
    return row;
  }

 private:
  static bool is_cut(const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return text != nullptr && text->size() > kRowUrlBytesMax;
  }

  PageView view_;
  std::uint64_t first_;  // sequence of the first row
  std::vector<Row> rows_;
  std::string name_ = "events";
  std::vector<Column> columns_;
};

}  // namespace

Result<std::shared_ptr<const TableSource>> event_rows(const PageView& view, std::uint64_t first,
                                                      std::uint64_t rows_max,
                                                      const PagesProgress& progress) {
  std::vector<Row> rows;
  bool is_cancelled = false;
  std::uint64_t sequence = 0;
  const std::uint64_t count = view.info().event_count;
  const std::uint64_t end = first + std::min(rows_max, count - std::min(first, count));
  const auto read = view.for_each_event([&](const CrawlEvent& event) {
    if (sequence >= end) return false;
    if (sequence >= first) rows.push_back(row_of(event, sequence, view.info().has_urls, false));
    is_cancelled = ++sequence % kProgressEvery == 0 && !progress(sequence, end);
    return !is_cancelled;
  });
  if (!read) return tl::unexpected<Error>(read.error());
  if (is_cancelled) return fail(Errc::kCancelled, "it was cancelled");
  return std::shared_ptr<const TableSource>(
      std::make_shared<EventRows>(view, first, std::move(rows)));
}

}  // namespace crawlstore::model
