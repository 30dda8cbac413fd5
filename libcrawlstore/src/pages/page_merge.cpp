// SPDX-License-Identifier: Apache-2.0
//
// The work that takes long: supersteps that are called for, and compaction. A superstep is one
// commit, or nothing; compaction one for each log that it joins.
#include "links/link_log.h"
#include "pages/content_index.h"
#include "pages/fresh_keys.h"
#include "pages/origins_run.h"
#include "pages/page_change.h"
#include "pages/page_db_impl.h"
#include "pages/superstep.h"

namespace crawlstore {
namespace {

/// Compaction of a page database lets the file grow by so much, and one log more, before it closes
/// the gaps that its joins left.
constexpr std::uint64_t kGrowthMax = std::uint64_t{128} << 20;
/// More of the file than one in so many bytes in gaps is too much while it must not grow.
constexpr std::uint64_t kGapsPart = 20;

/// No error where another thread compacts already: it makes the room.
Result<void> unless_compacting(const Result<CompactReport>& compacted) {
  if (compacted || compacted.error().code == Errc::kInvalidArgument) return {};
  return tl::unexpected<Error>(compacted.error());
}

}  // namespace

Result<SuperstepReport> PageDb::Impl::merge(container::WorkSteps& steps,
                                            const Companion& companion) {
  CRAWLSTORE_TRY(store->check_outside("a superstep was called for inside a transaction"));
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
      if (companion) {
        CRAWLSTORE_TRY(commit_change([&] { return companion(steps, in_commit->made); }));
      }
      return report;
    }
    const auto merged = merge_locked(steps, companion);
    if (!merged) return merged;
    *report += *merged;
    return report;
  });
}

Result<SuperstepReport> PageDb::Impl::merge_locked(container::WorkSteps& steps,
                                                   const Companion& companion) {
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
    CRAWLSTORE_TRY(put_state(writer, in_commit->state));
    return companion ? companion(steps, in_commit->made) : Result<void>{};
  });
  const Result<SuperstepReport> ended = merged.map([&] { return report; });
  store->report(name(), meter.cost(), ended);
  if (!ended) return ended;
  batch->clear();
  written_edits = 0;
  flight_failed = false;
  return ended;
}

namespace {

/// Makes the index of contents anew, if there is to be one.
Result<void> join_contents(PageDb::Impl& database, container::WorkSteps& steps) {
  container::Writer& writer = *database.store->writer;
  if (!database.state.table.has_contents && !database.options.content_index) return {};
  if (database.state.table.has_contents) {
    CRAWLSTORE_TRY(const bool is_done, pages::is_settled(writer, database.state, steps));
    if (is_done) return {};
  }
  return database.replace([&]() -> Result<void> {
    database.in_commit->state.table.has_contents = true;
    CRAWLSTORE_TRY(pages::rebuild_contents(writer, database.in_commit->state, steps));
    return put_state(writer, database.in_commit->state);
  });
}

}  // namespace

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
  CRAWLSTORE_TRY(in_turn([&] { return join_contents(*this, steps); }));
  return report;
}

/// A commit without changes: what the one before replaced is free then.
Result<void> PageDb::Impl::free_replaced() {
  const auto freed = store->report_commit([&] { return store->writer->commit(true); });
  return freed ? Result<void>{} : tl::unexpected<Error>(freed.error());
}

/// Compacts the store when the file has grown much since it had `file_bytes`. Without locks.
Result<void> PageDb::Impl::make_room(std::uint64_t file_bytes, container::WorkSteps& steps) {
  const std::uint64_t now = store->writer->file_bytes();
  if (now < file_bytes + kGrowthMax) return {};
  return unless_compacting(
      store->compact([&steps](auto, auto) { return steps.look().has_value(); }));
}

/// Moves runs into gaps when these are more than a part of the file. With the store's turn.
Result<void> PageDb::Impl::close_gaps(container::WorkSteps& steps) {
  const container::Writer& writer = *store->writer;
  if (writer.free_bytes() <= writer.file_bytes() / kGapsPart) return {};
  return unless_compacting(
      store->close_gaps([&steps](auto, auto) { return steps.look().has_value(); }));
}

bool PageDb::Impl::has_loose_origins() const {
  return state.table.origins &&
         pages::origin_group_count(store->writer->find(state.table.origins)->runs) > 1;
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

}  // namespace crawlstore
