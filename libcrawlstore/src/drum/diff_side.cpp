// SPDX-License-Identifier: Apache-2.0
//
// Invariants: cursor_ stands at a key, or there are no more; a partition is left only when all its
// checksums were right.
#include "drum/diff_side.h"

#include <algorithm>

#include "base/inside.h"

namespace crawlstore::drum {

bool is_same_run(const format::RunRef& a, const format::RunRef& b) {
  return a.run_id == b.run_id && a.payload_bytes == b.payload_bytes && a.checksum == b.checksum;
}

std::optional<std::uint64_t> DiffSide::first_key(std::size_t bucket) const {
  if (bucket >= bucket_count()) return std::nullopt;
  return view_->buckets[bucket].first_key;
}

Result<std::optional<format::RunRef>> DiffSide::partition_run(std::size_t bucket) const {
  const SegmentId id = view_->buckets[bucket].partition;
  if (!id) return std::optional<format::RunRef>{};
  CRAWLSTORE_TRY(const auto entry, view_->segment(id));
  return std::optional<format::RunRef>(entry->runs.front());
}

std::uint64_t DiffSide::key_count(BucketSpan buckets) const {
  if (view_ == nullptr) return 0;
  return view_->first_rows[buckets.end] - view_->first_rows[buckets.first];
}

std::uint64_t DiffSide::pending_count(BucketSpan buckets) const {
  std::uint64_t count = 0;
  for (std::size_t b = buckets.first; b < buckets.end; ++b) {
    count += view_->buckets[b].pending_count;
  }
  return count;
}

Result<std::vector<format::RunRef>> DiffSide::log_runs(BucketSpan buckets) const {
  std::vector<format::RunRef> runs;
  for (std::size_t b = buckets.first; b < buckets.end; ++b) {
    if (!view_->buckets[b].key_log) continue;
    CRAWLSTORE_TRY(const auto entry, view_->segment(view_->buckets[b].key_log));
    runs.insert(runs.end(), entry->runs.begin(), entry->runs.end());
  }
  return runs;
}

Result<std::vector<WaitingRequest>> DiffSide::waiting(
    BucketSpan buckets, const std::vector<format::RunRef>& skipped) const {
  std::vector<WaitingRequest> requests;
  for (std::size_t b = buckets.first; b < buckets.end; ++b) {
    const SegmentId log = view_->buckets[b].key_log;
    CRAWLSTORE_TRY(const auto runs, log_runs({b, b + 1}));
    for (const auto& run : runs) {
      const bool is_skipped =
          std::any_of(skipped.begin(), skipped.end(),
                      [&run](const auto& other) { return is_same_run(run, other); });
      if (is_skipped) continue;
      CRAWLSTORE_TRY(const auto read,
                     PendingRun::read(Inside::of(view_->snapshot), log, run, nullptr));
      for (std::size_t i = 0; i < read->count(); ++i) {
        requests.push_back({read->sequence(i), read->key(i)});
      }
    }
  }
  std::sort(requests.begin(), requests.end());
  return requests;
}

Result<void> DiffSide::start(BucketSpan buckets) {
  cursor_.reset();
  left_ = buckets;
  return settle();
}

Result<void> DiffSide::advance() {
  CRAWLSTORE_TRY(cursor_->advance());
  return settle();
}

/// Goes to the next key, in this partition or a later one.
Result<void> DiffSide::settle() {
  while (!cursor_ || cursor_->at_end()) {
    if (cursor_) CRAWLSTORE_TRY(cursor_->finish());
    cursor_.reset();
    while (left_.first < left_.end && !view_->buckets[left_.first].partition) ++left_.first;
    if (left_.first == left_.end) return {};
    CRAWLSTORE_TRY(open(left_.first++));
  }
  return {};
}

Result<void> DiffSide::open(std::size_t bucket) {
  CRAWLSTORE_TRY(const auto run, partition_run(bucket));
  const auto& from = view_->buckets[bucket];
  auto& reader = Inside::of(view_->snapshot);
  const auto name = container::run_name(reader.identity(), from.partition, run->run_id);
  cursor_.emplace(*reader.storage(), name, run, from.key_count, view_->shape());
  return cursor_->start(from.first_key, view_->last_head(bucket));
}

}  // namespace crawlstore::drum
