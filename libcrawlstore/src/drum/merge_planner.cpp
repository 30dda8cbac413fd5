// SPDX-License-Identifier: Apache-2.0
#include "drum/merge_planner.h"

#include <algorithm>

#include "base/assert.h"
#include "container/run_io.h"

namespace crawlstore::drum {

std::uint64_t MergePlanner::flight_bytes() const {
  return drum::flight_bytes(drum_.options.memory_bytes);
}

/// Plans all that waits for the bucket.
Result<void> MergePlanner::plan_bucket(std::size_t index, const KeyFilter* filter,
                                       std::vector<PlannedMerge>& plan) {
  Bucket& bucket = drum_.state.buckets[index];
  CRAWLSTORE_ASSERT(!bucket.is_planned);
  const std::uint64_t slice_max = drum_.slice_requests_max();
  std::uint64_t waiting = inbox_.arrays[index].key_count();
  for (const auto& sealed : inbox_.sealed.of(index)) waiting += sealed.columns->key_count();
  if (waiting > std::min<std::uint64_t>(slice_max + slice_max / 2, kSortCountMax)) {
    CRAWLSTORE_TRY(logs_.log_arrays(index, index + 1));
    waiting = 0;
  }
  if (const auto count = inbox_.seal(index, drum_.state.next_sequence); count != 0) {
    drum_.state.next_sequence += count;
    drum_.dirty = true;
  }
  const auto& sealed = inbox_.sealed.of(index);
  const bool is_filtered = filter != nullptr && bucket.partition_run != nullptr;
  if (bucket.pending.empty() && sealed.empty() && !is_filtered) return {};
  bucket.is_planned = true;
  bucket.locked_run_count = bucket.pending.keys.size();
  const auto runs = refs_of(bucket.pending.keys);
  BucketLoad load{bucket.first_key,
                  drum_.state.last_key(index),
                  runs,
                  waiting,
                  SealedRequests::bytes_of(sealed),
                  filter,
                  0};
  if (is_filtered) load.filtered_bytes = bucket.partition_run->ref().payload_bytes;
  const auto slices = plan_slices(load, slice_max);
  plan.insert(plan.end(), slices.begin(), slices.end());
  return {};
}

Result<std::vector<PlannedMerge>> MergePlanner::plan_merges(bool only_full,
                                                            const KeyFilter* filter) {
  std::vector<PlannedMerge> plan;
  const auto& buckets = drum_.state.buckets;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    if (only_full && !drum_.calls_for_merge(buckets[b])) continue;
    if (filter != nullptr && (drum_.state.last_key(b) < filter->first_head ||
                              filter->last_head < buckets[b].first_key)) {
      continue;
    }
    CRAWLSTORE_TRY(plan_bucket(b, filter, plan));
  }
  logs_.look_for_full_buckets();
  return plan;
}

/// Returns the bytes of the bucket's requests in memory that no merge has planned to take.
std::uint64_t MergePlanner::waiting_bytes(std::size_t bucket) const {
  return inbox_.arrays[bucket].request_bytes() +
         (drum_.state.buckets[bucket].is_planned
              ? 0
              : SealedRequests::bytes_of(inbox_.sealed.of(bucket)));
}

/// Whether a sweep takes the fullest bucket alone.
bool MergePlanner::takes_fullest() const {
  return inbox_.has_hot_array() || drum_.options.merge_scope == MergeScope::kFull;
}

BucketRange MergePlanner::next_in_sweep() const {
  const auto& buckets = drum_.state.buckets;
  const auto waiting = [this](std::size_t b) {
    kPartMutex.assert_held();
    return waiting_bytes(b);
  };
  if (takes_fullest()) return choose_fullest(buckets.size(), waiting);
  return choose_next(buckets.size(), drum_.state.bucket_of(sweep_key_), flight_bytes(), waiting,
                     [&](std::size_t b) { return buckets[b].is_planned; });
}

bool MergePlanner::next_sweep_is_planned() const {
  const BucketRange next = next_in_sweep();
  return next.empty() || drum_.state.buckets[next.first].is_planned;
}

/// Whether to merge the buckets from memory now, rather than log their requests.
bool MergePlanner::should_merge(BucketRange range) const {
  std::uint64_t partition_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t log_bytes = 0;
  for (std::size_t b = range.first; b < range.end; ++b) {
    const Bucket& bucket = drum_.state.buckets[b];
    if (drum_.calls_for_merge(bucket)) return true;
    if (bucket.partition_run) partition_bytes += bucket.partition_run->ref().payload_bytes;
    memory_bytes += inbox_.arrays[b].logged_bytes();
    for (const auto& sealed : inbox_.sealed.of(b)) memory_bytes += sealed.columns->logged_bytes();
    log_bytes +=
        bucket.pending.key_bytes + bucket.pending.aux_bytes +
        packing_saves(bucket.pending.request_count, drum_.state.last_key(b) - bucket.first_key);
  }
  return pays_to_merge(partition_bytes, memory_bytes, log_bytes);
}

Result<std::vector<PlannedMerge>> MergePlanner::plan_sweep() {
  std::vector<PlannedMerge> plan;
  const auto& buckets = drum_.state.buckets;
  const BucketRange next = next_in_sweep();
  if (next.empty()) return plan;
  if (!takes_fullest()) {
    if (sweep_key_ == 0) ++drum_.state.merge_count;
    sweep_key_ = next.end < buckets.size() ? buckets[next.end].first_key : 0;
  }
  inbox_.cool();
  if (!should_merge(next)) {
    CRAWLSTORE_TRY(logs_.log_arrays(next.first, next.end));
    return plan;
  }
  for (std::size_t b = next.first; b < next.end; ++b) {
    CRAWLSTORE_TRY(plan_bucket(b, nullptr, plan));
  }
  return plan;
}

Result<MergeJob> MergePlanner::make_job(const PlannedMerge& planned) {
  container::Writer& writer = drum_.writer();
  const DrumState& state = drum_.state;
  const std::size_t index = state.bucket_of(planned.first_key);
  const Bucket& bucket = state.buckets[index];
  const std::size_t run_count = planned.is_last_slice ? bucket.locked_run_count : planned.run_count;
  MergeJob job;
  const auto use = [&job](std::span<const container::RunPtr> runs) {
    for (const auto& run : runs) job.uses.push_back(container::Run::use(run));
    return refs_of(runs);
  };
  job.first_key = bucket.first_key;
  job.last_key = state.last_key(index);
  job.old_partition = bucket.partition;
  if (bucket.partition_run) job.old_run = use({&bucket.partition_run, 1}).front();
  job.old_key_count = bucket.key_count;
  job.key_log = bucket.key_log;
  job.aux_log = bucket.aux_log;
  job.shape = state.shape();
  job.filter = planned.filter;
  job.is_last_slice = planned.is_last_slice;
  if (planned.is_last_slice) job.waiting = inbox_.sealed.of(index);
  LogRuns rest = bucket.pending;
  rest.drop_front(run_count);
  const std::span auxes(bucket.pending.auxes);
  job.key_runs = use(std::span(bucket.pending.keys).first(run_count));
  job.aux_runs = use(auxes.first(auxes.size() - rest.auxes.size()));

  std::uint64_t requests = bucket.pending.request_count - rest.request_count;
  std::uint64_t value_bytes = bucket.pending.key_bytes - rest.key_bytes;
  for (const auto& waiting : job.waiting) {
    requests += waiting.columns->key_count();
    value_bytes += waiting.columns->value_bytes();
  }
  MergedSize merged{bucket.key_count + requests, 0, job.last_key - job.first_key, job.shape};
  merged.value_bytes =
      static_cast<std::uint64_t>(std::max(0, state.value_bytes)) * merged.key_count;
  if (state.value_bytes < 0) {
    merged.value_bytes =
        (job.old_run ? job.old_run->payload_bytes : 0) + merged.key_count * 4 + value_bytes;
  }
  const std::uint64_t count_max =
      format::kBucketsMax - state.buckets.size() - splits_under_way_ + 1;
  const Pieces pieces =
      choose_pieces(merged, planned.is_last_slice, drum_.options.partition_keys_max, count_max);
  splits_under_way_ += pieces.count - 1;
  job.piece_keys_max = pieces.keys_max;
  for (std::uint64_t piece = 0; piece < pieces.count; ++piece) {
    const bool takes_over = piece == 0 && bucket.partition;
    job.piece_segments.push_back(takes_over ? bucket.partition : writer.new_segment_id());
    const format::RunLabel label{job.piece_segments.back(), SegmentKind::kDrumPartition, state.id,
                                 writer.new_run_ids(1)};
    CRAWLSTORE_TRY(auto run, container::RunWriter::start(writer, label, pieces.bytes_max));
    job.piece_writers.emplace_back(std::move(run), job.shape);
  }
  return job;
}

void MergePlanner::end_job(const MergeJob& job) {
  splits_under_way_ -= job.piece_writers.size() - 1;
}

void MergePlanner::forget_plans() {
  splits_under_way_ = 0;
  for (auto& bucket : drum_.state.buckets) {
    bucket.locked_run_count = 0;
    bucket.is_planned = false;
  }
  logs_.look_for_full_buckets();
}

}  // namespace crawlstore::drum
