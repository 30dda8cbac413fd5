// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "drum/request_columns.h"

namespace crawlstore::drum {

/// Requests that were never in a log, in arrival order.
struct WaitingRequests {
  std::shared_ptr<const RequestColumns> columns;
  std::uint64_t first_sequence = 0;
};

/// Arrays that have their sequences: a merge has planned to take them, or has failed to. By bucket,
/// in arrival order.
class SealedRequests {
 public:
  using List = std::vector<WaitingRequests>;

  [[nodiscard]] static std::uint64_t bytes_of(const List& list) {
    std::uint64_t bytes = 0;
    for (const auto& waiting : list) bytes += waiting.columns->request_bytes();
    return bytes;
  }

  [[nodiscard]] const List& of(std::size_t bucket) const { return by_bucket_[bucket]; }
  [[nodiscard]] const std::vector<List>& all() const { return by_bucket_; }
  /// Returns the bytes of all, with those that were taken and not forgotten.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  void add(std::size_t bucket, RequestColumns columns, std::uint64_t first_sequence) {
    bytes_ += columns.request_bytes();
    by_bucket_[bucket].push_back(
        {std::make_shared<const RequestColumns>(std::move(columns)), first_sequence});
  }
  /// Takes those of a bucket, or gives them back.
  List take(std::size_t bucket) { return std::exchange(by_bucket_[bucket], {}); }
  void give_back(std::size_t bucket, List taken) { by_bucket_[bucket] = std::move(taken); }
  void forget(const List& taken) { bytes_ -= bytes_of(taken); }
  void drop_oldest(std::size_t bucket) {
    bytes_ -= by_bucket_[bucket].front().columns->request_bytes();
    by_bucket_[bucket].erase(by_bucket_[bucket].begin());
  }
  /// Sets the buckets, and returns the requests of those before.
  std::vector<List> exchange(std::vector<List> by_bucket) {
    return std::exchange(by_bucket_, std::move(by_bucket));
  }

  /// Returns the value of the newest request of the bucket that inserts the key, or nothing.
  ///   hash  InsertIndex::hash_of(key)
  [[nodiscard]] std::optional<std::span<const std::byte>> find(std::size_t bucket, Key16 key,
                                                               std::uint64_t hash) const {
    std::optional<std::span<const std::byte>> found;
    const List& list = by_bucket_[bucket];
    for (auto waiting = list.rbegin(); !found && waiting != list.rend(); ++waiting) {
      found = waiting->columns->find(key, hash);
    }
    return found;
  }

 private:
  std::vector<List> by_bucket_;
  std::uint64_t bytes_ = 0;
};

}  // namespace crawlstore::drum
