// SPDX-License-Identifier: Apache-2.0
#include "model/page_source.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/page_fields.h"

namespace crawlstore::model {
namespace {

constexpr std::size_t kOwnColumns = 12;
constexpr std::size_t kUrlColumn = 1;
constexpr std::size_t kState = 2;
constexpr std::size_t kScore = 3;
// From the end, which a column of scores in the middle does not move.
constexpr std::size_t kInLinksFromEnd = 9;
constexpr std::size_t kOutLinksFromEnd = 8;

Cell time_cell(std::int64_t time_us) {
  return time_us == 0 ? Cell() : Cell(time_us);
}

Row row_of(const PageInfo& page) {
  return {page.index,
          row_url(page.url),
          std::string(name_of(page.state)),
          score_value(page.score),
          std::uint64_t{page.depth},
          Cell(),
          Cell(),
          page.linked_from ? Cell(*page.linked_from) : Cell(),
          std::uint64_t{page.crawl_count},
          std::uint64_t{page.change_count},
          http_status_cell(page),
          std::uint64_t{page.failure_count},
          time_cell(page.first_crawl_us),
          time_cell(page.last_crawl_us)};
}

class PageRows final : public TableSource {
 public:
  PageRows(PageView view, PageList pages, std::string name, std::optional<ScoreView> scores)
      : view_(std::move(view)),
        pages_(std::move(pages)),
        name_(std::move(name)),
        scores_(std::move(scores)) {
    if (!scores_) return;
    columns_.insert(columns_.begin() + kScore, {"score:" + scores_->info().name, Unit::kScore});
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override {
    return pages_ ? pages_->size() : view_.info().page_count;
  }
  [[nodiscard]] Result<std::vector<Row>> rows(std::uint64_t first,
                                              std::size_t count_max) const override {
    const std::uint64_t begin = std::min(first, row_count());
    const std::uint64_t end = begin + std::min<std::uint64_t>(count_max, row_count() - begin);
    std::vector<Row> rows;
    for (std::uint64_t number = begin; number < end; ++number) {
      CRAWLSTORE_TRY(const auto page, view_.page(pages_ ? (*pages_)[number] : number));
      Row& row = rows.emplace_back(row_of(page));
      CRAWLSTORE_TRY(add_score(page.index, row));
    }
    return rows;
  }
  [[nodiscard]] bool is_costly(std::size_t column) const override {
    return column == out_links_column() || column == in_links_column();
  }
  [[nodiscard]] Result<std::vector<Row>> full_rows(std::uint64_t first,
                                                   std::size_t count_max) const override {
    auto found = rows(first, count_max);
    if (!found) return found;
    for (Row& row : *found) {
      const auto index = std::get<std::uint64_t>(row.front());
      CRAWLSTORE_TRY(const auto counts, link_counts(index));
      row[out_links_column()] = counts.out;
      row[in_links_column()] = counts.in;
    }
    return found;
  }
  [[nodiscard]] ReadableRows readable_rows(std::uint64_t first,
                                           std::size_t count_max) const override {
    ReadableRows found;
    const std::uint64_t begin = std::min(first, row_count());
    const std::uint64_t end = begin + std::min<std::uint64_t>(count_max, row_count() - begin);
    for (std::uint64_t number = begin; number < end; ++number) {
      found.rows.push_back(readable_row(pages_ ? (*pages_)[number] : number, found));
    }
    return found;
  }
  [[nodiscard]] Result<Row> whole_row(std::uint64_t number, Row row) const override {
    if (row.size() != columns_.size() || number >= row_count()) return row;
    const auto* url = std::get_if<std::string>(&row[kUrlColumn]);
    if (url == nullptr || url->size() <= kRowUrlBytesMax) return row;
    CRAWLSTORE_TRY(auto whole, view_.url(pages_ ? (*pages_)[number] : number));
    row[kUrlColumn] = std::move(whole);
    return row;
  }

 private:
  struct LinkCounts {
    std::uint64_t out = 0;
    std::uint64_t in = 0;
  };
  [[nodiscard]] std::size_t in_links_column() const { return columns_.size() - kInLinksFromEnd; }
  [[nodiscard]] std::size_t out_links_column() const { return columns_.size() - kOutLinksFromEnd; }
  /// The cell of the array, if there is one; it stays empty where the score cannot be read.
  Result<void> add_score(std::uint64_t index, Row& row) const {
    if (!scores_) return {};
    row.emplace_back();
    std::rotate(row.begin() + kScore, row.end() - 1, row.end());
    CRAWLSTORE_TRY(const auto score, scores_->score(index));
    if (!score) return {};
    const bool is_double = scores_->info().has_doubles;
    row[kScore] = is_double ? *score : score_value(static_cast<float>(*score));
    return {};
  }
  /// The URL, the record, the links and the score of a page lie in different places.
  Row readable_row(std::uint64_t index, ReadableRows& found) const {
    Row row(kOwnColumns);
    if (const auto page = view_.page(index)) {
      row = row_of(*page);
    } else {
      found.note(page.error());
      row.front() = index;
      if (const auto url = view_.url(index)) row[kUrlColumn] = row_url(*url);
      if (const auto state = view_.state(index)) row[kState] = std::string(name_of(*state));
      if (const auto score = view_.score(index)) row[kScore] = score_value(*score);
    }
    if (const auto scored = add_score(index, row); !scored) found.note(scored.error());
    if (const auto counts = link_counts(index)) {
      row[out_links_column()] = counts->out;
      row[in_links_column()] = counts->in;
    } else {
      found.note(counts.error());
    }
    return row;
  }
  /// Remembered: a million links of a hub are not read again for each row that is scrolled by.
  Result<LinkCounts> link_counts(std::uint64_t index) const {
    {
      const std::lock_guard lock(mutex_);
      const auto known = counts_.find(index);
      if (known != counts_.end()) return known->second;
    }
    CRAWLSTORE_TRY(const auto out, view_.out_links(index));
    CRAWLSTORE_TRY(const auto in, view_.in_links(index));
    const std::lock_guard lock(mutex_);
    if (counts_.size() >= kCountsMax) counts_.clear();
    return counts_[index] = LinkCounts{out.size(), in.size()};
  }

  static constexpr std::size_t kCountsMax = 10'000;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, LinkCounts> counts_;  // guarded by mutex_
  PageView view_;
  PageList pages_;
  std::string name_;
  std::optional<ScoreView> scores_;
  std::vector<Column> columns_{{"index", Unit::kId},
                               {"url", Unit::kText},
                               {"state", Unit::kText},
                               {"score", Unit::kScore},
                               {"depth", Unit::kCount},
                               {"in_link_count", Unit::kCount},
                               {"out_link_count", Unit::kCount},
                               {"linked_from", Unit::kId},
                               {"crawl_count", Unit::kCount},
                               {"change_count", Unit::kCount},
                               {"http_status", Unit::kId},
                               {"failure_count", Unit::kCount},
                               {"first_crawl_us", Unit::kTimeUs},
                               {"last_crawl_us", Unit::kTimeUs}};
};

}  // namespace

Result<PageList> top_pages(const PageView& view, std::size_t count_max) {
  CRAWLSTORE_TRY(const auto scores, view.scores());
  using Ranked = std::pair<float, std::uint64_t>;
  const auto is_better = [](const Ranked& a, const Ranked& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::vector<Ranked> best;  // a heap, the worst of them in front
  for (std::uint64_t index = 0; index < scores.size(); ++index) {
    const Ranked page{scores[index], index};
    if (std::isnan(page.first)) continue;  // only of a damaged file
    if (best.size() == count_max) {
      if (count_max == 0 || !is_better(page, best.front())) continue;
      std::ranges::pop_heap(best, is_better);
      best.pop_back();
    }
    best.push_back(page);
    std::ranges::push_heap(best, is_better);
  }
  std::ranges::sort_heap(best, is_better);
  auto pages = std::make_shared<std::vector<std::uint64_t>>();
  for (const Ranked& page : best) pages->push_back(page.second);
  return PageList(std::move(pages));
}

Result<PageList> top_pages(const ScoreView& scores, std::size_t count_max) {
  CRAWLSTORE_TRY(const auto best, scores.top(count_max));
  auto pages = std::make_shared<std::vector<std::uint64_t>>(best.size());
  std::ranges::transform(best, pages->begin(), &ScoredPage::index);
  return PageList(std::move(pages));
}

std::string row_url(std::string_view url) {
  if (url.size() <= kRowUrlBytesMax) return std::string(url);
  return std::string(url.substr(0, kRowUrlBytesMax)) + fmt::format(" ... {} bytes", url.size());
}

std::shared_ptr<const TableSource> page_table(const PageView& view, PageList pages,
                                              std::string name, std::optional<ScoreView> scores) {
  return std::make_shared<PageRows>(view, std::move(pages), std::move(name), std::move(scores));
}

}  // namespace crawlstore::model
