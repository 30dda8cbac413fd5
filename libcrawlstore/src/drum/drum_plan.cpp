// SPDX-License-Identifier: Apache-2.0
//
// Which requests a merge takes, and when it is cheaper to log them first.
//
// Invariants: a planned bucket keeps its leading locked_run_count runs and its sealed requests
// until its merge is installed or given up; later requests go after them.
#include <algorithm>

#include "base/assert.h"
#include "container/run_io.h"
#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

/// Bytes of values in a piece of a partition; twice as many are cut, as the format ends at 32 GiB.
constexpr std::uint64_t kPieceValueBytes = std::uint64_t{8} << 30;

std::uint64_t total_bytes(const std::vector<drum::WaitingRequests>& sealed) {
  std::uint64_t bytes = 0;
  for (const auto& waiting : sealed) bytes += waiting.columns->request_bytes();
  return bytes;
}

}  // namespace

/// Gives the requests of the bucket's array their sequences.
void DrumCore::Impl::seal(std::size_t bucket) {
  drum::RequestColumns& columns = arrays[bucket];
  if (columns.empty()) return;
  array_bytes -= columns.request_bytes();
  sealed_bytes += columns.request_bytes();
  const std::uint64_t count = columns.count();
  auto taken = std::make_shared<const drum::RequestColumns>(columns.take());
  sealed[bucket].push_back({std::move(taken), drum.state.next_sequence});
  drum.state.next_sequence += count;
  drum.dirty = true;
}

void DrumCore::Impl::forget_sealed(const std::vector<drum::WaitingRequests>& answered) {
  sealed_bytes -= total_bytes(answered);
}

/// Plans all that waits for the bucket, in slices that fit the memory. A filter is asked in the
/// last one, when the values are known; it has the bucket merged even if nothing waits.
Result<void> DrumCore::Impl::plan_bucket(std::size_t index, const drum::KeyFilter* filter,
                                         std::vector<PlannedMerge>& plan) {
  drum::Bucket& bucket = drum.state.buckets[index];
  CRAWLSTORE_ASSERT(!bucket.is_planned);
  std::uint64_t waiting = arrays[index].key_count();
  for (const auto& columns : sealed[index]) waiting += columns.columns->key_count();
  const std::uint64_t slice_max = slice_requests_max();
  if (waiting > std::min<std::uint64_t>(slice_max + slice_max / 2, drum::kSortCountMax)) {
    CRAWLSTORE_TRY(transfer_arrays(index, index + 1));
    waiting = 0;
  }
  seal(index);
  const bool is_filtered = filter != nullptr && bucket.partition_run != nullptr;
  if (bucket.pending.empty() && sealed[index].empty() && !is_filtered) return {};
  bucket.is_planned = true;
  bucket.locked_run_count = bucket.pending.keys.size();
  PlannedMerge slice{bucket.first_key, 0, 0, false};
  std::uint64_t requests = 0;
  const auto begin_slice = [&](std::uint64_t count) {
    if (requests != 0 && requests + count > slice_max) {
      plan.push_back(slice);
      slice = {bucket.first_key, 0, 0, false};
      requests = 0;
    }
    requests += count;
  };
  for (const format::RunRef& run : drum::refs_of(bucket.pending.keys)) {
    begin_slice(run.record_count);
    ++slice.run_count;
    slice.request_bytes +=
        run.payload_bytes +
        drum::packing_saves(run.record_count, drum.state.last_key(index) - bucket.first_key);
  }
  if (waiting != 0) begin_slice(waiting);
  slice.request_bytes += total_bytes(sealed[index]);
  slice.is_last_slice = true;
  slice.filter = filter;
  if (is_filtered) slice.filtered_bytes = bucket.partition_run->ref().payload_bytes;
  plan.push_back(slice);
  return {};
}

Result<std::vector<DrumCore::Impl::PlannedMerge>> DrumCore::Impl::plan_merges(
    bool only_full, const drum::KeyFilter* filter) {
  std::vector<PlannedMerge> plan;
  for (std::size_t b = 0; b < drum.state.buckets.size(); ++b) {
    if (only_full && !calls_for_merge(drum.state.buckets[b])) continue;
    if (filter != nullptr && (drum.state.last_key(b) < filter->first_head ||
                              filter->last_head < drum.state.buckets[b].first_key)) {
      continue;
    }
    CRAWLSTORE_TRY(plan_bucket(b, filter, plan));
  }
  return plan;
}

/// Returns the bytes of the bucket's requests in memory that no merge has planned to take.
std::uint64_t DrumCore::Impl::waiting_bytes(std::size_t bucket) const {
  return arrays[bucket].request_bytes() +
         (drum.state.buckets[bucket].is_planned ? 0 : total_bytes(sealed[bucket]));
}

/// Whether to merge the buckets [first, end) from memory now, rather than log their requests.
bool DrumCore::Impl::should_merge(std::size_t first, std::size_t end) const {
  std::uint64_t partition_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t log_bytes = 0;
  for (std::size_t b = first; b < end; ++b) {
    const drum::Bucket& bucket = drum.state.buckets[b];
    if (bucket.partition_run) partition_bytes += bucket.partition_run->ref().payload_bytes;
    memory_bytes += arrays[b].logged_bytes();
    for (const auto& waiting : sealed[b]) memory_bytes += waiting.columns->logged_bytes();
    log_bytes += bucket.pending.key_bytes + bucket.pending.aux_bytes +
                 drum::packing_saves(bucket.pending.request_count,
                                     drum.state.last_key(b) - bucket.first_key);
    if (calls_for_merge(bucket)) return true;
  }
  return drum::pays_to_merge(partition_bytes, memory_bytes, log_bytes);
}

/// Returns the bucket of the next automatic merge from memory, or bucket_count if none waits.
std::size_t DrumCore::Impl::next_in_sweep() const {
  const std::size_t count = drum.state.buckets.size();
  if (has_hot_array || drum.options.merge_scope == MergeScope::kFull) {
    std::size_t fullest = 0;
    for (std::size_t b = 1; b < count; ++b) {
      if (waiting_bytes(b) > waiting_bytes(fullest)) fullest = b;
    }
    return waiting_bytes(fullest) != 0 ? fullest : count;
  }
  const std::size_t first = drum.state.bucket_of(sweep_key);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t bucket = (first + i) % count;
    if (waiting_bytes(bucket) != 0) return bucket;
  }
  return count;
}

/// Whether the flight under way must end before the next can begin.
bool DrumCore::Impl::next_sweep_is_planned() const {
  const std::lock_guard lock(mutex);
  const std::size_t first = next_in_sweep();
  return first == drum.state.buckets.size() || drum.state.buckets[first].is_planned;
}

/// Takes the next buckets' requests out of the arrays: returns the merges to make, or nothing when
/// they were logged.
Result<std::vector<DrumCore::Impl::PlannedMerge>> DrumCore::Impl::plan_sweep() {
  std::vector<PlannedMerge> plan;
  const std::size_t count = drum.state.buckets.size();
  const std::size_t first = next_in_sweep();
  if (first == count) return plan;
  const bool one_only = has_hot_array || drum.options.merge_scope == MergeScope::kFull;
  std::size_t end = first + 1;
  std::uint64_t bytes = waiting_bytes(first);
  while (!one_only && end < count && !drum.state.buckets[end].is_planned &&
         bytes + waiting_bytes(end) / 2 < flight_bytes()) {
    bytes += waiting_bytes(end++);
  }
  has_hot_array = false;
  if (!one_only) {
    if (sweep_key == 0) ++drum.state.merge_count;
    sweep_key = end < count ? drum.state.buckets[end].first_key : 0;
  }
  if (!should_merge(first, end)) {
    CRAWLSTORE_TRY(transfer_arrays(first, end));
    return plan;
  }
  for (std::size_t b = first; b < end; ++b) CRAWLSTORE_TRY(plan_bucket(b, nullptr, plan));
  return plan;
}

/// Returns the job of a planned merge, with reserved extents for all that it will write.
Result<drum::MergeJob> DrumCore::Impl::make_job(const PlannedMerge& planned) {
  const std::lock_guard lock(mutex);
  container::Writer& writer = *store->writer;
  const std::size_t index = drum.state.bucket_of(planned.first_key);
  const drum::Bucket& bucket = drum.state.buckets[index];
  const std::size_t run_count = planned.is_last_slice ? bucket.locked_run_count : planned.run_count;
  drum::MergeJob job;
  const auto use = [&job](std::span<const container::RunPtr> runs) {
    for (const auto& run : runs) job.uses.push_back(container::Run::use(run));
    return drum::refs_of(runs);
  };
  job.first_key = bucket.first_key;
  job.last_key = drum.state.last_key(index);
  job.old_partition = bucket.partition;
  if (bucket.partition_run) job.old_run = use({&bucket.partition_run, 1}).front();
  job.old_key_count = bucket.key_count;
  job.key_log = bucket.key_log;
  job.aux_log = bucket.aux_log;
  job.shape = drum.state.shape();
  drum::LogRuns rest = bucket.pending;
  rest.drop_front(run_count);
  const std::span auxes(bucket.pending.auxes);
  job.key_runs = use(std::span(bucket.pending.keys).first(run_count));
  job.aux_runs = use(auxes.first(auxes.size() - rest.auxes.size()));

  std::uint64_t requests = bucket.pending.request_count - rest.request_count;
  std::uint64_t value_bytes = bucket.pending.key_bytes - rest.key_bytes;
  job.is_last_slice = planned.is_last_slice;
  if (planned.is_last_slice) job.waiting = sealed[index];
  for (const auto& waiting : job.waiting) {
    requests += waiting.columns->key_count();
    value_bytes += waiting.columns->value_bytes();
  }
  const std::uint64_t keys_max = bucket.key_count + requests;
  std::uint64_t value_total =
      static_cast<std::uint64_t>(std::max(0, drum.state.value_bytes)) * keys_max;
  if (drum.state.value_bytes < 0) {
    value_total = (job.old_run ? job.old_run->payload_bytes : 0) + keys_max * 4 + value_bytes;
  }
  job.piece_keys_max = keys_max;
  if (planned.is_last_slice && keys_max > drum.options.partition_keys_max) {
    job.piece_keys_max = drum.options.partition_keys_max / 2;
  }
  if (planned.is_last_slice && value_total > 2 * kPieceValueBytes) {
    const std::uint64_t parts = value_total / kPieceValueBytes + 1;
    job.piece_keys_max = std::min(job.piece_keys_max, (keys_max + parts - 1) / parts);
  }
  std::uint64_t pieces = (keys_max + job.piece_keys_max - 1) / job.piece_keys_max;
  if (drum.state.buckets.size() + splits_under_way + pieces - 1 > format::kBucketsMax) {
    pieces = format::kBucketsMax - drum.state.buckets.size() - splits_under_way + 1;
    job.piece_keys_max = (keys_max + pieces - 1) / pieces;
  }
  splits_under_way += pieces - 1;
  // Keys with one head go beyond piece_keys_max: any piece may take all.
  const std::uint64_t reserved_keys =
      job.shape.is_wide() && pieces > 1 ? keys_max : job.piece_keys_max;
  if (drum.state.value_bytes >= 0) {
    value_total = static_cast<std::uint64_t>(drum.state.value_bytes) * reserved_keys;
  }
  const std::uint64_t piece_bytes_max = drum::partition_bytes_max(
      reserved_keys, job.last_key - job.first_key, value_total, job.shape.is_wide());
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const bool takes_over = piece == 0 && bucket.partition;
    job.piece_segments.push_back(takes_over ? bucket.partition : writer.new_segment_id());
    const format::RunLabel label{job.piece_segments.back(), SegmentKind::kDrumPartition,
                                 drum.state.id, writer.new_run_ids(1)};
    CRAWLSTORE_TRY(auto run, container::RunWriter::start(writer, label, piece_bytes_max));
    job.piece_writers.emplace_back(std::move(run), job.shape);
  }
  return job;
}

}  // namespace crawlstore
