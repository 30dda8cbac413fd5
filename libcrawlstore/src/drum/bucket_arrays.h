// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <crawlstore/drum_core.h>

#include "drum/recent_keys.h"
#include "drum/request_columns.h"

namespace crawlstore::drum {

/// An array of requests for each bucket, and the window of the keys inserted lately, by which
/// repeats in one array are noted or dropped.
class BucketArrays {
 public:
  explicit BucketArrays(Shape shape) : shape_(shape) {}

  /// Sets the size of the window, 0 where there are values, and what becomes of repeats.
  void tune(std::size_t recent_key_count, Repeats repeats);
  /// Sets empty arrays for so many buckets, and returns those before.
  std::vector<RequestColumns> exchange(std::size_t bucket_count);
  /// Gives requests back after exchange().
  void give_back(std::size_t bucket, RequestColumns columns) {
    arrays_[bucket] = std::move(columns);
  }

  [[nodiscard]] std::size_t size() const { return arrays_.size(); }
  [[nodiscard]] const RequestColumns& operator[](std::size_t bucket) const {
    return arrays_[bucket];
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  void append(std::size_t bucket, const RawRequest& request);
  /// Takes leading keys, std::uint64_t or Key16 as the DRUM's, as long as arrays take them fast;
  /// returns their number.
  ///   bucket_of(head)
  template <class Key, class BucketOf>
  std::size_t append_plain(std::uint16_t tag, std::span<const Key> keys,
                           const BucketOf& bucket_of) {
    return recent_.is_awake() ? append_keys<true>(tag, keys, bucket_of)
                              : append_keys<false>(tag, keys, bucket_of);
  }
  /// Takes the requests of a bucket.
  RequestColumns take(std::size_t bucket) {
    bytes_ -= arrays_[bucket].request_bytes();
    return arrays_[bucket].take();
  }
  /// Adds the window and the counts of repeats.
  void add_to(DrumStatus& status) const;

 private:
  static constexpr std::size_t kLookAhead = 24;  // slots on their way from the memory

  template <bool kLooks, class Key, class BucketOf>
  std::size_t append_keys(std::uint16_t tag, std::span<const Key> keys, const BucketOf& bucket_of);

  const Shape shape_;
  std::shared_ptr<SlabPool> pool_ = std::make_shared<SlabPool>();
  std::vector<RequestColumns> arrays_;
  RecentKeys recent_;
  bool drops_repeats_ = false;
  std::uint64_t bytes_ = 0;  // of the requests
  std::uint64_t repeat_count_ = 0;
  std::uint64_t dropped_count_ = 0;
};

/// Appends a request to columns.
void append_to(RequestColumns& columns, Shape shape, const RawRequest& request);

template <bool kLooks, class Key, class BucketOf>
std::size_t BucketArrays::append_keys(std::uint16_t tag, std::span<const Key> keys,
                                      const BucketOf& bucket_of) {
  const bool drops = drops_repeats_;
  const bool inserts = format::operation_of(tag) != format::Operation::kCheck;
  std::uint64_t key_count = 0;
  std::uint64_t repeats = 0;
  if constexpr (kLooks) {
    recent_.wake();
    for (const Key key : keys.first(std::min(kLookAhead, keys.size()))) {
      recent_.prefetch(RecentKeys::name_of(key));
    }
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    const std::uint64_t name = RecentKeys::name_of(key);
    if (kLooks && i + kLookAhead < keys.size()) {
      recent_.prefetch(RecentKeys::name_of(keys[i + kLookAhead]));
    }
    RequestColumns& columns = arrays_[bucket_of(Key16{key}.head)];
    const std::size_t repeated = kLooks ? recent_.find(name, columns.number()) : recent_.kNotFound;
    if (kLooks && repeated != recent_.kNotFound && (drops || columns.can_repeat(repeated)) &&
        columns.has_key(repeated, key)) {
      if (!drops && !columns.takes_plain_repeat(tag)) break;
      if (!drops) columns.append_plain_repeat(repeated);
      ++repeats;
      continue;
    }
    if (!columns.takes_plain_key(tag)) break;
    if (kLooks && inserts) recent_.note(name, columns.number(), columns.key_count());
    columns.append_plain_key(key);
    ++key_count;
  }
  recent_.count(key_count + repeats, repeats);
  (drops ? dropped_count_ : repeat_count_) += repeats;
  bytes_ += key_count * sizeof(Key) + (drops ? 0 : repeats * RequestColumns::kPlainRepeatBytes);
  return key_count + repeats;
}

}  // namespace crawlstore::drum
