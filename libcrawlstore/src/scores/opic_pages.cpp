// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - The three arrays are of one generation, and so are the counts of crawls that they are compared
//   with: a crawl is told from those that OPIC knows, and each makes its page give once.
// - They replace those that they were computed from, or nothing: no update is lost.
// - Over shards, all arrays before are of one update, or none of them counts: a shard whose arrays
//   are of another one has got cash twice, or never.
// - Pages elsewhere have no cash when an update has ended, and never any history and crawls.
// - What joins a superstep is computed from its pages before they are published, with the turn, so
//   that nothing comes in between.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>
#include <crawlstore/shard_scores.h>

#include "base/inside.h"
#include "container/reader.h"
#include "container/store_call.h"
#include "container/work_steps.h"
#include "format/score_array.h"
#include "pages/page_db_impl.h"
#include "pages/page_view_impl.h"
#include "scores/opic.h"
#include "scores/pending_arrays.h"
#include "scores/rank_input.h"
#include "scores/ranked_pages.h"
#include "scores/shard_sums.h"

namespace crawlstore {
namespace {

constexpr std::array kScorers{Scorer::kOpicCash, Scorer::kOpicHistory, Scorer::kOpicCrawls};
constexpr std::size_t kCash = 0;
constexpr std::size_t kHistory = 1;
constexpr std::size_t kCrawls = 2;

/// If fewer than one page in so many gives, its links are looked up, and not all links read.
constexpr std::uint64_t kLookUpFactor = 16;

using Numbers = io::AnonymousArray<double>;
using Arrays = std::array<Numbers, kScorers.size()>;

/// One update. Ownership: refers to its caller's.
struct OpicTask {
  const PageView& pages;
  scores::ShardSums* shards;  // nullptr if the file is alone
  container::WorkSteps& steps;
};

/// Marks by page, and counts of them.
struct Marks {
  std::vector<bool> is_home;
  std::vector<bool> gives;
  std::uint64_t home_count = 0;
  std::uint64_t giver_count = 0;
  std::uint64_t all_home_count = 0;  // of all shards
  std::vector<float> linkers{};      // over shards: those that have a first linker of the page
  bool are_linked_to = false;        // homes have a first linker in another shard, as all pages do
};

/// The arrays of these names that there are, whatever they hold; 0: none.
std::array<SegmentId, kScorers.size()> ids_before(const PageView& pages) {
  std::array<SegmentId, kScorers.size()> ids{};
  const auto& directory = Inside::of(Inside::of(pages).snapshot).directory();
  for (const auto& entry : scores::find_arrays(directory, pages.info().id)) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (entry.name == name_of(kScorers[i])) ids[i] = entry.id;
    }
  }
  return ids;
}

/// Returns all that OPIC knows so far; empty if one of the arrays is missing, or they are not of
/// one update.
Result<std::vector<ScoreView>> own_views_before(const PageView& pages) {
  std::vector<ScoreView> views;
  for (const Scorer scorer : kScorers) {
    auto view = ScoreView::open(pages, name_of(scorer));
    if (!view && view.error().code == Errc::kUnknownName) return std::vector<ScoreView>{};
    if (!view) return tl::unexpected<Error>(view.error());
    const ScoresInfo& info = view->info();
    const ScoresInfo& first = views.empty() ? info : views.front().info();
    const bool is_one_of_them = info.scorer == scorer && info.subject == ScoreSubject::kPage &&
                                info.has_doubles && info.generation == first.generation &&
                                info.page_count == first.page_count;
    if (!is_one_of_them) return std::vector<ScoreView>{};
    views.push_back(std::move(*view));
  }
  return views;
}

/// The same of a file whose shards all have them, of one update.
Result<std::vector<ScoreView>> views_before(const PageView& pages, scores::ShardSums* shards) {
  CRAWLSTORE_TRY(auto views, own_views_before(pages));
  if (shards == nullptr) return views;
  const double computation = views.empty() ? -1 : views[kCash].info().residual;
  CRAWLSTORE_TRY(const bool is_of_all, shards->is_same(computation));
  if (!is_of_all) views.clear();
  return views;
}

/// Begins the arrays with what they were. Returns how many pages they are of; nothing: they begin
/// anew.
Result<std::optional<std::uint64_t>> fill_in(const std::vector<ScoreView>& views, Arrays& arrays) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    CRAWLSTORE_TRY(const auto values, views[i].doubles());
    if (!format::add_scores(0, format::ScoreCodec::kFloat64, std::as_bytes(values))) {
      return fail(Errc::kSegmentInvalid, "a score is not a finite number from 0 on",
                  Error::kNoOffset, views[i].info().id);
    }
    std::ranges::copy(values, arrays[i].span().begin());
  }
  if (views.empty()) return std::nullopt;
  return views.front().info().page_count;
}

/// Homes as this file alone has them, and the pages that were crawled since, of which `crawls` then
/// knows.
Result<Marks> mark_pages(const OpicTask& task, std::span<double> crawls) {
  PageView::Impl& inside = Inside::of(task.pages);
  Marks marks{std::vector<bool>(crawls.size()), std::vector<bool>(crawls.size())};
  if (task.shards != nullptr) marks.linkers.resize(crawls.size());
  for (std::uint64_t page = 0; page < crawls.size(); ++page) {
    CRAWLSTORE_TRY(task.steps.add(1));
    CRAWLSTORE_TRY(const auto record, inside.record(page));
    const bool is_elsewhere = record.state == PageState::kElsewhere;
    marks.is_home[page] = !is_elsewhere;
    if (inside.origins) {
      const std::lock_guard lock(inside.mutex);
      CRAWLSTORE_TRY(const auto origin, inside.origins->find(page));
      marks.is_home[page] = !is_elsewhere && !origin.url.empty() && !origin.linked_from;
      if (is_elsewhere && origin.linked_from && task.shards != nullptr) marks.linkers[page] = 1;
    }
    if (marks.is_home[page]) ++marks.home_count;
    marks.gives[page] = record.crawl_count > crawls[page];
    if (!marks.gives[page]) continue;
    crawls[page] = record.crawl_count;
    ++marks.giver_count;
  }
  marks.all_home_count = marks.home_count;
  return marks;
}

/// Counts the homes of all shards. A page that has a first linker in another shard is none, unless
/// no page is without one.
Result<void> agree_on_homes(scores::ShardSums& shards, Marks& marks) {
  CRAWLSTORE_TRY(shards.bring(std::span(marks.linkers), 0));
  std::uint64_t count = 0;
  for (std::uint64_t page = 0; page < marks.is_home.size(); ++page) {
    if (marks.is_home[page] && marks.linkers[page] == 0) ++count;
  }
  std::array counts{static_cast<double>(count), static_cast<double>(marks.home_count)};
  CRAWLSTORE_TRY(shards.add_up(counts));
  marks.are_linked_to = counts[0] == 0;
  marks.all_home_count = static_cast<std::uint64_t>(marks.are_linked_to ? counts[1] : counts[0]);
  if (marks.are_linked_to) return {};
  marks.home_count = count;
  for (std::uint64_t page = 0; page < marks.is_home.size(); ++page) {
    if (marks.linkers[page] != 0) marks.is_home[page] = false;
  }
  return {};
}

/// The links of pages, which are asked for ascending.
class LinksByPage {
 public:
  static Result<LinksByPage> open(const PageView& pages, bool looks_up) {
    LinksByPage rows;
    const auto& links = Inside::of(pages).links;
    if (!links) return rows;
    if (looks_up) {
      rows.view_ = *links;
    } else {
      CRAWLSTORE_TRY(auto stream, links->out_rows());
      rows.stream_.emplace(std::move(stream));
      CRAWLSTORE_TRY(rows.has_row_, rows.stream_->next());
    }
    return rows;
  }

  /// Valid until the next call.
  Result<std::span<const std::uint64_t>> of(std::uint64_t page) {
    if (view_) {
      CRAWLSTORE_TRY(view_->out(page, found_));
      return found_;
    }
    while (has_row_ && stream_->page() < page) {
      CRAWLSTORE_TRY(has_row_, stream_->next());
    }
    if (!has_row_ || stream_->page() != page) return std::span<const std::uint64_t>{};
    return stream_->links();
  }

 private:
  std::optional<links::LinkView> view_;  // one of the two, or none where there are no links
  std::optional<links::CombinedRows> stream_;
  bool has_row_ = false;
  std::vector<std::uint64_t> found_;
};

Result<void> give(const OpicTask& task, const Marks& marks, Arrays& arrays) {
  const bool looks_up = marks.giver_count < marks.gives.size() / kLookUpFactor;
  CRAWLSTORE_TRY(auto rows, LinksByPage::open(task.pages, looks_up));
  scores::OpicUpdate update(arrays[kCash].span(), arrays[kHistory].span(), marks.is_home);
  for (std::uint64_t page = 0; page < marks.gives.size(); ++page) {
    if (!marks.gives[page]) continue;
    CRAWLSTORE_TRY(const auto links, rows.of(page));
    CRAWLSTORE_TRY(update.give(page, links));
    CRAWLSTORE_TRY(task.steps.add(1 + links.size()));
  }
  return update.finish(task.shards, marks.all_home_count);
}

/// Brings the arrays up to date, which know of so many pages; nothing: they begin anew.
Result<void> bring_up(const OpicTask& task, std::optional<std::uint64_t> known_count,
                      Arrays& arrays, RankReport& report) {
  const scores::Stopwatch reading;
  CRAWLSTORE_TRY(Marks marks, mark_pages(task, arrays[kCrawls].span()));
  if (task.shards != nullptr) {
    CRAWLSTORE_TRY(agree_on_homes(*task.shards, marks));
  }
  report.home_count = marks.home_count;
  report.giver_count = marks.giver_count;
  if (marks.all_home_count == 0 && !marks.is_home.empty()) {
    return fail(Errc::kInvalidArgument, "all pages were forgotten");
  }
  const auto cash = arrays[kCash].span();
  const bool may_begin = !known_count || !marks.are_linked_to;
  for (std::uint64_t page = known_count.value_or(0); page < cash.size(); ++page) {
    cash[page] = may_begin && marks.is_home[page] ? 1 : 0;
  }
  report.build_seconds = reading.seconds();
  const scores::Stopwatch giving;
  CRAWLSTORE_TRY(give(task, marks, arrays));
  report.solve_seconds = giving.seconds();
  return {};
}

/// compute_opic() in steps that may be part of longer work.
Result<RankedPages> compute_in_steps(const OpicTask& task, bool is_warm) {
  const auto& [pages, shards, steps] = task;
  if (shards == nullptr) {
    CRAWLSTORE_TRY(scores::check_alone(pages));
  }
  std::vector<ScoreView> before;
  if (is_warm) {
    CRAWLSTORE_TRY(before, views_before(pages, shards));
  }
  const std::uint64_t page_count = pages.info().page_count;
  Arrays arrays;
  for (Numbers& numbers : arrays) {
    CRAWLSTORE_TRY(numbers, Numbers::map(page_count));
  }
  CRAWLSTORE_TRY(const auto known_count, fill_in(before, arrays));
  const auto ranked = std::make_shared<RankedPages::Impl>();
  RankReport& report = ranked->report;
  steps.expect(page_count + pages.info().link_count);
  CRAWLSTORE_TRY(steps.look());
  CRAWLSTORE_TRY(bring_up(task, known_count, arrays, report));
  if (shards != nullptr) report.residuals = {shards->computation()};
  report.converged = true;
  report.waiting_count = pages.info().event_count;
  report.memory_bytes = page_count * kScorers.size() * sizeof(double);

  const auto ids = ids_before(pages);
  scores::NewArray array = scores::array_of(pages);
  array.array.damping = 1;
  for (std::size_t i = 0; i < kScorers.size(); ++i) {
    array.replaced = ids[i];
    ranked->add(array, kScorers[i], std::string(name_of(kScorers[i])), std::move(arrays[i]));
  }
  return RankedPages(ranked);
}

/// Whether the three arrays are there, and pages or links have come since.
Result<bool> is_behind(const PageView& pages) {
  for (const Scorer scorer : kScorers) {
    const auto scores = ScoreView::open(pages, name_of(scorer));
    if (!scores && scores.error().code == Errc::kUnknownName) return false;
    if (!scores) return tl::unexpected<Error>(scores.error());
    if (scores->info().scorer != scorer || !scores->info().is_stale) return false;
  }
  return true;
}

/// Brings OPIC up to date with what the writer is about to publish, where it is in use, as part of
/// that. Requires the turn.
Result<std::optional<RankReport>> join_opic(StoreImpl& store, std::string_view database,
                                            container::WorkSteps& steps,
                                            std::vector<container::RunPtr>& made) {
  container::Writer& writer = *store.writer;
  const auto* const entry = writer.directory()->find_named(SegmentKind::kPages, database);
  if (entry == nullptr || scores::find_arrays(*writer.directory(), entry->id).empty()) {
    return std::nullopt;
  }
  CRAWLSTORE_TRY(auto storage, store.open_for_reading());
  const auto snapshot = Inside::make<Snapshot>(container::Reader::open_unpublished(
      std::move(storage), writer.identity(), writer.next_directory()));
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, database));
  if (!pages.info().shard.is_alone()) return std::nullopt;  // all shards are brought up together
  CRAWLSTORE_TRY(const bool is_to_do, is_behind(pages));
  if (!is_to_do) return std::nullopt;
  CRAWLSTORE_TRY(const auto ranked, compute_in_steps({pages, nullptr, steps}, true));
  std::vector<scores::NewArray> arrays = Inside::of(ranked).arrays;
  CRAWLSTORE_TRY(const auto stored, scores::put_arrays(writer, pages.info().id, arrays, made));
  RankReport report = ranked.report();
  report.scores = stored.front();
  return report;
}

}  // namespace

Result<RankedPages> compute_opic(const PageView& pages, const OpicOptions& options) {
  return container::in_steps(nullptr, scores::as_progress(options.progress),
                             [&](container::WorkSteps& steps) {
                               return compute_in_steps({pages, nullptr, steps}, options.is_warm);
                             });
}

Result<ShardRanks> compute_opic(const PageView& pages, ShardPeers& peers,
                                const OpicOptions& options) {
  const std::array asked{options.is_warm ? 1.0 : 0.0};
  CRAWLSTORE_TRY(auto shards, scores::ShardSums::agree(pages, peers, "opic", asked));
  CRAWLSTORE_TRY(
      auto ranked,
      container::in_steps(nullptr, scores::as_progress(options.progress),
                          [&](container::WorkSteps& steps) {
                            return compute_in_steps({pages, &shards, steps}, options.is_warm);
                          }));
  return shards.with(std::move(ranked));
}

Result<OpicMergeReport> merge_with_opic(PageDb& pages, const Progress& progress) {
  const auto inside = std::static_pointer_cast<PageDb::Impl>(Inside::of(pages).shared_from_this());
  const StoreCall call(inside);
  OpicMergeReport report;
  const PageDb::Impl::Companion companion = [&](container::WorkSteps& steps, auto& made) {
    return join_opic(*inside->store, inside->name(), steps, made)
        .map([&](const std::optional<RankReport>& joined) { report.opic = joined; });
  };
  CRAWLSTORE_TRY(report.merged,
                 container::in_steps(inside->store.get(), progress,
                                     [&](auto& steps) { return inside->merge(steps, companion); }));
  return report;
}

Result<RankReport> opic(Store& store, const OpicOptions& options) {
  const auto inside = Inside::of(store).shared_from_this();
  const StoreCall call(inside);
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, options.database));
  OpicOptions asked = options;
  asked.progress = called_by(*inside, options.progress);
  CRAWLSTORE_TRY(const auto ranked, compute_opic(pages, asked));
  return store_ranked(store, ranked);
}

}  // namespace crawlstore
