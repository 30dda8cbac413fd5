// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "drum/drum_view_impl.h"

namespace crawlstore::drum {

/// Buckets [first, end) of a view.
struct BucketSpan {
  std::size_t first = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t count() const { return end - first; }
};

/// A request as diffs compare it: sequences are unique in a DRUM, but not among stores.
struct WaitingRequest {
  std::uint64_t sequence = 0;
  Key16 key;
  auto operator<=>(const WaitingRequest&) const = default;
};

/// One of two states of a DRUM, which may not have the DRUM at all.
class DiffSide {
 public:
  explicit DiffSide(DrumView::Impl* view) : view_(view) {}

  [[nodiscard]] bool exists() const { return view_ != nullptr; }
  [[nodiscard]] const DrumView::Impl& view() const { return *view_; }
  [[nodiscard]] std::size_t bucket_count() const {
    return view_ == nullptr ? 0 : view_->buckets.size();
  }
  /// Returns the first key of a bucket; nothing after the last bucket.
  [[nodiscard]] std::optional<std::uint64_t> first_key(std::size_t bucket) const;
  /// Returns the bucket's partition; nothing if the bucket has no keys.
  Result<std::optional<format::RunRef>> partition_run(std::size_t bucket) const;
  [[nodiscard]] std::uint64_t key_count(BucketSpan buckets) const;
  [[nodiscard]] std::uint64_t pending_count(BucketSpan buckets) const;

  /// Returns the runs of the buckets' key logs.
  Result<std::vector<format::RunRef>> log_runs(BucketSpan buckets) const;
  /// Returns the requests in these logs, sorted, without those of the runs in `skipped`.
  Result<std::vector<WaitingRequest>> waiting(BucketSpan buckets,
                                              const std::vector<format::RunRef>& skipped) const;

  /// Goes to the first key of these buckets; advance() goes to the next.
  Result<void> start(BucketSpan buckets);
  [[nodiscard]] bool at_end() const { return !cursor_; }
  [[nodiscard]] Key16 key() const { return cursor_->key(); }
  [[nodiscard]] std::span<const std::byte> value() const { return cursor_->value(); }
  Result<void> advance();

 private:
  Result<void> settle();
  Result<void> open(std::size_t bucket);

  DrumView::Impl* view_;
  BucketSpan left_;  // buckets not begun yet
  std::optional<PartitionCursor> cursor_;
};

/// Whether both are one run with one content, in the two states of one store.
bool is_same_run(const format::RunRef& a, const format::RunRef& b);

}  // namespace crawlstore::drum
