// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What views of a DRUM share. Locks are held to look at maps, never while something is read: two
/// threads that need the same piece at once both read it, and the first one's is kept.

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
  std::vector<std::uint64_t> first_rows;  // of the keys of each bucket, then their number

  [[nodiscard]] drum::Shape shape() const { return {info.key_bytes, info.value_bytes}; }
  /// The number of the bucket of a key, or of a head.
  [[nodiscard]] std::size_t bucket_of(std::uint64_t head) const;
  /// The highest head that a bucket may hold.
  [[nodiscard]] std::uint64_t last_head(std::size_t bucket) const;

  /// A log that may have no runs. errors kSegmentInvalid: it is not there
  [[nodiscard]] Result<const format::SegmentEntry*> log(SegmentId id) const;
  /// errors kSegmentInvalid: it is not there, or has no runs
  [[nodiscard]] Result<const format::SegmentEntry*> segment(SegmentId id) const;
  /// Of a bucket that has keys.
  Result<std::shared_ptr<const drum::PartitionLookup>> partition(SegmentId id);
  /// The same, with rows from 0 to the bucket's key count.
  Result<std::shared_ptr<const drum::PartitionRows>> rows(const Bucket& bucket);
  /// A run of the bucket's key log, with its auxiliaries. The one asked for last is kept.
  Result<std::shared_ptr<const drum::PendingRun>> pending_run(const Bucket& bucket,
                                                              const format::RunRef& run);
  /// Does the run of that log hold an update or a check_update of the key?
  Result<bool> inserts(SegmentId key_log, RunId run, Key16 key);

 private:
  std::mutex mutex_;  // guards what follows
  std::map<SegmentId, std::shared_ptr<const drum::PartitionLookup>> lookups_;
  std::map<SegmentId, std::shared_ptr<const drum::PartitionRows>> rows_;
  std::map<RunId, std::shared_ptr<const drum::InsertedKeys>> inserted_keys_;
  std::shared_ptr<const drum::PendingRun> pending_run_;
};

}  // namespace crawlstore
