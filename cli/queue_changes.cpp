// SPDX-License-Identifier: Apache-2.0
#include "cli/queue_changes.h"

#include <charconv>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include <crawlstore/transaction.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_list.h"
#include "cli/progress.h"
#include "cli/score_source.h"
#include "cli/stop_signals.h"
#include "model/best_pages.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::size_t kPagesAtOnce = 1 << 16;

struct Counts {
  std::uint64_t inserted = 0;
  std::uint64_t unscored = 0;  ///< came since the scores were computed
  std::uint64_t waiting = 0;   ///< in the queue then
  bool was_refused = false;    ///< pages waited already
};

/// All that `insert` does to the queue is committed, or nothing of it.
Result<Counts> change_queue(Store& store, const std::string& name, bool adds,
                            const std::function<Result<void>(Queue&, Counts&)>& insert) {
  Counts counts;
  CRAWLSTORE_TRY(auto queue, Queue::open(store, name));
  if (!adds && queue.count() != 0) {
    return Counts{.inserted = 0, .unscored = 0, .waiting = queue.count(), .was_refused = true};
  }
  CRAWLSTORE_TRY(auto inserting, Transaction::begin(store));
  CRAWLSTORE_TRY(insert(queue, counts));
  CRAWLSTORE_TRY(inserting.commit());
  counts.waiting = queue.count();
  return counts;
}

/// Calls `put` for the pages that are meant, with their scores. How many pages have none.
Result<std::uint64_t> for_each_scored(const PageView& pages, const ScoreView& scores,
                                      const QueueChange& change, const Progress& progress,
                                      const std::function<Result<void>(const QueuedPage&)>& put) {
  const std::uint64_t page_count = pages.info().page_count;
  std::uint64_t unscored_count = 0;
  model::BestPages best(change.limit.value_or(0));
  for (std::uint64_t page = 0; page < page_count; ++page) {
    if (page % kPagesAtOnce == 0 && !progress(page, page_count)) {
      return fail(Errc::kCancelled, "cancelled");
    }
    CRAWLSTORE_TRY(const auto state, pages.state(page));
    if (state == PageState::kGone) continue;
    if (change.only_unfetched && state != PageState::kKnown) continue;
    CRAWLSTORE_TRY(const auto score, scores.score(page));
    if (!score) {
      ++unscored_count;
    } else if (change.limit) {
      best.add({page, *score});
    } else {
      CRAWLSTORE_TRY(put({page, *score}));
    }
  }
  for (const ScoredPage& page : best.take()) CRAWLSTORE_TRY(put({page.index, page.score}));
  return unscored_count;
}

/// The number before the TAB; the line begins behind it then.
std::optional<double> take_priority(std::string_view& line) {
  double priority = 0;
  const char* const end = line.data() + line.size();
  const auto [stopped, error] = std::from_chars(line.data(), end, priority);
  if (error != std::errc{} || std::isnan(priority) || stopped == end || *stopped != '\t') {
    return std::nullopt;
  }
  line.remove_prefix(static_cast<std::size_t>(stopped + 1 - line.data()));
  return priority;
}

int print_counts(const std::string& name, const Counts& counts, bool as_json) {
  using model::Unit;
  return print_document({{{"name", Unit::kText, name},
                          {"inserted_count", Unit::kCount, counts.inserted},
                          {"unscored_count", Unit::kCount, counts.unscored},
                          {"page_count", Unit::kCount, counts.waiting}},
                         {}},
                        as_json);
}

/// Says what became of a change. An exit code.
int report(const QueueSourceOptions& source, const std::string& name, const StopSignals& stop,
           const Result<Counts>& counts, bool as_json) {
  const std::string& path = source.pages.path;
  if (!counts && counts.error().code == Errc::kCancelled) {
    return exit_code_of_signal(stop.requested());
  }
  if (!counts) return fail_with(path, counts.error());
  if (!counts->was_refused) return print_counts(name, *counts, as_json);
  return fail_with(fmt::format("{}: {} in the queue `{}` already; --add inserts more",
                               model::format_printable(path),
                               model::format_counted(counts->waiting, "page"), name),
                   kExitNo);
}

}  // namespace

int fill_queue(const QueueSourceOptions& source, const QueueChange& change) {
  auto store = open_store(source.pages.path, change.lock_wait_seconds);
  if (!store) return fail_with(source.pages.path, store.error());
  int code = kExitDone;
  const auto found = open_queues(source, QueueNeeds::kPages, code);
  if (!found) return code;
  const auto scores = open_scores(*found->pages, source.pages,
                                  {change.scores, "--fill-from SCORE", change.quiet}, code);
  if (!scores) return code;
  const std::string name = queue_name(*found, source);
  const StopSignals stop;
  WorkBar bar("fill", stop, change.quiet);
  const auto counts =
      change_queue(*store, name, change.adds, [&](Queue& queue, Counts& so_far) -> Result<void> {
        std::vector<QueuedPage> some;
        const auto put = [&](const QueuedPage& page) -> Result<void> {
          some.push_back(page);
          ++so_far.inserted;
          if (some.size() < kPagesAtOnce) return {};
          CRAWLSTORE_TRY(queue.insert(some));
          some.clear();
          return {};
        };
        CRAWLSTORE_TRY(so_far.unscored,
                       for_each_scored(*found->pages, *scores, change, bar.progress(), put));
        CRAWLSTORE_TRY(queue.insert(some));
        return {};
      });
  return report(source, name, stop, counts, change.as_json);
}

int insert_lines(const QueueSourceOptions& source, const QueueChange& change) {
  int code = kExitDone;
  const auto found = open_queues(source, QueueNeeds::kNothing, code);
  if (!found) return code;
  const StopSignals stop;
  std::vector<QueuedPage> queued;
  double priority = 0;
  const auto take_front = [&priority](std::string_view& line) {
    const auto taken = take_priority(line);
    priority = taken.value_or(0);
    return taken.has_value();
  };
  LostLines lost;
  code =
      read_page_list({change.lines_path, "PRIORITY TAB URL or #INDEX", take_front},
                     found->pages ? &*found->pages : nullptr, stop, lost, [&](std::uint64_t page) {
                       queued.push_back({page, priority});
                     });
  if (code != kExitDone) return code;
  if (change.is_strict && lost.unknown_count + lost.malformed_count != 0) {
    return fail_with("--strict: nothing was inserted", kExitNo);
  }
  auto store = open_store(source.pages.path, change.lock_wait_seconds);
  if (!store) return fail_with(source.pages.path, store.error());
  const std::string name = queue_name(*found, source);
  const auto counts =
      change_queue(*store, name, true, [&queued](Queue& queue, Counts& so_far) -> Result<void> {
        CRAWLSTORE_TRY(queue.insert(queued));
        so_far.inserted = queued.size();
        return {};
      });
  return report(source, name, stop, counts, change.as_json);
}

}  // namespace crawlstore::cli
