// SPDX-License-Identifier: Apache-2.0
//
// What takes long: supersteps that are called for, compaction, forgetting. Each is one commit, or
// nothing; compaction one for each log that it joins.
#include "format/layout.h"
#include "links/link_log.h"
#include "pages/forget.h"
#include "pages/fresh_keys.h"
#include "pages/origins_run.h"
#include "pages/page_db_impl.h"
#include "pages/superstep.h"
#include "queue/removal.h"

namespace crawlstore {
namespace {

/// Compaction of a page database lets the file grow by so much, and one log more, before it closes
/// the gaps that its joins left.
constexpr std::uint64_t kGrowthMax = std::uint64_t{128} << 20;

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

/// While it lives, the file grows by what is asked for, and not by an eighth. With the store's
/// turn.
class GrowsExactly {
 public:
  explicit GrowsExactly(container::Writer& writer)
      : writer_(writer), before_(writer.place_from(format::kDataStart)) {
    if (before_) writer_.place_from(before_);  // so does compaction on another thread
  }
  GrowsExactly(const GrowsExactly&) = delete;
  GrowsExactly& operator=(const GrowsExactly&) = delete;
  ~GrowsExactly() {
    if (!before_) writer_.place_from(std::nullopt);
  }

 private:
  container::Writer& writer_;
  const std::optional<std::uint64_t> before_;
};

}  // namespace

Result<SuperstepReport> PageDb::Impl::merge(container::WorkSteps& steps) {
  if (store->in_transaction()) {
    return fail(Errc::kReentrant, "a superstep was called for inside a transaction");
  }
  const std::lock_guard no_commit(store->turn);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  return store->change([&]() -> Result<SuperstepReport> {
    auto report = land_and_commit(steps);
    if (!report) return report;
    if (batch->empty()) {
      if (dirty) CRAWLSTORE_TRY(store->commit_all());
      CRAWLSTORE_TRY(store->settle());  // what is there becomes durable
      return report;
    }
    const auto merged = merge_locked(steps);
    if (!merged) return merged;
    *report += *merged;
    return report;
  });
}

/// Commits what `change` puts into the writer's changes, or nothing of it.
template <class Change>
Result<void> PageDb::Impl::commit_change(const Change& change) {
  in_commit.emplace();
  in_commit->state = state;
  in_commit->batch = batch->mark();
  Result<void> done = change();
  in_commit->entries = entries_of(*store->writer, in_commit->state);
  if (done) {
    in_superstep = true;
    const auto committed = store->commit_all();
    in_superstep = false;
    if (!committed) done = tl::unexpected<Error>(committed.error());
  } else {
    store->writer->drop_changes();
  }
  if (!done) dropped();  // once more, if it was called
  return done;
}

Result<SuperstepReport> PageDb::Impl::merge_locked(container::WorkSteps& steps) {
  container::Writer& writer = *store->writer;
  SuperstepReport report;
  const container::StepMeter meter(writer.storage());
  const auto merged = commit_change([&]() -> Result<void> {
    in_commit->state.table.events = {};
    in_commit->state.table.event_count = 0;
    if (state.table.events) writer.remove(state.table.events);
    CRAWLSTORE_TRY(
        auto step,
        pages::Superstep(writer, in_commit->state, keys ? &*keys : nullptr, *batch, steps).run());
    report = step;
    return put_state(writer, in_commit->state);
  });
  const Result<SuperstepReport> ended = merged.map([&] { return report; });
  store->report(name(), meter.cost(), ended);
  if (!ended) return ended;
  batch->clear();
  written_edits = 0;
  flight_failed = false;
  return ended;
}

/// Log by log, each in commits of its own and with its own turn: others wait for one at most, and
/// the file needs room for one.
Result<JoinReport> PageDb::Impl::compact(container::WorkSteps& steps) {
  CRAWLSTORE_TRY(merge(steps));
  const std::uint64_t file_bytes = store->writer->file_bytes();
  const auto in_turn = [&](const auto& join) -> Result<void> {
    CRAWLSTORE_TRY(make_room(file_bytes, steps));
    const std::lock_guard no_commit(store->turn);
    CRAWLSTORE_TRY(store->check_open());
    const std::lock_guard lock(mutex);
    CRAWLSTORE_TRY(check_usable());
    return store->change([&]() -> Result<void> {
      CRAWLSTORE_TRY(land_and_commit(steps));
      const GrowsExactly exactly(*store->writer);
      return join();
    });
  };
  JoinReport report;
  CRAWLSTORE_TRY(in_turn([&] { return expect_joins(steps); }));
  CRAWLSTORE_TRY(in_turn([&] { return join_out_links(steps, report); }));
  CRAWLSTORE_TRY(in_turn([&] { return join_in_links(steps, report); }));
  CRAWLSTORE_TRY(in_turn([&] { return join_origins(steps); }));
  CRAWLSTORE_TRY(in_turn([&] { return join_keys(steps); }));
  return report;
}

/// Compacts the store when the file has grown much since it had `file_bytes`. Without locks.
Result<void> PageDb::Impl::make_room(std::uint64_t file_bytes, container::WorkSteps& steps) {
  const std::uint64_t now = store->writer->file_bytes();
  if (now < file_bytes + kGrowthMax) return {};
  const auto compacted = store->compact([&steps](auto, auto) { return steps.look().has_value(); });
  // Who compacts already makes room, too.
  if (compacted || compacted.error().code == Errc::kInvalidArgument) return {};
  return tl::unexpected<Error>(compacted.error());
}

/// commit_change(), and a commit more if that changed anything: what it replaced is free then.
template <class Change>
Result<void> PageDb::Impl::replace(const Change& change) {
  const Generation before = store->writer->directory()->generation();
  CRAWLSTORE_TRY(commit_change(change));
  if (store->writer->directory()->generation() == before) return {};
  const auto freed = store->report_commit([&] { return store->writer->commit(true); });
  return freed ? Result<void>{} : tl::unexpected<Error>(freed.error());
}

bool PageDb::Impl::has_loose_origins() const {
  return state.table.origins && store->writer->find(state.table.origins)->runs.size() > 1;
}

links::LinkSegments PageDb::Impl::link_segments() const {
  return {state.table.out_links, state.table.in_links, state.table.gone_links};
}

Result<void> PageDb::Impl::expect_joins(container::WorkSteps& steps) {
  if (has_loose_origins()) steps.expect(state.table.page_count);
  if (!state.table.out_links) return {};
  return links::expect_compaction(*store->writer, link_segments(), steps);
}

Result<void> PageDb::Impl::join_out_links(container::WorkSteps& steps, JoinReport& report) {
  if (!state.table.out_links) return {};
  return replace([&]() -> Result<void> {
    CRAWLSTORE_TRY(const auto coder_bytes,
                   links::compact_out_links(*store->writer, link_segments(), steps));
    report.coder_bytes_max = std::max(report.coder_bytes_max, coder_bytes);
    return {};
  });
}

Result<void> PageDb::Impl::join_in_links(container::WorkSteps& steps, JoinReport& report) {
  if (!state.table.out_links) return {};
  return replace([&]() -> Result<void> {
    CRAWLSTORE_TRY(const auto coder_bytes,
                   links::compact_in_links(*store->writer, link_segments(), steps));
    report.coder_bytes_max = std::max(report.coder_bytes_max, coder_bytes);
    return {};
  });
}

Result<void> PageDb::Impl::join_origins(container::WorkSteps& steps) {
  if (!has_loose_origins()) return {};
  return replace([&] {
    container::Writer& writer = *store->writer;
    format::SegmentEntry origins = *writer.find(state.table.origins);
    Result<void> joined = pages::compress_origins_anew(writer, origins, steps);
    if (joined) writer.put(std::move(origins));
    return joined;
  });
}

Result<void> PageDb::Impl::join_keys(container::WorkSteps& steps) {
  if (!state.table.fresh_keys) return {};
  return replace([&]() -> Result<void> {
    container::Writer& writer = *store->writer;
    CRAWLSTORE_TRY(pages::settle_keys(writer, in_commit->state, *keys, {}, steps));
    return put_state(writer, in_commit->state);
  });
}

namespace {

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
    return forget_locked(is_meant, forget_options, steps);
  });
}

Result<ForgetReport> PageDb::Impl::forget_locked(
    const std::function<bool(std::string_view url)>& is_meant, const ForgetOptions& forget_options,
    container::WorkSteps& steps) {
  container::Writer& writer = *store->writer;
  ForgetReport report;
  CRAWLSTORE_TRY(auto seen, open_all_seen(*store, forget_options, state.table.normalizer));
  queue::Removal queued(*store);
  const auto forgotten = commit_change([&]() -> Result<void> {
    pages::Forgetting forgetting(writer, in_commit->state, *keys, steps);
    CRAWLSTORE_TRY(const auto done, forgetting.run(is_meant));
    report = done;
    if (report.page_count != 0) report.score_array_count = remove_scores(writer, state.id);
    for (const std::string& queue : forget_options.queues) {
      CRAWLSTORE_TRY(const auto count, queued.remove(queue, forgetting.pages()));
      report.queued_count += count;
    }
    for (drum::KeyTable& table : seen) {
      const std::uint64_t before = table.key_count();
      CRAWLSTORE_TRY(pages::forget_seen(writer, table, forgetting.urls(), steps));
      report.seen_count += before - table.key_count();
    }
    return {};
  });
  if (!forgotten) {
    for (drum::KeyTable& table : seen) table.dropped();
    queued.undo();
    return tl::unexpected<Error>(forgotten.error());
  }
  for (drum::KeyTable& table : seen) table.committed();
  return report;
}

}  // namespace crawlstore
