// SPDX-License-Identifier: Apache-2.0
//
// A merge, from the plan to the commits.
//
// Invariants:
// - Requests are durable before they are dispatched (but with Durability::kNone), so that their
//   sequence is the same when a crash makes them come again.
// - A commit holds whole slices of buckets that were dispatched to the end, and everything that the
//   dispatcher submitted to DRUMs of the store.
// - Until install() nothing of a group is visible in `state`; abandon() leaves no trace of it.
// - The allocator is used by the merging thread only, in an order that does not depend on threads.
#include <algorithm>
#include <future>
#include <system_error>

#include "base/assert.h"
#include "container/run_io.h"
#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

/// A group of buckets is committed when it has written, or keeps for absent consumers, so many
/// bytes.
constexpr std::uint64_t kGroupBytes = 64 * 1024 * 1024;
constexpr std::uint64_t kJoinedResultsBytesMax = 4 * kGroupBytes;
/// A partition whose values may have twice as many bytes is cut: the format ends at 32 GiB.
constexpr std::uint64_t kPieceValueBytes = std::uint64_t{8} << 30;

}  // namespace

/// Which buckets are merged, in slices that fit the memory. Locks the runs that will be read.
std::vector<DrumCore::Impl::PlannedMerge> DrumCore::Impl::plan_merges(bool only_full) {
  std::vector<PlannedMerge> plan;
  const std::uint64_t slice_max = slice_requests_max();
  for (drum::Bucket& bucket : state.buckets) {
    if (bucket.pending.empty() || (only_full && !calls_for_merge(bucket))) continue;
    bucket.locked_run_count = bucket.pending.keys.size();
    std::size_t run_count = 0;
    std::uint64_t requests = 0;
    for (const auto& run : bucket.pending.keys) {
      if (run_count != 0 && requests + run.record_count > slice_max) {
        plan.push_back({bucket.first_key, run_count, false});
        run_count = 0;
        requests = 0;
      }
      ++run_count;
      requests += run.record_count;
    }
    plan.push_back({bucket.first_key, run_count, true});
  }
  return plan;
}

std::uint64_t DrumCore::Impl::Group::total_bytes() const {
  std::uint64_t total = bytes;
  for (const auto& [consumer, answers] : results) total += answers.memory_bytes();
  return total;
}

/// The job of a planned merge, with all that it will write reserved.
Result<drum::MergeJob> DrumCore::Impl::make_job(const PlannedMerge& planned) {
  const std::lock_guard lock(mutex);
  container::Writer& writer = *store->writer;
  const std::size_t index = state.bucket_of(planned.first_key);
  const drum::Bucket& bucket = state.buckets[index];
  drum::MergeJob job;
  job.bucket = index;
  job.first_key = bucket.first_key;
  job.last_key = state.last_key(index);
  job.old_partition = bucket.partition;
  job.old_run = bucket.partition_run;
  job.old_key_count = bucket.key_count;
  job.key_log = bucket.key_log;
  job.aux_log = bucket.aux_log;
  job.value_bytes = state.value_bytes;
  drum::LogRuns rest = bucket.pending;
  rest.drop_front(planned.run_count);
  job.key_runs.assign(bucket.pending.keys.begin(),
                      bucket.pending.keys.begin() + static_cast<std::ptrdiff_t>(planned.run_count));
  job.aux_runs.assign(bucket.pending.auxes.begin(),
                      bucket.pending.auxes.end() - static_cast<std::ptrdiff_t>(rest.auxes.size()));

  const std::uint64_t requests = bucket.pending.request_count - rest.request_count;
  const std::uint64_t keys_max = bucket.key_count + requests;
  std::uint64_t value_total = static_cast<std::uint64_t>(std::max(0, state.value_bytes)) * keys_max;
  if (state.value_bytes < 0) {
    value_total = (bucket.partition_run ? bucket.partition_run->payload_bytes : 0) + keys_max * 4 +
                  bucket.pending.key_bytes - rest.key_bytes;
  }
  job.piece_keys_max = keys_max;
  if (planned.is_last_slice && keys_max > options.partition_keys_max) {
    job.piece_keys_max = options.partition_keys_max / 2;
  }
  if (planned.is_last_slice && value_total > 2 * kPieceValueBytes) {
    const std::uint64_t parts = value_total / kPieceValueBytes + 1;
    job.piece_keys_max = std::min(job.piece_keys_max, (keys_max + parts - 1) / parts);
  }
  std::uint64_t pieces = (keys_max + job.piece_keys_max - 1) / job.piece_keys_max;
  if (state.buckets.size() + splits_under_way + pieces - 1 > format::kBucketsMax) {
    pieces = format::kBucketsMax - state.buckets.size() - splits_under_way + 1;
    job.piece_keys_max = (keys_max + pieces - 1) / pieces;
  }
  splits_under_way += pieces - 1;
  if (state.value_bytes >= 0) {
    value_total = static_cast<std::uint64_t>(state.value_bytes) * job.piece_keys_max;
  }
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const bool takes_over = piece == 0 && bucket.partition;
    job.piece_segments.push_back(takes_over ? bucket.partition : writer.new_segment_id());
    auto run = container::RunWriter::start(
        writer, job.piece_segments.back(), writer.new_run_ids(1),
        drum::partition_bytes_max(job.piece_keys_max, job.last_key - job.first_key, value_total));
    if (!run) return tl::unexpected<Error>(run.error());
    job.piece_writers.emplace_back(std::move(*run), state.value_bytes);
  }
  return job;
}

Result<void> DrumCore::Impl::install_outcome(Group& group, drum::MergeOutcome& outcome) {
  const std::size_t index = state.bucket_of(outcome.job.first_key);
  drum::Bucket& bucket = state.buckets[index];
  const auto& job = outcome.job;
  group.superseded.insert(group.superseded.end(), job.key_runs.begin(), job.key_runs.end());
  group.superseded.insert(group.superseded.end(), job.aux_runs.begin(), job.aux_runs.end());
  splits_under_way -= job.piece_writers.size() - 1;
  bucket.pending.drop_front(job.key_runs.size());
  bucket.locked_run_count -= job.key_runs.size();
  if (!outcome.changed) return {};

  if (job.old_run) group.superseded.push_back(*job.old_run);
  for (std::size_t piece = 0; piece < outcome.pieces.size(); ++piece) {
    outcome.job.piece_writers[piece].give_back();
    group.written.push_back(outcome.pieces[piece].run);
  }
  bucket.partition = job.piece_segments.front();
  bucket.partition_run = outcome.pieces.front().run;
  bucket.key_count = outcome.pieces.front().key_count;
  for (std::size_t piece = 1; piece < outcome.pieces.size(); ++piece) {
    drum::Bucket added;
    added.first_key = outcome.pieces[piece].first_key;
    added.partition = job.piece_segments[piece];
    added.partition_run = outcome.pieces[piece].run;
    added.key_count = outcome.pieces[piece].key_count;
    state.buckets.insert(state.buckets.begin() + static_cast<std::ptrdiff_t>(index + piece), added);
  }
  if (outcome.pieces.size() == 1) return {};
  group.report.split_count += outcome.pieces.size() - 1;
  const auto& source = state.buckets[index];
  for (const auto* log : {&source.pending, &source.tentative}) {
    group.superseded.insert(group.superseded.end(), log->keys.begin(), log->keys.end());
    group.superseded.insert(group.superseded.end(), log->auxes.begin(), log->auxes.end());
  }
  return redistribute(group, index, outcome.pieces.size());
}

/// Joins the newest runs of a results log that has many: those behind a run have its size. A joined
/// run is read whole, so it holds at most kJoinedResultsBytesMax.
Result<void> DrumCore::Impl::join_results(drum::Consumer& consumer, Group& group) {
  auto& runs = consumer.runs;
  if (runs.size() <= format::kRunsPerLogMax / 2) return {};
  std::size_t first = runs.size();
  std::uint64_t behind = 0;
  while (first > 0 && (first + 2 > runs.size() || runs[first - 1].payload_bytes <= behind) &&
         behind + runs[first - 1].payload_bytes <= kJoinedResultsBytesMax) {
    behind += runs[--first].payload_bytes;
  }
  if (runs.size() - first < 2) {
    if (runs.size() <= format::kRunsPerLogMax) return {};
    return fail(Errc::kTooLarge, "too many answers wait for a consumer; take its results");
  }
  container::Writer& writer = *store->writer;
  drum::ResultColumns joined;
  std::vector<std::byte> payload;
  for (std::size_t i = first; i < runs.size(); ++i) {
    const auto name = container::run_name(writer.identity(), consumer.results, runs[i].run_id);
    CRAWLSTORE_TRY(container::read_run(writer.storage(), name, runs[i], payload));
    CRAWLSTORE_TRY(
        drum::for_each_answer(payload, [&](std::span<const RawAnswer> answers) -> Result<void> {
          for (const RawAnswer& answer : answers) joined.append(answer, state.value_bytes);
          return {};
        }));
    group.superseded.push_back(runs[i]);
  }
  auto run = joined.write(writer, consumer.results, writer.new_run_ids(1), state.value_bytes);
  if (!run) return tl::unexpected<Error>(run.error());
  group.written.push_back(*run);
  runs.resize(first);
  runs.push_back(*run);
  return {};
}

Result<void> DrumCore::Impl::install(Group& group) {
  container::Writer& writer = *store->writer;
  for (auto& outcome : group.outcomes) CRAWLSTORE_TRY(install_outcome(group, outcome));
  for (auto& consumer : state.consumers) {
    const auto results = group.results.find(consumer.id);
    if (results == group.results.end()) continue;
    if (!consumer.results) consumer.results = writer.new_segment_id();
    auto run =
        results->second.write(writer, consumer.results, writer.new_run_ids(1), state.value_bytes);
    if (!run) return tl::unexpected<Error>(run.error());
    group.written.push_back(*run);
    consumer.runs.push_back(*run);
    consumer.result_count += results->second.count();
    CRAWLSTORE_TRY(join_results(consumer, group));
  }
  dirty = true;
  return {};
}

/// Makes what the group did part of the state, and commits it.
Result<void> DrumCore::Impl::finish_group(Group& group) {
  if (group.outcomes.empty()) return {};
  container::Writer& writer = *store->writer;
  const StoreImpl::AllLocked locked(*store);
  CRAWLSTORE_TRY(write_arrays());
  const drum::DrumState saved = state;
  Result<void> done = install(group);
  if (done) {
    reshape_arrays();
    if (options.durability == Durability::kNone) {
      done = store->keep_tentative();
    } else if (const auto committed = store->commit_all(); !committed) {
      done = tl::unexpected<Error>(committed.error());
    } else {
      ++group.report.commit_count;
    }
  }
  if (!done) {
    state = saved;
    reshape_arrays();
    drum::release_unpublished(writer, group.written);
    return done;
  }
  drum::release_unpublished(writer, group.superseded);
  lookups.clear();
  group.outcomes.clear();
  group.results.clear();
  group.written.clear();
  group.superseded.clear();
  group.bytes = 0;
  return {};
}

/// Forgets what the group dispatched; its requests stay pending.
void DrumCore::Impl::abandon(Group& group) {
  group.outcomes.clear();
  splits_under_way = 0;
  store->drop_tentative();
  unlock_runs();
}

void DrumCore::Impl::unlock_runs() {
  const std::lock_guard lock(mutex);
  for (auto& bucket : state.buckets) bucket.locked_run_count = 0;
  look_for_full_buckets();
}

Result<void> DrumCore::Impl::start_group(MergeCall call, std::vector<PlannedMerge>& plan) {
  CRAWLSTORE_TRY(store->check_open());
  // What is planned is what was committed: nobody transfers in between.
  const StoreImpl::AllLocked locked(*store);
  CRAWLSTORE_TRY(check_usable());
  // Another thread may have merged meanwhile.
  if (call != MergeCall::kAll && !has_full_bucket) return {};
  if (options.durability == Durability::kNone) {
    CRAWLSTORE_TRY(transfer(arrays, false));
  } else if (const auto committed = store->commit_all(); !committed) {
    return tl::unexpected<Error>(committed.error());
  }
  plan = plan_merges(call == MergeCall::kFullBuckets);
  look_for_full_buckets();
  if (!plan.empty()) {
    ++state.merge_count;
    dirty = true;
  }
  return {};
}

Result<MergeReport> DrumCore::Impl::merge_planned(const std::vector<PlannedMerge>& plan) {
  container::Writer& writer = *store->writer;
  Group group;
  const bool parallel = current_options().parallel;
  using Outcome = Result<drum::MergeOutcome>;
  const auto start = [&](const PlannedMerge& planned) -> std::future<Outcome> {
    auto job = make_job(planned);
    if (!job) {
      return std::async(std::launch::deferred, [error = job.error()]() -> Outcome {
        return tl::unexpected<Error>(error);
      });
    }
    const auto run = [&writer, shared = std::make_shared<drum::MergeJob>(std::move(*job))] {
      return drum::merge_bucket(writer.storage(), writer.identity(), std::move(*shared));
    };
    if (parallel) {
      try {
        return std::async(std::launch::async, run);
      } catch (const std::system_error&) {  // no more threads: this one does it
      }
    }
    return std::async(std::launch::deferred, run);
  };
  const auto give_up = [&](const Error& error) -> Result<MergeReport> {
    abandon(group);
    return tl::unexpected<Error>(error);
  };

  std::future<Outcome> next = start(plan.front());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    Outcome outcome = next.get();
    if (!outcome) return give_up(outcome.error());
    // A slice needs the partition that the slice before it wrote: it starts after the commit.
    const bool has_next = i + 1 < plan.size();
    const bool may_overlap = has_next && plan[i].is_last_slice;
    if (may_overlap) next = start(plan[i + 1]);
    for (const auto& piece : outcome->pieces) group.bytes += piece.run.payload_bytes;
    group.report.request_count += outcome->request_count;
    group.report.unique_count += outcome->unique_count;
    group.report.duplicate_count += outcome->duplicate_count;
    group.report.new_key_count += outcome->key_count - outcome->job.old_key_count;
    ++group.report.bucket_count;
    Result<void> done = dispatch(group, *outcome);
    outcome->forget_answers();
    group.outcomes.push_back(std::move(*outcome));
    if (done && (!has_next || !may_overlap || group.total_bytes() >= kGroupBytes)) {
      done = finish_group(group);
    }
    if (!done) {
      if (may_overlap) next.wait();
      return give_up(done.error());
    }
    if (has_next && !may_overlap) next = start(plan[i + 1]);
  }
  return group.report;
}

Result<MergeReport> DrumCore::Impl::merge(MergeCall call) {
  if (store->in_dispatcher()) {
    return fail(Errc::kReentrant, "a merge was asked for from inside a dispatcher");
  }
  const std::lock_guard lock(store->mutex);
  return store->change([&] { return merge_locked(call); });
}

Result<MergeReport> DrumCore::Impl::merge_locked(MergeCall call) {
  std::vector<PlannedMerge> plan;
  CRAWLSTORE_TRY(start_group(call, plan));
  if (plan.empty()) return MergeReport{};
  const auto before = store->writer->storage().counters();
  auto report = merge_planned(plan);
  if (!report) return report;
  const auto after = store->writer->storage().counters();
  report->partition_read_seeks = after.read_seek_count - before.read_seek_count;
  report->partition_write_seeks = after.write_seek_count - before.write_seek_count;
  return report;
}

}  // namespace crawlstore
