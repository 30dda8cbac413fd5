// SPDX-License-Identifier: Apache-2.0
//
// What a merge found out becomes the state: partitions, logs, results.
#include <algorithm>
#include <utility>

#include "container/run_io.h"
#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

constexpr std::uint64_t kJoinedResultsBytesMax = std::uint64_t{256} << 20;

}  // namespace

Result<void> DrumCore::Impl::install_outcome(Group& group, drum::MergeOutcome& outcome) {
  const std::size_t index = state.bucket_of(outcome.job.first_key);
  drum::Bucket& bucket = state.buckets[index];
  const auto& job = outcome.job;
  splits_under_way -= job.piece_writers.size() - 1;
  // As they are now: a commit may have published them, or what was sealed, since the merge began.
  const std::size_t run_count = job.is_last_slice ? bucket.locked_run_count : job.key_runs.size();
  drum::LogRuns rest = bucket.pending;
  rest.drop_front(run_count);
  const auto& runs = bucket.pending;
  group.superseded.insert(group.superseded.end(), runs.keys.begin(),
                          runs.keys.end() - static_cast<std::ptrdiff_t>(rest.keys.size()));
  group.superseded.insert(group.superseded.end(), runs.auxes.begin(),
                          runs.auxes.end() - static_cast<std::ptrdiff_t>(rest.auxes.size()));
  bucket.pending = std::move(rest);
  bucket.locked_run_count -= run_count;
  if (job.is_last_slice) bucket.is_planned = false;
  if (!outcome.changed) return {};

  if (bucket.partition_run) group.superseded.push_back(*bucket.partition_run);
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
          for (const RawAnswer& answer : answers) joined.append(answer, state.shape());
          return {};
        }));
    group.superseded.push_back(runs[i]);
  }
  CRAWLSTORE_TRY(auto run,
                 joined.write(writer, consumer.results, writer.new_run_ids(1), state.value_bytes));
  group.written.push_back(run);
  runs.resize(first);
  runs.push_back(run);
  return {};
}

Result<void> DrumCore::Impl::install(Group& group) {
  container::Writer& writer = *store->writer;
  for (auto& outcome : group.outcomes) CRAWLSTORE_TRY(install_outcome(group, outcome));
  for (auto& consumer : state.consumers) {
    const auto results = group.results.find(consumer.id);
    if (results == group.results.end()) continue;
    if (!consumer.results) consumer.results = writer.new_segment_id();
    CRAWLSTORE_TRY(auto run, results->second.write(writer, consumer.results, writer.new_run_ids(1),
                                                   state.value_bytes));
    group.written.push_back(run);
    consumer.runs.push_back(run);
    consumer.result_count += results->second.count();
    CRAWLSTORE_TRY(join_results(consumer, group));
  }
  dirty = true;
  return {};
}

}  // namespace crawlstore
