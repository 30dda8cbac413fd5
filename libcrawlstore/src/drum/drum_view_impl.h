// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The state that views of a DRUM share. Threads hold locks to look at maps, never while they read:
/// two threads that need one piece at once both read it, and the piece of the first is kept.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <crawlstore/drum_view.h>

#include "container/reader.h"
#include "drum/inserted_keys.h"
#include "drum/partition_rows.h"
#include "drum/pending_run.h"

namespace crawlstore {

struct DrumView::Impl {
  explicit Impl(const Snapshot& from) : snapshot(from) {}

  Snapshot snapshot;
  DrumInfo info;
  std::vector<Bucket> buckets;
  std::vector<std::uint64_t> first_rows;  // of each bucket's keys, then the number of all keys

  [[nodiscard]] drum::Shape shape() const { return {info.key_bytes, info.value_bytes}; }
  /// Returns the number of the bucket of a key, or of a head.
  [[nodiscard]] std::size_t bucket_of(std::uint64_t head) const;
  /// Returns the highest head that a bucket may hold.
  [[nodiscard]] std::uint64_t last_head(std::size_t bucket) const;

  /// Returns a log, which may have no runs. errors kSegmentInvalid: it is not there
  [[nodiscard]] Result<const format::SegmentEntry*> log(SegmentId id) const;
  /// Returns a segment that has runs. errors kSegmentInvalid: it is not there, or has no runs
  [[nodiscard]] Result<const format::SegmentEntry*> segment(SegmentId id) const;
  /// Returns the partition of a bucket that has keys.
  Result<std::shared_ptr<const drum::PartitionLookup>> partition(SegmentId id);
  /// Returns the rows of the bucket's partition, from 0 to the bucket's key count.
  Result<std::shared_ptr<const drum::PartitionRows>> rows(const Bucket& bucket);
  /// Returns a run of the bucket's key log, with its auxiliaries, and keeps it until the next one.
  Result<std::shared_ptr<const drum::PendingRun>> pending_run(const Bucket& bucket,
                                                              const format::RunRef& run);
  /// Whether the run of that log holds an update or a check_update of the key.
  Result<bool> inserts(SegmentId key_log, RunId run, Key16 key);

 private:
  std::mutex mutex_;  // guards the members below
  std::map<SegmentId, std::shared_ptr<const drum::PartitionLookup>> lookups_;
  std::map<SegmentId, std::shared_ptr<const drum::PartitionRows>> rows_;
  std::map<RunId, std::shared_ptr<const drum::InsertedKeys>> inserted_keys_;
  std::shared_ptr<const drum::PendingRun> pending_run_;
};

}  // namespace crawlstore
