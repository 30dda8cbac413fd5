// SPDX-License-Identifier: Apache-2.0
//
// Puts the outcomes of a merge into the state: partitions, logs, results.
#include <algorithm>
#include <utility>

#include "container/choose_join.h"
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
    drum::Bucket& written = i == 0 ? *place : *state.buckets.insert(place, drum::Bucket());
    if (i != 0) written.first_key = piece.first_key;
    written.partition = job.piece_segments[i];
    written.partition_run = store->writer->runs->add(written.partition, piece.run);
    written.lookup = nullptr;
    outcome.job.piece_writers[i].give_back();
    written.key_count = piece.key_count;
  }
  if (outcome.pieces.size() == 1) return {};
  group.report.split_count += outcome.pieces.size() - 1;
  return redistribute(index, outcome.pieces.size());
}

/// Joins the newest runs of a results log that has many. A joined run is read whole, so it holds at
/// most kJoinedResultsBytesMax.
Result<void> DrumCore::Impl::join_results(drum::Consumer& consumer) {
  auto& runs = consumer.runs;
  if (runs.size() <= format::kRunsPerLogMax / 2) return {};
  std::uint64_t bytes = 0;
  const auto bytes_of = [&](std::size_t i) { return runs[i]->ref().payload_bytes; };
  const auto fits = [&](std::size_t i) {
    if (bytes + bytes_of(i) > kJoinedResultsBytesMax) return false;
    bytes += bytes_of(i);
    return true;
  };
  const std::size_t first = container::choose_join(0, runs.size(), bytes_of, fits);
  if (runs.size() - first < 2) {
    if (runs.size() <= format::kRunsPerLogMax) return {};
    return fail(Errc::kTooLarge, "too many answers wait for a consumer; take its results");
  }
  container::Writer& writer = *store->writer;
  drum::ResultColumns joined;
  std::vector<std::byte> payload;
  for (std::size_t i = first; i < runs.size(); ++i) {
    const format::RunRef& run = runs[i]->ref();
    const auto name = container::run_name(writer.identity(), consumer.results, run.run_id);
    CRAWLSTORE_TRY(container::read_run(writer.storage(), name, run, payload));
    CRAWLSTORE_TRY(
        drum::for_each_answer(payload, [&](std::span<const RawAnswer> answers) -> Result<void> {
          for (const RawAnswer& answer : answers) joined.append(answer, state.shape());
          return {};
        }));
  }
  const format::RunLabel label{consumer.results, SegmentKind::kDrumResults, state.id,
                               writer.new_run_ids(1), runs[first]->ref().run_id.value};
  CRAWLSTORE_TRY(const auto run, joined.write(writer, label, state.value_bytes));
  runs.resize(first);
  runs.push_back(writer.runs->add(consumer.results, run));
  return {};
}

Result<void> DrumCore::Impl::install(Group& group) {
  container::Writer& writer = *store->writer;
  for (auto& outcome : group.outcomes) CRAWLSTORE_TRY(install_outcome(group, outcome));
  for (auto& consumer : state.consumers) {
    const auto results = group.results.find(consumer.id);
    if (results == group.results.end()) continue;
    if (!consumer.results) consumer.results = writer.new_segment_id();
    const format::RunLabel label{consumer.results, SegmentKind::kDrumResults, state.id,
                                 writer.new_run_ids(1)};
    CRAWLSTORE_TRY(auto run, results->second.write(writer, label, state.value_bytes));
    consumer.runs.push_back(writer.runs->add(consumer.results, run));
    consumer.result_count += results->second.count();
    CRAWLSTORE_TRY(join_results(consumer));
  }
  dirty = true;
  return {};
}

}  // namespace crawlstore
