// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include <crawlstore/scores.h>

#include "base/inside.h"
#include "container/reader.h"
#include "format/score_array.h"
#include "pages/page_view_impl.h"
#include "scores/pending_arrays.h"
#include "scores/stored_array.h"

namespace crawlstore {
namespace {

/// Reads the footer of an array of the database.
Result<ScoresInfo> read_info(const Snapshot& snapshot, const PagesInfo& database,
                             const format::SegmentEntry& entry) {
  const auto run = Inside::of(snapshot).run_reader(entry.id, entry.runs.front());
  CRAWLSTORE_TRY(const auto array, scores::read_footer(*run, entry.id));
  if (array.page_count > database.page_count) {
    return fail(Errc::kSegmentInvalid, "a score array is of more pages than there are",
                entry.runs.front().offset_bytes, entry.id);
  }
  ScoresInfo info = scores::info_of(entry, array);
  info.is_stale =
      array.page_count != database.page_count || array.superstep_count != database.superstep_count;
  return info;
}

}  // namespace

struct ScoreView::Impl {
  Snapshot snapshot;
  ScoresInfo info;
  format::ScoreArray array;
  std::shared_ptr<const container::RunReader> run;

  [[nodiscard]] tl::unexpected<Error> no_score(std::uint64_t offset) const {
    return fail(Errc::kSegmentInvalid, "a score is not a finite number from 0 on",
                run->run().offset_bytes + offset, info.id);
  }
};

Result<std::vector<ScoresInfo>> ScoreView::list(const PageView& pages) {
  const Snapshot& snapshot = Inside::of(pages).snapshot;
  std::vector<ScoresInfo> arrays;
  for (const auto& entry : scores::find_arrays(Inside::of(snapshot).directory(), pages.info().id)) {
    CRAWLSTORE_TRY(auto info, read_info(snapshot, pages.info(), entry));
    arrays.push_back(std::move(info));
  }
  return arrays;
}

std::vector<std::string> ScoreView::names(const PageView& pages) {
  const Snapshot& snapshot = Inside::of(pages).snapshot;
  auto arrays = scores::find_arrays(Inside::of(snapshot).directory(), pages.info().id);
  std::vector<std::string> names;
  names.reserve(arrays.size());
  for (auto& entry : arrays) names.push_back(std::move(entry.name));
  return names;
}

Result<ScoreView> ScoreView::open(const PageView& pages, std::string_view name) {
  const Snapshot& snapshot = Inside::of(pages).snapshot;
  const auto arrays = scores::find_arrays(Inside::of(snapshot).directory(), pages.info().id);
  const auto entry = std::ranges::find(arrays, name, &format::SegmentEntry::name);
  if (entry == arrays.end()) {
    return fail(Errc::kUnknownName, "the page database has no scores of this name");
  }
  auto impl = std::make_shared<Impl>(Impl{snapshot, {}, {}, nullptr});
  CRAWLSTORE_TRY(impl->info, read_info(snapshot, pages.info(), *entry));
  impl->run = Inside::of(snapshot).run_reader(entry->id, entry->runs.front());
  CRAWLSTORE_TRY(impl->array, scores::read_footer(*impl->run, entry->id));
  return ScoreView(std::move(impl));
}

ScoreView::ScoreView(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

const ScoresInfo& ScoreView::info() const {
  return impl_->info;
}

Result<std::span<const std::uint64_t>> ScoreView::first_pages() const {
  const Extent place = format::score_places(impl_->array).first_pages;
  CRAWLSTORE_TRY(const auto bytes, impl_->run->bytes(place.offset_bytes, place.length_bytes));
  // tidy: raw bytes, which begin at a multiple of 8 behind a unit of the file
  return std::span(reinterpret_cast<const std::uint64_t*>(bytes.data()),
                   bytes.size() / sizeof(std::uint64_t));
}

Result<std::optional<double>> ScoreView::score(std::uint64_t index) const {
  if (impl_->info.subject != ScoreSubject::kPage) {
    return fail(Errc::kTypeMismatch, "these scores are of hosts or domains, not of pages",
                Error::kNoOffset, impl_->info.id);
  }
  if (index >= impl_->array.entry_count) return std::nullopt;
  const std::uint64_t width = format::score_bytes(impl_->array.codec);
  CRAWLSTORE_TRY(const auto bytes, impl_->run->bytes(index * width, width));
  const auto score = format::add_scores(0, impl_->array.codec, bytes);
  if (!score) return impl_->no_score(index * width);
  return score;
}

Result<std::span<const float>> ScoreView::floats() const {
  if (impl_->info.has_doubles) return fail(Errc::kTypeMismatch, "the scores are doubles");
  const std::uint64_t count = impl_->array.entry_count;
  CRAWLSTORE_TRY(const auto bytes, impl_->run->bytes(0, count * sizeof(float)));
  // tidy: raw bytes, an array that begins at a unit of the file
  return std::span(reinterpret_cast<const float*>(bytes.data()), count);
}

Result<std::span<const double>> ScoreView::doubles() const {
  if (!impl_->info.has_doubles) return fail(Errc::kTypeMismatch, "the scores are floats");
  const std::uint64_t count = impl_->array.entry_count;
  CRAWLSTORE_TRY(const auto bytes, impl_->run->bytes(0, count * sizeof(double)));
  // tidy: raw bytes, an array that begins at a unit of the file
  return std::span(reinterpret_cast<const double*>(bytes.data()), count);
}

Result<std::vector<ScoredPage>> ScoreView::top(std::size_t count) const {
  const auto is_better = [](const ScoredPage& a, const ScoredPage& b) {
    return a.score != b.score ? a.score > b.score : a.index < b.index;
  };
  // The worst of the best on top.
  std::priority_queue<ScoredPage, std::vector<ScoredPage>, decltype(is_better)> best(is_better);
  const auto look = [&](const auto& values) -> Result<void> {
    for (std::uint64_t index = 0; index < values.size(); ++index) {
      const ScoredPage page{index, static_cast<double>(values[index])};
      if (!std::isfinite(page.score) || std::signbit(page.score)) {
        return impl_->no_score(index * sizeof(values[0]));
      }
      if (page.score == 0) continue;
      if (best.size() == count && !is_better(page, best.top())) continue;
      best.push(page);
      if (best.size() > count) best.pop();
    }
    return {};
  };
  if (count == 0) return std::vector<ScoredPage>{};
  if (impl_->info.has_doubles) {
    CRAWLSTORE_TRY(const auto values, doubles());
    CRAWLSTORE_TRY(look(values));
  } else {
    CRAWLSTORE_TRY(const auto values, floats());
    CRAWLSTORE_TRY(look(values));
  }
  std::vector<ScoredPage> pages(best.size());
  for (auto page = pages.rbegin(); page != pages.rend(); ++page) {
    *page = best.top();
    best.pop();
  }
  if (impl_->info.subject == ScoreSubject::kPage) return pages;
  CRAWLSTORE_TRY(const auto first, first_pages());
  for (ScoredPage& page : pages) page.index = first[page.index];
  return pages;
}

Result<std::vector<double>> ScoreView::residuals() const {
  const Extent place = format::score_places(impl_->array).residuals;
  CRAWLSTORE_TRY(const auto bytes, impl_->run->bytes(place.offset_bytes, place.length_bytes));
  std::vector<double> residuals(place.length_bytes / sizeof(double));
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const auto score = format::add_scores(0, format::ScoreCodec::kFloat64,
                                          bytes.subspan(i * sizeof(double), sizeof(double)));
    if (!score) return impl_->no_score(place.offset_bytes + i * sizeof(double));
    residuals[i] = *score;
  }
  return residuals;
}

}  // namespace crawlstore
