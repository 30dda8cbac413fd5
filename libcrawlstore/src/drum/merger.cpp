// SPDX-License-Identifier: Apache-2.0
#include "drum/merger.h"

#include <algorithm>
#include <future>
#include <system_error>

#include "base/assert.h"

namespace crawlstore::drum {
namespace {

/// Bytes that a group of buckets has written, or keeps for absent consumers, when it is committed.
constexpr std::uint64_t kGroupBytes = 64 * 1024 * 1024;
/// Sequences that a commit reserves for requests that no log holds.
constexpr std::uint64_t kReservedSequences = std::uint64_t{1} << 32;

}  // namespace

std::uint64_t Merger::Group::total_bytes() const {
  std::uint64_t total = bytes;
  for (const auto& [consumer, answers] : absent) total += answers.memory_bytes();
  return total;
}

/// Puts one outcome into the state, as partitions and logs.
Result<void> Merger::install_outcome(Group& group, MergeOutcome& outcome) {
  DrumState& state = drum_.state;
  const std::size_t index = state.bucket_of(outcome.job.first_key);
  Bucket& bucket = state.buckets[index];
  const auto& job = outcome.job;
  planner_.end_job(job);
  // Count the runs now: since the merge began, a commit may have logged sealed requests.
  const std::size_t run_count = job.is_last_slice ? bucket.locked_run_count : job.key_runs.size();
  bucket.pending.drop_front(run_count);
  bucket.locked_run_count -= run_count;
  if (job.is_last_slice) bucket.is_planned = false;
  if (!outcome.changed) return {};
  if (outcome.pieces.empty()) {  // no key stays; the id goes when a commit has removed the segment
    bucket.partition_run.reset();
    bucket.lookup = nullptr;
    bucket.key_count = 0;
    return {};
  }

  for (std::size_t i = 0; i < outcome.pieces.size(); ++i) {
    const auto& piece = outcome.pieces[i];
    const auto place = state.buckets.begin() + static_cast<std::ptrdiff_t>(index + i);
    Bucket& written = i == 0 ? *place : *state.buckets.insert(place, Bucket());
    if (i != 0) written.first_key = piece.first_key;
    written.partition = job.piece_segments[i];
    written.partition_run = drum_.writer().runs->add(written.partition, piece.run);
    written.lookup = nullptr;
    outcome.job.piece_writers[i].give_back();
    written.key_count = piece.key_count;
  }
  if (outcome.pieces.size() == 1) return {};
  group.report.split_count += outcome.pieces.size() - 1;
  return logs_.redistribute(index, outcome.pieces.size());
}

Result<void> Merger::install(Group& group) {
  for (auto& outcome : group.outcomes) CRAWLSTORE_TRY(install_outcome(group, outcome));
  CRAWLSTORE_TRY(delivery_.keep(group.absent));
  drum_.dirty = true;
  return {};
}

/// Commits what is installed, as the options have it.
Result<void> Merger::commit(Group& group, CommitScope scope) {
  if (drum_.options.durability == Durability::kNone) return drum_.store.keep_tentative();
  CRAWLSTORE_TRY(drum_.store.commit_all(scope));
  ++group.report.commit_count;
  return {};
}

/// Puts the outcomes of the group into the state, and commits it.
Result<void> Merger::finish(Group& group) {
  if (group.outcomes.empty()) return {};
  const StoreImpl::AllLocked locked(drum_.store);
  kPartMutex.assert_held();
  DrumState& state = drum_.state;
  for (const auto& outcome : group.outcomes) {
    if (outcome.pieces.size() < 2) continue;
    const std::size_t index = state.bucket_of(outcome.job.first_key);
    CRAWLSTORE_TRY(logs_.log_arrays(index, index + 1));  // only logs are split
  }
  const CommitScope scope = drum_.options.merge_commit == MergeCommit::kEverything
                                ? CommitScope::kEverything
                                : CommitScope::kTransaction;
  CRAWLSTORE_TRY(logs_.log_for(scope));  // so that what fails from here on can be taken back
  const DrumState saved = state;
  for (const auto& outcome : group.outcomes) {
    if (!outcome.job.is_last_slice) continue;
    const std::uint64_t first_key = outcome.job.first_key;
    group.answered.emplace_back(first_key, inbox_.sealed.take(state.bucket_of(first_key)));
  }
  Result<void> done = install(group);
  if (done) {
    logs_.adapt_to_buckets();
    done = commit(group, scope);
  }
  if (!done) {
    state = saved;
    logs_.adapt_to_buckets();
    for (auto& [first_key, waiting] : group.answered) {
      inbox_.sealed.give_back(state.bucket_of(first_key), std::move(waiting));
    }
    return done;
  }
  for (const auto& [first_key, waiting] : group.answered) inbox_.sealed.forget(waiting);
  logs_.inserts.forget_merged();
  group.outcomes.clear();
  group.absent.clear();
  group.answered.clear();
  group.bytes = 0;
  return {};
}

/// Forgets the group and the flight; their requests stay pending.
void Merger::abandon(Group& group) {
  group.outcomes.clear();
  drum_.store.drop_tentative();
  cancel();
}

void Merger::cancel() {
  flight_.reset();
  const MutexLock lock(drum_.mutex);
  planner_.forget_plans();
}

/// Commits a limit of sequences, before sinks see any that no commit knows of.
Result<void> Merger::reserve_sequences() {
  {
    const MutexLock lock(drum_.mutex);
    DrumState& state = drum_.state;
    const bool is_reserved = state.next_sequence <= drum_.published_sequence;
    if (is_reserved || drum_.options.durability == Durability::kNone) return {};
    state.sequence_limit = state.next_sequence + kReservedSequences;
    drum_.dirty = true;
  }
  CRAWLSTORE_TRY(drum_.store.commit_all(CommitScope::kTransaction));
  return {};
}

/// Plans a merge, after what the log must hold first is in it.
Result<Merger::Plan> Merger::start(MergeCall call, const KeyFilter* filter) {
  // All locks are held, so that no thread logs requests between the commit and the plan.
  const StoreImpl::AllLocked locked(drum_.store);
  kPartMutex.assert_held();
  // Another thread may have merged meanwhile.
  if (call != MergeCall::kAll && !logs_.has_full_bucket()) return Plan{};
  if (!drum_.merges_from_memory()) {
    if (drum_.options.durability == Durability::kNone) {
      CRAWLSTORE_TRY(logs_.log_arrays());
    } else {
      CRAWLSTORE_TRY(drum_.store.commit_all());
    }
  }
  CRAWLSTORE_TRY(auto plan, planner_.plan_merges(call == MergeCall::kFullBuckets, filter));
  if (!plan.empty()) {
    ++drum_.state.merge_count;
    drum_.dirty = true;
  }
  CRAWLSTORE_TRY(reserve_sequences());
  return plan;
}

/// Starts the merges of whole buckets, or of one slice. Filters are asked by this thread only.
Result<void> Merger::launch(std::span<const PlannedMerge> planned) {
  CRAWLSTORE_ASSERT(flight_ == nullptr && !planned.empty());
  std::vector<MergeJob> jobs;
  const MutexLock lock(drum_.mutex);
  for (const PlannedMerge& one : planned) {
    CRAWLSTORE_TRY(auto job, planner_.make_job(one));
    jobs.push_back(std::move(job));
  }
  flight_ =
      std::make_unique<MergeFlight>(drum_.writer(), std::move(jobs), !planned.back().is_last_slice);
  if (drum_.options.parallel && planned.front().filter == nullptr) flight_->depart();
  return {};
}

/// Launches the next flight of a plan, and takes it off.
Result<void> Merger::launch_next(std::span<const PlannedMerge>& plan) {
  const std::uint64_t bytes = drum::flight_bytes(drum_.current_options().memory_bytes);
  const auto next = plan.first(choose_flight(plan, bytes, kGroupBytes));
  plan = plan.subspan(next.size());
  return launch(next);
}

/// Tells the answers, while the disk takes the bytes that the flight wrote.
Result<void> Merger::land(MergeFlight& landing, Group& group) {
  const DrumOptions now = drum_.current_options();
  std::future<Result<void>> synced;
  try {
    if (now.parallel && now.durability != Durability::kNone) {
      synced = std::async(std::launch::async, [this] { return drum_.writer().storage().sync(); });
    }
  } catch (const std::system_error&) {  // without a thread, the commit does it
  }
  Result<void> done = tell_all(landing, group);
  if (!synced.valid()) return done;
  if (const auto safe = synced.get(); !safe) {
    drum_.writer().poison();
    if (done) done = safe;
  }
  return done;
}

Result<void> Merger::tell_all(MergeFlight& landing, Group& group) {
  for (auto& outcome : landing.outcomes()) {
    for (const auto& piece : outcome.pieces) group.bytes += piece.run.payload_bytes;
    group.report.request_count += outcome.request_count;
    group.report.unique_count += outcome.unique_count;
    group.report.duplicate_count += outcome.duplicate_count;
    group.report.new_key_count +=
        std::max(outcome.key_count, outcome.job.old_key_count) - outcome.job.old_key_count;
    ++group.report.bucket_count;
    CRAWLSTORE_TRY(delivery_.tell(outcome, group.absent));
    outcome.forget_answers();
    group.outcomes.push_back(std::move(outcome));
  }
  return {};
}

/// Ends the flight under way, if any.
Result<void> Merger::land_and_commit(MergeReport& report) {
  if (flight_ == nullptr) return {};
  const auto landing = std::move(flight_);
  Group group;
  Result<void> done = landing->arrive();
  if (done) done = land(*landing, group);
  if (done) done = finish(group);
  if (!done) abandon(group);
  report += group.report;
  return done;
}

Result<MergeReport> Merger::merge_planned(std::span<const PlannedMerge> plan) {
  Group group;
  // This frees memory, and lets a sink that throws now and then make progress.
  const bool commits_each = [this] {
    const MutexLock lock(drum_.mutex);
    return drum_.merges_from_memory();
  }();
  Result<void> done = launch_next(plan);
  while (done && flight_ != nullptr) {
    const auto landing = std::move(flight_);
    done = landing->arrive();
    // A slice needs the partition that the slice before it wrote: it starts after the commit.
    const bool overlaps = !plan.empty() && !landing->ends_slice();
    if (done && overlaps) done = launch_next(plan);
    if (done) done = land(*landing, group);
    if (done && (!overlaps || commits_each || group.total_bytes() >= kGroupBytes)) {
      done = finish(group);
    }
    if (done && !overlaps && !plan.empty()) done = launch_next(plan);
  }
  if (!done) {
    abandon(group);
    return tl::unexpected<Error>(done.error());
  }
  return group.report;
}

Result<MergeReport> Merger::merge(MergeCall call, const KeyFilter* filter) {
  MergeReport report;
  CRAWLSTORE_TRY(land_and_commit(report));
  // All that is stored becomes durable even if no request waits.
  if (call == MergeCall::kAll && drum_.current_options().durability != Durability::kNone) {
    CRAWLSTORE_TRY(drum_.store.settle());
  }
  const auto plan = start(call, filter);
  if (!plan) {
    cancel();
    return tl::unexpected<Error>(plan.error());
  }
  if (!plan->empty()) {
    CRAWLSTORE_TRY(const auto merged, merge_planned(*plan));
    report += merged;
  }
  return report;
}

Result<MergeReport> Merger::relieve() {
  MergeReport report;
  while (true) {
    bool must_land = false;
    {
      const MutexLock lock(drum_.mutex);
      CRAWLSTORE_TRY(drum_.writer().check_not_poisoned());
      if (!logs_.wants_relief()) return report;
      must_land = planner_.next_sweep_is_planned();
    }
    if (must_land) CRAWLSTORE_TRY(land_and_commit(report));
    Result<Plan> plan;
    {
      const MutexLock lock(drum_.mutex);
      plan = planner_.plan_sweep();
    }
    if (!plan) {
      cancel();
      return tl::unexpected<Error>(plan.error());
    }
    if (!plan->empty()) CRAWLSTORE_TRY(send_off(*plan, report));
  }
}

/// Ends the flight under way while the merges of the plan begin.
Result<void> Merger::send_off(std::span<const PlannedMerge> plan, MergeReport& report) {
  auto landing = std::move(flight_);
  Group group;
  Result<void> done = reserve_sequences();
  const bool is_sliced = std::any_of(plan.begin(), plan.end(),
                                     [](const auto& planned) { return !planned.is_last_slice; });
  if (done && landing != nullptr) done = landing->arrive();
  if (done && !is_sliced) done = launch(plan);
  if (done && landing != nullptr) {
    done = land(*landing, group);
    if (done) done = finish(group);
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

}  // namespace crawlstore::drum
