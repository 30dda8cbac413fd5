// SPDX-License-Identifier: Apache-2.0
#include "cli/queue_changes.h"

#include <algorithm>
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

/// The counts that are told of a change.
using Counts = std::vector<model::Field>;

model::Field count_field(std::string name, std::uint64_t count) {
  return {std::move(name), model::Unit::kCount, count};
}

/// The number of pages that waited in a queue that was emptied; for a damaged one it may not be
/// known.
model::Field emptied_field(const QueueSource& found, const std::string& name) {
  model::Field field{"removed_count", model::Unit::kCount, {}};
  const bool was_there = std::ranges::find(found.names, name) != found.names.end();
  if (found.page_count || !was_there) field.value = found.page_count.value_or(0);
  if (was_there && !found.queue) {
    note(
        "the queue was damaged: until another commit `verify` finds that in the generation before, "
        "and `rollback` leads back to it");
  }
  return field;
}

/// A queue that is changed.
struct NamedQueue {
  std::string name;
  QueueOptions options;
};

/// All that `change` does to the queue is committed, or nothing of it.
///   empties  all that it had leaves first, also where it is damaged
///   errors   kCancelled: a signal came before the commit began
Result<Counts> change_queue(Store& store, const NamedQueue& named, bool empties,
                            const StopSignals& stop,
                            const std::function<Result<Counts>(Queue&)>& change) {
  const auto& [name, options] = named;
  CRAWLSTORE_TRY(auto queue, empties ? Queue::open_unread(store, name, options)
                                     : Queue::open(store, name, options));
  CRAWLSTORE_TRY(auto changing, Transaction::begin(store));
  if (empties) CRAWLSTORE_TRY(queue.clear());
  CRAWLSTORE_TRY(auto counts, change(queue));
  if (stop.requested() != 0) return fail(Errc::kCancelled, "cancelled");
  CRAWLSTORE_TRY(changing.commit());
  counts.insert(counts.begin(), {"name", model::Unit::kText, name});
  counts.push_back(count_field("page_count", queue.count()));
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
    if (state == PageState::kGone || state == PageState::kElsewhere) continue;
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

/// Says what became of a change. An exit code.
int report(const QueueSourceOptions& source, const QueueSource& found, const StopSignals& stop,
           const Result<Counts>& counts, bool as_json) {
  if (counts) return print_document({*counts, {}}, as_json);
  if (counts.error().code == Errc::kCancelled) {
    note("stopped; the queue is as it was");
    return exit_code_of_signal(stop.requested());
  }
  return fail_with_queue(found.snapshot, source.pages.path, counts.error());
}

Result<Counts> fill(Queue& queue, const PageView& pages, const ScoreView& scores,
                    const QueueChange& change, const Progress& progress) {
  QueueInserted inserted;
  std::vector<QueuedPage> some;
  const auto insert = [&]() -> Result<void> {
    CRAWLSTORE_TRY(const auto now, queue.insert(some));
    inserted.new_count += now.new_count;
    inserted.updated_count += now.updated_count;
    some.clear();
    return {};
  };
  const auto put = [&](const QueuedPage& page) -> Result<void> {
    some.push_back(page);
    return some.size() < kPagesAtOnce ? Result<void>{} : insert();
  };
  CRAWLSTORE_TRY(const auto unscored_count, for_each_scored(pages, scores, change, progress, put));
  CRAWLSTORE_TRY(insert());
  return Counts{count_field("inserted_count", inserted.new_count),
                count_field("updated_count", inserted.updated_count),
                count_field("unscored_count", unscored_count)};
}

Result<Counts> use_list(Queue& queue, ListUse use, const std::vector<QueuedPage>& listed) {
  if (use == ListUse::kInsert) {
    CRAWLSTORE_TRY(const auto inserted, queue.insert(listed));
    return Counts{count_field("inserted_count", inserted.new_count),
                  count_field("updated_count", inserted.updated_count)};
  }
  if (use == ListUse::kUpdate) {
    CRAWLSTORE_TRY(const auto updated_count, queue.update(listed));
    return Counts{count_field("updated_count", updated_count),
                  count_field("absent_count", listed.size() - updated_count)};
  }
  std::vector<std::uint64_t> pages;
  pages.reserve(listed.size());
  for (const QueuedPage& page : listed) pages.push_back(page.page);
  CRAWLSTORE_TRY(const auto removed_count, queue.remove(pages));
  return Counts{count_field("removed_count", removed_count),
                count_field("absent_count", listed.size() - removed_count)};
}

/// The list that `change` names, and what it calls all pages that it knows.
PageList list_of(const QueueSourceOptions& source, const QueueChange& change, double& priority) {
  if (change.use == ListUse::kRemove) {
    return {.path = change.lines_path,
            .crawl_path = source.pages.path,
            .form = "URL and no #INDEX",
            .takes_any_index = true};
  }
  return {.path = change.lines_path,
          .crawl_path = source.pages.path,
          .form = "PRIORITY TAB URL or #INDEX",
          .take_front =
              [&priority](std::string_view& line) {
                const auto taken = take_priority(line);
                priority = taken.value_or(0);
                return taken.has_value();
              },
          .takes_any_index = change.use == ListUse::kUpdate};
}

/// All but the first `kept_count` leave, some at a time.
Result<void> trim(Queue& queue, std::uint64_t kept_count, const Progress& progress) {
  constexpr std::uint64_t kRemovedAtOnce = 1 << 20;
  const std::uint64_t before = queue.count();
  while (queue.count() > kept_count) {
    if (!progress(before - queue.count(), before - kept_count)) {
      return fail(Errc::kCancelled, "cancelled");
    }
    const std::uint64_t excess = queue.count() - kept_count;
    CRAWLSTORE_TRY(queue.trim(queue.count() - std::min(excess, kRemovedAtOnce)));
  }
  return {};
}

}  // namespace

int fill_queue(const QueueSourceOptions& source, const QueueChange& change) {
  auto store = open_store(source.pages.path, change.lock_wait_seconds);
  if (!store) return fail_with(source.pages.path, store.error());
  int code = kExitDone;
  const auto found = open_queues(source, {.pages = true, .may_be_damaged = change.replaces}, code);
  if (!found) return code;
  const std::string name = queue_name(*found, source);
  const std::uint64_t waiting_count = found->page_count.value_or(0);
  if (waiting_count != 0 && !change.adds && !change.replaces) {
    return fail_with(fmt::format("{}: {} in the queue `{}` already; --add inserts more, --replace "
                                 "removes them first",
                                 model::format_printable(source.pages.path),
                                 model::format_counted(waiting_count, "page"), name),
                     kExitNo);
  }
  const auto scores = open_scores(*found->pages, source.pages,
                                  {change.scores, "--fill-from SCORE", change.quiet}, code);
  if (!scores) return code;
  const StopSignals stop;
  WorkBar bar("fill", stop, change.quiet, "pages");
  auto counts = change_queue(
      *store, {name, queue_options(source)}, change.replaces, stop,
      [&](Queue& queue) { return fill(queue, *found->pages, *scores, change, bar.progress()); });
  if (counts) {
    counts->insert(counts->begin() + 1,
                   change.replaces ? emptied_field(*found, name) : count_field("removed_count", 0));
  }
  return report(source, *found, stop, counts, change.form.as_json);
}

int change_by_list(const QueueSourceOptions& source, const QueueChange& change) {
  int code = kExitDone;
  const bool makes_queue = change.use == ListUse::kInsert;
  const auto found = open_queues(source, {.queue = !makes_queue}, code);
  if (!found || (!makes_queue && !check_chosen(*found, source, code))) return code;
  const StopSignals stop;
  std::vector<QueuedPage> listed;
  double priority = 0;
  LostLines lost;
  code = read_page_list(list_of(source, change, priority), found->pages ? &*found->pages : nullptr,
                        stop, lost, [&](std::uint64_t page) {
                          listed.push_back({page, priority});
                        });
  if (code != kExitDone) return code;
  if (change.is_strict && lost.unknown_count + lost.malformed_count != 0) {
    return fail_with("--strict: nothing was changed", kExitNo);
  }
  auto store = open_store(source.pages.path, change.lock_wait_seconds);
  if (!store) return fail_with(source.pages.path, store.error());
  const auto counts =
      change_queue(*store, {queue_name(*found, source), queue_options(source)}, false, stop,
                   [&](Queue& queue) -> Result<Counts> {
                     CRAWLSTORE_TRY(auto used, use_list(queue, change.use, listed));
                     used.push_back(count_field("unknown_count", lost.unknown_count));
                     used.push_back(count_field("malformed_count", lost.malformed_count));
                     used.push_back(count_field("cut_count", lost.cut_count));
                     return used;
                   });
  code = report(source, *found, stop, counts, change.form.as_json);
  return code == kExitDone && lost.malformed_count != 0 ? kExitNo : code;
}

int trim_queue(const QueueSourceOptions& source, const QueueChange& change) {
  const bool empties = change.kept.value_or(0) == 0;
  auto store = open_store(source.pages.path, change.lock_wait_seconds);
  if (!store) return fail_with(source.pages.path, store.error());
  int code = kExitDone;
  const auto found = open_queues(source, {.queue = true, .may_be_damaged = empties}, code);
  if (!found || !check_chosen(*found, source, code)) return code;
  const StopSignals stop;
  WorkBar bar("trim", stop, change.quiet, "pages");
  const std::string name = queue_name(*found, source);
  auto counts = change_queue(*store, {name, queue_options(source)}, empties, stop,
                             [&](Queue& queue) -> Result<Counts> {
                               const std::uint64_t before = queue.count();
                               CRAWLSTORE_TRY(trim(queue, change.kept.value_or(0), bar.progress()));
                               return Counts{count_field("removed_count", before - queue.count())};
                             });
  if (counts && empties) (*counts)[1] = emptied_field(*found, name);
  return report(source, *found, stop, counts, change.form.as_json);
}

}  // namespace crawlstore::cli
