// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The requests of a DRUM that no file holds. Nothing here touches one.
///
/// Invariants:
/// - A request is in exactly one place: the array of its bucket, the tentative array, which has
///   those of the transaction that is being dispatched, or among the sealed ones.
/// - The arrival order in a bucket is: runs of its log, sealed requests, the array, the tentative
///   array. So before a run of newer requests is written, sealed requests and the array are.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/drum_core.h>

#include "drum/bucket_arrays.h"
#include "drum/key_ranges.h"
#include "drum/request_columns.h"
#include "drum/sealed_requests.h"

namespace crawlstore::drum {

/// The requests in memory, by bucket. Guarded by the DRUM's mutex.
class Inbox {
 public:
  explicit Inbox(Shape shape) : arrays(shape), shape_(shape) {}

  BucketArrays arrays;
  SealedRequests sealed;

  /// Adapts to buckets that were added or taken away, which have no requests here; the other ones
  /// keep theirs. `first_keys` ascend strictly; the first is 0.
  void reshape(std::vector<std::uint64_t> first_keys);
  /// Returns the bucket of a key, or of a head. O(1) for most.
  [[nodiscard]] std::size_t bucket_of(std::uint64_t head) const { return ranges_.find(head); }

  /// Takes leading keys of requests with this tag as long as arrays take them fast; returns their
  /// number.
  template <class Key>
  std::size_t append_plain(std::uint16_t tag, std::span<const Key> keys) {
    return arrays.append_plain(tag, keys, [this](std::uint64_t head) { return bucket_of(head); });
  }
  /// Appends to the tentative array of the bucket.
  void append_tentative(std::size_t bucket, const RawRequest& request) {
    append_to(tentative_[bucket], shape_, request);
  }
  [[nodiscard]] const RequestColumns& tentative(std::size_t bucket) const {
    return tentative_[bucket];
  }
  void drop_tentative(std::size_t bucket) { tentative_[bucket].clear(); }
  void drop_tentative();

  /// Seals the array of the bucket; the first of its requests has this sequence. Returns their
  /// number.
  std::uint64_t seal(std::size_t bucket, std::uint64_t first_sequence);

  /// Returns the value of the newest request that inserts the key, or nothing. Valid until the next
  /// append. Those of the transaction count on demand.
  [[nodiscard]] std::optional<std::span<const std::byte>> find(Key16 key,
                                                               bool in_transaction) const;
  [[nodiscard]] bool is_tentative(Key16 key) const;
  void prefetch_inserts(Key16 key) const;

  /// Returns the number of runs that the bucket's requests would make.
  [[nodiscard]] std::size_t run_count(std::size_t bucket) const;
  /// Whether the requests fill this memory, or one array a large part of it.
  [[nodiscard]] bool fills(std::uint64_t memory_bytes) const;
  /// Notes whether the bucket's array takes too much of this memory, until cool().
  void look_for_heat(std::size_t bucket, std::uint64_t memory_bytes);
  [[nodiscard]] bool has_hot_array() const { return has_hot_array_; }
  void cool() { has_hot_array_ = false; }
  /// Adds what is here to the status: pending_count, repeat_count, dropped_count, memory_bytes.
  void add_to(DrumStatus& status) const;

 private:
  const Shape shape_;
  KeyRanges ranges_;
  std::vector<RequestColumns> tentative_;  // by bucket, without the window
  bool has_hot_array_ = false;
};

}  // namespace crawlstore::drum
