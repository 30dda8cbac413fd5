// SPDX-License-Identifier: Apache-2.0
//
// A merge, from the plan to the commits. Buckets are merged on a second thread, a flight of some
// at a time, while the flight before is dispatched and new requests come in.
//
// Invariants:
// - A sequence is durable, as below the number that the file says comes next, before a dispatcher
//   sees it; with log_first the request is as well (but neither with Durability::kNone).
// - A commit holds whole slices of buckets that were dispatched to the end, and everything that the
//   dispatcher submitted to DRUMs of the store.
// - Until install() nothing of a group is visible in `state`; abandon() leaves no trace of it.
// - The allocator is used by the merging thread only, in an order that does not depend on threads.
#include <algorithm>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

/// Bytes that a group of buckets has written, or keeps for absent consumers, when it is committed.
constexpr std::uint64_t kGroupBytes = 64 * 1024 * 1024;
/// Sequences that a commit reserves for requests that no log holds.
constexpr std::uint64_t kReservedSequences = std::uint64_t{1} << 32;
/// Partitions that are fetched from the disk before their merge.
constexpr std::size_t kReadAhead = 4;

}  // namespace

std::uint64_t DrumCore::Impl::Group::total_bytes() const {
  std::uint64_t total = bytes;
  for (const auto& [consumer, answers] : absent) total += answers.memory_bytes();
  return total;
}

/// Puts the outcomes of the group into the state, and commits it.
Result<void> DrumCore::Impl::finish_group(Group& group) {
  if (group.outcomes.empty()) return {};
  const StoreImpl::AllLocked locked(*store);
  for (const auto& outcome : group.outcomes) {
    if (outcome.pieces.size() < 2) continue;
    const std::size_t index = drum.state.bucket_of(outcome.job.first_key);
    CRAWLSTORE_TRY(transfer_arrays(index, index + 1));  // only logs are split
  }
  const CommitScope scope = drum.options.merge_commit == MergeCommit::kEverything
                                ? CommitScope::kEverything
                                : CommitScope::kTransaction;
  CRAWLSTORE_TRY(write_arrays(scope));  // so that what fails from here on can be taken back
  const drum::DrumState saved = drum.state;
  for (const auto& outcome : group.outcomes) {
    if (!outcome.job.is_last_slice) continue;
    const std::uint64_t first_key = outcome.job.first_key;
    group.answered.emplace_back(first_key,
                                std::exchange(sealed[drum.state.bucket_of(first_key)], {}));
  }
  Result<void> done = install(group);
  if (done) {
    reshape_arrays();
    if (drum.options.durability == Durability::kNone) {
      done = store->keep_tentative();
    } else if (const auto committed = store->commit_all(scope); !committed) {
      done = tl::unexpected<Error>(committed.error());
    } else {
      ++group.report.commit_count;
    }
  }
  if (!done) {
    drum.state = saved;
    reshape_arrays();
    for (auto& [first_key, waiting] : group.answered) {
      sealed[drum.state.bucket_of(first_key)] = std::move(waiting);
    }
    return done;
  }
  for (const auto& [first_key, waiting] : group.answered) forget_sealed(waiting);
  for (std::size_t b = 0; b < pending_keys.size() && b < drum.state.buckets.size(); ++b) {
    if (drum.state.buckets[b].pending.empty()) pending_keys[b] = {};
  }
  group.outcomes.clear();
  group.absent.clear();
  group.answered.clear();
  group.bytes = 0;
  return {};
}

/// Forgets the group and the flight; their requests stay pending.
void DrumCore::Impl::abandon(Group& group) {
  group.outcomes.clear();
  store->drop_tentative();
  cancel_flight();
}

void DrumCore::Impl::cancel_flight() {
  flight.reset();
  unlock_runs();
}

void DrumCore::Impl::unlock_runs() {
  const std::lock_guard lock(mutex);
  splits_under_way = 0;
  for (auto& bucket : drum.state.buckets) {
    bucket.locked_run_count = 0;
    bucket.is_planned = false;
  }
  look_for_full_buckets();
}

/// Commits a limit of sequences, before dispatchers see any that no commit knows of.
Result<void> DrumCore::Impl::reserve_sequences() {
  {
    const std::lock_guard lock(mutex);
    const bool is_reserved = drum.state.next_sequence <= published_sequence;
    if (is_reserved || drum.options.durability == Durability::kNone) return {};
    drum.state.sequence_limit = drum.state.next_sequence + kReservedSequences;
    drum.dirty = true;
  }
  CRAWLSTORE_TRY(store->commit_all(CommitScope::kTransaction));
  return {};
}

Result<void> DrumCore::Impl::start_merge(MergeCall call, const drum::KeyFilter* filter,
                                         std::vector<PlannedMerge>& plan) {
  // All locks are held, so that no thread transfers requests between the commit and the plan.
  const StoreImpl::AllLocked locked(*store);
  CRAWLSTORE_TRY(check_usable());
  // Another thread may have merged meanwhile.
  if (call != MergeCall::kAll && !has_full_bucket) return {};
  if (!merges_from_memory()) {
    if (drum.options.durability == Durability::kNone) {
      CRAWLSTORE_TRY(transfer_arrays());
    } else if (const auto committed = store->commit_all(); !committed) {
      return tl::unexpected<Error>(committed.error());
    }
  }
  CRAWLSTORE_TRY(auto planned, plan_merges(call == MergeCall::kFullBuckets, filter));
  plan = std::move(planned);
  look_for_full_buckets();
  if (!plan.empty()) {
    ++drum.state.merge_count;
    drum.dirty = true;
  }
  return reserve_sequences();
}

/// Starts the merges of whole buckets, or of one slice. Filters are asked by this thread only.
Result<void> DrumCore::Impl::launch(std::span<const PlannedMerge> planned) {
  CRAWLSTORE_ASSERT(flight == nullptr && !planned.empty());
  auto next = std::make_unique<MergeFlight>();
  next->ends_slice = !planned.back().is_last_slice;
  for (const PlannedMerge& one : planned) {
    CRAWLSTORE_TRY(auto job, make_job(one));
    job.filter = one.filter;
    next->outcomes.emplace_back().job = std::move(job);
  }
  if (drum.current_options().parallel && planned.front().filter == nullptr) {
    try {
      next->other =
          std::async(std::launch::async, [this, &merging = *next] { return merge_some(merging); });
    } catch (const std::system_error&) {  // without a thread, arrive() makes the merges
    }
  }
  flight = std::move(next);
  return {};
}

/// Makes merges of the flight until none is left to take. Runs on any thread.
Result<void> DrumCore::Impl::merge_some(MergeFlight& merging) {
  container::Writer& writer = *store->writer;
  auto& outcomes = merging.outcomes;
  drum::SortedRequests sorted;
  for (std::size_t i = 0; (i = merging.taken_count.fetch_add(1)) < outcomes.size();) {
    // The disk fetches the next partitions meanwhile.
    const std::size_t ahead_end = std::min(i + kReadAhead + 1, outcomes.size());
    for (std::size_t ahead = i == 0 ? 1 : i + kReadAhead; ahead < ahead_end; ++ahead) {
      if (const auto& run = outcomes[ahead].job.old_run) writer.storage().prefetch(run->extent());
    }
    const auto merged =
        drum::merge_bucket(writer.storage(), writer.identity(), sorted, outcomes[i]);
    if (merged) continue;
    merging.taken_count = outcomes.size();  // the rest is in vain
    return merged;
  }
  return {};
}

/// Returns when the flight's merges are made, and makes those not yet taken.
Result<void> DrumCore::Impl::arrive(MergeFlight& landing) {
  const Result<void> own = merge_some(landing);
  const Result<void> other = landing.other.valid() ? landing.other.get() : Result<void>{};
  return own ? other : own;
}

/// Dispatches the outcomes, while the disk takes the bytes that the flight wrote.
Result<void> DrumCore::Impl::land(MergeFlight& landing, Group& group) {
  const DrumOptions now = drum.current_options();
  std::future<Result<void>> synced;
  try {
    if (now.parallel && now.durability != Durability::kNone) {
      synced = std::async(std::launch::async, [this] { return store->writer->storage().sync(); });
    }
  } catch (const std::system_error&) {  // without a thread, the commit does it
  }
  Result<void> done = dispatch_all(landing, group);
  if (!synced.valid()) return done;
  if (const auto safe = synced.get(); !safe) {
    store->writer->poison();
    if (done) done = safe;
  }
  return done;
}

Result<void> DrumCore::Impl::dispatch_all(MergeFlight& landing, Group& group) {
  for (auto& outcome : landing.outcomes) {
    for (const auto& piece : outcome.pieces) group.bytes += piece.run.payload_bytes;
    group.report.request_count += outcome.request_count;
    group.report.unique_count += outcome.unique_count;
    group.report.duplicate_count += outcome.duplicate_count;
    group.report.new_key_count +=
        std::max(outcome.key_count, outcome.job.old_key_count) - outcome.job.old_key_count;
    ++group.report.bucket_count;
    CRAWLSTORE_TRY(delivery.tell(outcome, group.absent));
    outcome.forget_answers();
    group.outcomes.push_back(std::move(outcome));
  }
  return {};
}

/// Ends the flight under way, if any.
Result<void> DrumCore::Impl::land_and_commit(MergeReport& report) {
  if (flight == nullptr) return {};
  const auto landing = std::move(flight);
  Group group;
  Result<void> done = arrive(*landing);
  if (done) done = land(*landing, group);
  if (done) done = finish_group(group);
  if (!done) abandon(group);
  report += group.report;
  return done;
}

Result<MergeReport> DrumCore::Impl::merge_planned(std::span<const PlannedMerge> plan) {
  Group group;
  // This frees memory, and lets a dispatcher that throws now and then make progress.
  const bool commits_each = merges_from_memory();
  const auto launch_next = [&]() -> Result<void> {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t filtered_bytes = 0;
    do {
      bytes += plan[count].request_bytes;
      filtered_bytes += plan[count].filtered_bytes;
    } while (plan[count++].is_last_slice && count < plan.size() && bytes < flight_bytes() &&
             filtered_bytes < kGroupBytes && plan[count].is_last_slice);
    const auto next = plan.first(count);
    plan = plan.subspan(count);
    return launch(next);
  };
  Result<void> done = launch_next();
  while (done && flight != nullptr) {
    const auto landing = std::move(flight);
    done = arrive(*landing);
    // A slice needs the partition that the slice before it wrote: it starts after the commit.
    const bool overlaps = !plan.empty() && !landing->ends_slice;
    if (done && overlaps) done = launch_next();
    if (done) done = land(*landing, group);
    if (done && (!overlaps || commits_each || group.total_bytes() >= kGroupBytes)) {
      done = finish_group(group);
    }
    if (done && !overlaps && !plan.empty()) done = launch_next();
  }
  if (!done) {
    abandon(group);
    return tl::unexpected<Error>(done.error());
  }
  return group.report;
}

Result<MergeReport> DrumCore::Impl::merge(MergeCall call, const drum::KeyFilter* filter) {
  CRAWLSTORE_TRY(store->check_outside("a merge was asked for inside a transaction"));
  const std::lock_guard lock(store->turn);
  return store->change([&] { return reported([&] { return merge_locked(call, filter); }); });
}

/// Merges with `sink` as that of consumer 0. It keeps the turn, so that no other merge uses it.
Result<MergeReport> DrumCore::Impl::merge_with(RawSink sink) {
  CRAWLSTORE_TRY(store->check_outside("a merge was asked for inside a transaction"));
  const std::lock_guard no_other(store->turn);
  RawSink before = delivery.exchange_sink(0, std::move(sink));
  auto merged = merge(MergeCall::kAll);
  delivery.exchange_sink(0, std::move(before));
  return merged;
}

/// Returns the result of `work`, and reports it with its costs if it merged buckets or failed.
template <class Work>
Result<MergeReport> DrumCore::Impl::reported(const Work& work) {
  CRAWLSTORE_TRY(store->check_open());
  CRAWLSTORE_TRY(check_usable());
  CRAWLSTORE_TRY(store->writer->check_not_poisoned());  // before answers of a flight are told
  const container::StepMeter meter(store->writer->storage());
  Result<MergeReport> ended = work();
  const container::StepCost cost = meter.cost();
  if (ended) {
    ended->partition_read_seeks = cost.storage.read_seek_count;
    ended->partition_write_seeks = cost.storage.write_seek_count;
  }
  if (!ended || ended->bucket_count != 0) store->report(name(), cost, ended);
  return ended;
}

Result<MergeReport> DrumCore::Impl::merge_locked(MergeCall call, const drum::KeyFilter* filter) {
  MergeReport report;
  CRAWLSTORE_TRY(land_and_commit(report));
  // All that is stored becomes durable even if no request waits.
  if (call == MergeCall::kAll && drum.options.durability != Durability::kNone) {
    CRAWLSTORE_TRY(store->settle());
  }
  std::vector<PlannedMerge> plan;
  if (const auto started = start_merge(call, filter, plan); !started) {
    unlock_runs();
    return tl::unexpected<Error>(started.error());
  }
  if (!plan.empty()) {
    const auto merged = merge_planned(plan);
    if (!merged) return merged;
    report += *merged;
  }
  return report;
}

/// Makes room in memory: starts the merges of the next buckets, and dispatches those started
/// before.
Result<MergeReport> DrumCore::Impl::relieve() {
  const std::lock_guard lock(store->turn);
  return store->change([&] { return reported([&] { return relieve_locked(); }); });
}

Result<MergeReport> DrumCore::Impl::relieve_locked() {
  MergeReport report;
  while (true) {
    std::vector<PlannedMerge> plan;
    {
      const std::lock_guard lock(mutex);
      CRAWLSTORE_TRY(check_usable());
      CRAWLSTORE_TRY(store->writer->check_not_poisoned());
      if (!wants_relief()) return report;
    }
    if (next_sweep_is_planned()) CRAWLSTORE_TRY(land_and_commit(report));
    {
      const std::lock_guard lock(mutex);
      auto planned = plan_sweep();
      if (!planned) {
        cancel_flight();
        return tl::unexpected<Error>(planned.error());
      }
      plan = std::move(*planned);
    }
    if (plan.empty()) continue;
    CRAWLSTORE_TRY(send_off(plan, report));
  }
}

Result<void> DrumCore::Impl::send_off(std::span<const PlannedMerge> plan, MergeReport& report) {
  auto landing = std::move(flight);
  Group group;
  Result<void> done = reserve_sequences();
  const bool is_sliced = std::any_of(plan.begin(), plan.end(),
                                     [](const auto& planned) { return !planned.is_last_slice; });
  if (done && landing != nullptr) done = arrive(*landing);
  if (done && !is_sliced) done = launch(plan);
  if (done && landing != nullptr) {
    done = land(*landing, group);
    if (done) done = finish_group(group);
  }
  if (done && is_sliced) {
    const auto merged = merge_planned(plan);
    if (merged) report += *merged;
    if (!merged) done = tl::unexpected<Error>(merged.error());
  }
  if (!done) abandon(group);
  report += group.report;
  return done;
}

}  // namespace crawlstore
