// SPDX-License-Identifier: Apache-2.0
//
// Forgetting: one commit where that writes little, else several, after each of which a page is
// wholly there or wholly gone, with its places in queues. Score arrays, which tell of all pages, go
// with the first of them; seen URLs go before their pages, for nobody knows them afterwards. So
// whatever stops it, the pages that are left are meant by the next call.
#include <limits>

#include "pages/forget.h"
#include "pages/forget_keys.h"
#include "pages/fresh_keys.h"
#include "pages/page_change.h"
#include "queue/removal.h"

namespace crawlstore {
namespace {

/// A commit writes a twentieth of the file at most, where the parts of the file are small enough,
/// and need not write less than this.
constexpr std::uint64_t kParts = 20;
constexpr std::uint64_t kBytesMin = std::uint64_t{128} << 10;
/// A gathered key, of which there are at most half as many as may be written.
constexpr std::uint64_t kGatheredBytes = 20;

/// Removes the score arrays of the database, which tell what pages were worth, and returns how
/// many.
std::uint64_t remove_scores(container::Writer& writer, SegmentId database) {
  std::vector<SegmentId> arrays;
  writer.directory()->for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind == SegmentKind::kScoreArray && entry.owner == database) {
      arrays.push_back(entry.id);
    }
  });
  for (const SegmentId id : arrays) writer.remove(id);
  return arrays.size();
}

/// The DRUMs that are named, or all that are of URLs by this normalizer.
Result<std::vector<drum::KeyTable>> open_all_seen(StoreImpl& store, const ForgetOptions& options,
                                                  const std::string& normalizer) {
  container::Writer& writer = *store.writer;
  std::vector<std::string> names;
  if (options.seen) {
    names = *options.seen;
  } else {
    writer.directory()->for_each_segment([&names](const format::SegmentEntry& entry) {
      if (entry.kind == SegmentKind::kDrum) names.push_back(entry.name);
    });
  }
  std::vector<drum::KeyTable> tables;
  tables.reserve(names.size());
  for (const std::string& name : names) {
    auto table = drum::KeyTable::open_seen(writer, name);
    if (!table && !options.seen && table.error().code == Errc::kTypeMismatch) continue;
    if (!table) return tl::unexpected<Error>(table.error());
    if (table->normalizer() != normalizer) {
      if (!options.seen) continue;
      return fail(Errc::kTypeMismatch,
                  "the DRUM of seen URLs normalises them by other rules than the page database");
    }
    if (store.find(SegmentKind::kDrum, name) != nullptr) {
      return fail(Errc::kInvalidArgument, "a DRUM of seen URLs must be closed to forget them");
    }
    tables.push_back(std::move(*table));
  }
  return tables;
}

}  // namespace

/// The data of one call of forget().
struct PageDb::Impl::ForgetWork {
  const ForgetOptions& options;
  const pages::ForgetSurvey& survey;
  std::vector<drum::KeyTable>& seen;
  pages::Forgetting& forgetting;
  std::uint64_t bytes_max;
  container::WorkStage& stage;
  container::WorkSteps& steps;  // of the stage
  queue::Removal queued;
  ForgetReport report{};
  std::size_t later_count = 0;  // pages of later rounds

  /// Each page is two steps: its key is gathered, and it goes.
  Result<void> tell_reached(std::size_t keys_left) {
    const std::size_t count = survey.pages().size();
    return stage.reach(count - later_count - keys_left + report.page_count, 2 * count);
  }
};

Result<ForgetReport> PageDb::Impl::forget(const std::function<bool(std::string_view url)>& is_meant,
                                          const ForgetOptions& forget_options,
                                          container::WorkSteps& steps) {
  CRAWLSTORE_TRY(merge(steps));
  const std::lock_guard no_commit(store->turn);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  if (!keys) return fail(Errc::kInvalidArgument, "pages without URLs cannot be forgotten by URL");
  return store->change([&]() -> Result<ForgetReport> {
    CRAWLSTORE_TRY(land_and_commit(steps));
    const GrowsExactly exactly(*store->writer);
    return forget_locked(is_meant, forget_options, steps);
  });
}

Result<ForgetReport> PageDb::Impl::forget_locked(
    const std::function<bool(std::string_view url)>& is_meant, const ForgetOptions& forget_options,
    container::WorkSteps& steps) {
  container::Writer& writer = *store->writer;
  CRAWLSTORE_TRY(auto seen, open_all_seen(*store, forget_options, state.table.normalizer));
  // To look at all URLs and rows is a fifth of the work, about.
  const std::uint64_t share = 2 * state.table.page_count + state.table.link_count;
  steps.expect(5 * share);
  container::WorkStage looking(steps, share);
  looking.steps().expect(share);
  CRAWLSTORE_TRY(const auto survey,
                 pages::ForgetSurvey::make(writer, state, is_meant, looking.steps()));
  CRAWLSTORE_TRY(looking.finish());
  if (survey.pages().empty()) return ForgetReport{};
  container::WorkStage writing(steps, 4 * share);
  pages::Forgetting forgetting(writer, state, survey, writing.steps());
  ForgetWork work{forget_options,
                  survey,
                  seen,
                  forgetting,
                  std::max(kBytesMin, writer.file_bytes() / kParts),
                  writing,
                  writing.steps(),
                  queue::Removal(*store)};
  CRAWLSTORE_TRY(const auto all,
                 forgetting.next(state, std::numeric_limits<std::uint64_t>::max(), 0));
  std::uint64_t bytes = all.bytes + keys->partition_bytes();
  for (const auto& table : seen) bytes += table.partition_bytes();
  if (state.table.fresh_keys) {
    for (const auto& run : writer.find(state.table.fresh_keys)->runs) bytes += run.payload_bytes;
  }
  const bool is_little = bytes <= work.bytes_max;
  CRAWLSTORE_TRY(writer.check_room(is_little ? bytes : room_for_parts(work)));
  const Generation before = writer.directory()->generation();
  const auto done = is_little ? forget_at_once(work, all) : forget_in_parts(work);
  if (done) return work.report;
  if (done.error().code == Errc::kCancelled && writer.directory()->generation() != before) {
    return fail(Errc::kCancelled, "the work was stopped; what was forgotten so far stays so");
  }
  return tl::unexpected<Error>(done.error());
}

/// The file grows by the longest run that is written anew, and by some portions.
std::uint64_t PageDb::Impl::room_for_parts(const ForgetWork& work) const {
  std::uint64_t longest = keys->longest_partition_bytes();
  for (const auto& table : work.seen) longest = std::max(longest, table.longest_partition_bytes());
  for (const SegmentId links : {state.table.out_links, state.table.in_links}) {
    if (!links) continue;
    for (const auto& run : store->writer->find(links)->runs) {
      longest = std::max(longest, run.payload_bytes);
    }
  }
  return longest + 2 * work.bytes_max;
}

/// Takes pages out of queues and removes all score arrays, in the change under way. Adds to
/// `report`.
Result<void> PageDb::Impl::forget_uses(ForgetWork& work, std::span<const std::uint64_t> pages,
                                       ForgetReport& report) {
  report.score_array_count += remove_scores(*store->writer, state.id);
  for (const std::string& queue : work.options.queues) {
    CRAWLSTORE_TRY(const auto count, work.queued.remove(queue, pages));
    report.queued_count += count;
  }
  return {};
}

/// Takes some of the removals out of a DRUM of seen URLs, and from the list.
Result<void> PageDb::Impl::forget_seen(ForgetWork& work, drum::KeyTable& seen,
                                       std::vector<drum::KeyEdit>& removals,
                                       std::uint64_t bytes_max) {
  const std::uint64_t before = seen.key_count();
  const auto chosen = seen.choose_edits(removals, bytes_max);
  work.steps.expect(seen.key_count());
  CRAWLSTORE_TRY(seen.remove(*store->writer, chosen, work.steps));
  const auto first = removals.begin() + (chosen.data() - removals.data());
  removals.erase(first, first + static_cast<std::ptrdiff_t>(chosen.size()));
  work.report.seen_count += before - seen.key_count();
  return {};
}

Result<void> PageDb::Impl::forget_at_once(ForgetWork& work, const pages::Portion& all) {
  container::Writer& writer = *store->writer;
  const std::uint64_t key_seed = writer.identity().key_seed;
  work.steps.expect(all.end_page - all.first_page + keys->key_count());
  const auto forgotten = commit_change([&]() -> Result<void> {
    pages::PagesState& to = in_commit->state;
    CRAWLSTORE_TRY(work.forgetting.write(to, all, work.report));
    CRAWLSTORE_TRY(work.forgetting.bound_out_links(to));
    CRAWLSTORE_TRY(work.forgetting.bound_in_links(to));
    const auto entries = pages::key_entries(work.survey.pages(), work.survey.urls(), key_seed);
    std::vector<drum::KeyEdit> edits;
    edits.reserve(entries.size());
    for (const auto& entry : entries) edits.push_back({entry.key, true, {}});
    CRAWLSTORE_TRY(pages::settle_keys(writer, to, *keys, edits, work.steps));
    CRAWLSTORE_TRY(put_state(writer, to));
    CRAWLSTORE_TRY(forget_uses(work, work.survey.pages(), work.report));
    for (drum::KeyTable& table : work.seen) {
      auto removals = pages::seen_removals(table, work.survey.urls(), key_seed);
      while (!removals.empty()) CRAWLSTORE_TRY(forget_seen(work, table, removals, work.bytes_max));
    }
    return {};
  });
  if (!forgotten) work.queued.undo();
  for (drum::KeyTable& table : work.seen) forgotten ? table.committed() : table.dropped();
  return forgotten;
}

/// Round by round: the keys of some pages are gathered, then these pages go, portion by portion.
Result<void> PageDb::Impl::forget_in_parts(ForgetWork& work) {
  work.stage.counts_by_hand();
  const auto pages = std::span<const std::uint64_t>(work.survey.pages());
  const auto urls = std::span<const std::string>(work.survey.urls());
  const std::size_t round_pages = std::max<std::size_t>(1, work.bytes_max / kGatheredBytes);
  std::size_t end = pages.size();
  pages::GatheredKeys gathered(*store->writer, *keys);
  while (!work.forgetting.is_done()) {
    const std::size_t count = std::min(end, round_pages);
    end -= count;
    work.later_count = end;
    gathered.begin(pages::key_entries(pages.subspan(end, count), urls.subspan(end, count),
                                      store->writer->identity().key_seed),
                   state);
    CRAWLSTORE_TRY(forget_all_seen(work, urls.subspan(end, count)));
    CRAWLSTORE_TRY(forget_round(work, gathered, end == 0 ? 0 : pages[end]));
  }
  return store->writer->trim(0);
}

/// Out of tables as they are now: compaction may have moved their runs.
Result<void> PageDb::Impl::forget_all_seen(ForgetWork& work, std::span<const std::string> urls) {
  CRAWLSTORE_TRY(auto seen, open_all_seen(*store, work.options, state.table.normalizer));
  for (drum::KeyTable& table : seen) {
    auto removals = pages::seen_removals(table, urls, store->writer->identity().key_seed);
    while (!removals.empty()) {
      const auto done = replace([&] { return forget_seen(work, table, removals, work.bytes_max); });
      done ? table.committed() : table.dropped();
      if (!done) return done;
    }
  }
  return close_gaps(work.steps);
}

/// The pages from `first_page` on, whose keys `gathered` is to gather.
Result<void> PageDb::Impl::forget_round(ForgetWork& work, pages::GatheredKeys& gathered,
                                        std::uint64_t first_page) {
  while (gathered.has_more()) {
    CRAWLSTORE_TRY(work.steps.look());
    const auto gather = [&]() -> Result<void> {
      CRAWLSTORE_TRY(gathered.gather(in_commit->state, work.bytes_max, work.steps));
      return put_changed_state();
    };
    CRAWLSTORE_TRY(replace(gather));
    CRAWLSTORE_TRY(close_gaps(work.steps));
    CRAWLSTORE_TRY(work.tell_reached(gathered.left_count()));
  }
  while (!work.forgetting.is_done_from(first_page)) {
    CRAWLSTORE_TRY(work.steps.look());
    CRAWLSTORE_TRY(forget_portion(work, gathered, first_page));
    CRAWLSTORE_TRY(work.tell_reached(0));
    CRAWLSTORE_TRY(close_gaps(work.steps));
    CRAWLSTORE_TRY(replace([&] { return work.forgetting.bound_out_links(in_commit->state); }));
    CRAWLSTORE_TRY(close_gaps(work.steps));
    CRAWLSTORE_TRY(replace([&] { return work.forgetting.bound_in_links(in_commit->state); }));
    CRAWLSTORE_TRY(close_gaps(work.steps));
  }
  return {};
}

Result<void> PageDb::Impl::forget_portion(ForgetWork& work, pages::GatheredKeys& gathered,
                                          std::uint64_t first_page) {
  CRAWLSTORE_TRY(const auto portion, work.forgetting.next(state, work.bytes_max, first_page));
  ForgetReport report = work.report;
  const auto written = commit_change([&]() -> Result<void> {
    CRAWLSTORE_TRY(forget_uses(work, work.forgetting.pages_of(portion), report));
    CRAWLSTORE_TRY(work.forgetting.write(in_commit->state, portion, report));
    CRAWLSTORE_TRY(gathered.remove(in_commit->state, portion.first_page, work.steps));
    return put_changed_state();
  });
  if (!written) {
    work.queued.undo();
    return written;
  }
  work.queued.committed();
  work.report = report;
  return free_replaced();
}

/// Puts the table of the state under way if it is another now.
Result<void> PageDb::Impl::put_changed_state() {
  if (in_commit->state.table == state.table) return {};
  return put_state(*store->writer, in_commit->state);
}

}  // namespace crawlstore
