// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "container/run.h"
#include "drum/shape.h"

namespace crawlstore::drum {

/// Returns the value that the last update or check_update of the key in a key run has, or nothing.
///   payload  aligned to 8 bytes
///   errors   kSegmentInvalid
///   cost     O(bytes of the payload)
Result<std::optional<std::vector<std::byte>>> find_in_run(std::span<const std::byte> payload,
                                                          Shape shape, Key16 key);

/// The keys of the updates and check_updates among some requests, sorted: a merge inserts them.
class InsertedKeys {
 public:
  /// Returns the inserted keys of a key run. errors kSegmentInvalid
  static Result<InsertedKeys> of_run(std::span<const std::byte> payload);

  /// cost: O(log n)
  [[nodiscard]] bool contains(Key16 key) const;
  [[nodiscard]] std::size_t size() const { return keys_.size() + wide_keys_.size(); }
  /// Adds the keys of `other`. cost: O(size of both)
  void merge(const InsertedKeys& other);

 private:
  std::vector<std::uint64_t> keys_;
  std::vector<Key16> wide_keys_;  // of 16-byte keys: keys_ is empty then
};

/// The keys that the runs of one bucket's log insert, in few lists: 8 or 16 bytes a key. Each call
/// compares them with the runs of the log as they are then.
class LoggedKeys {
 public:
  /// Whether one of the log's runs inserts the key. read(run) returns its payload, verified.
  ///   cost  O(log n) searches; each run is read once, and its keys are merged O(log n) times
  template <class Read>
  Result<bool> contain(std::span<const container::RunPtr> runs, Key16 key, const Read& read) {
    if (!covers_front_of(runs)) *this = {};
    for (; run_count_ < runs.size(); ++run_count_) {
      const Result<std::vector<std::byte>> payload = read(runs[run_count_]->ref());
      if (!payload) return tl::unexpected<Error>(payload.error());
      CRAWLSTORE_TRY(auto list, InsertedKeys::of_run(*payload));
      add(std::move(list));
      if (run_count_ == 0) first_run_ = runs.front()->ref().run_id;
      last_run_ = runs[run_count_]->ref().run_id;
    }
    return std::any_of(lists_.begin(), lists_.end(),
                       [&](const InsertedKeys& list) { return list.contains(key); });
  }

 private:
  /// Whether the runs that were read are still the first ones. Runs leave at the front, are joined
  /// at the end, and ids never return: so the first and the last tell for those between.
  [[nodiscard]] bool covers_front_of(std::span<const container::RunPtr> runs) const {
    return run_count_ == 0 ||
           (run_count_ <= runs.size() && runs.front()->ref().run_id == first_run_ &&
            runs[run_count_ - 1]->ref().run_id == last_run_);
  }
  void add(InsertedKeys list);

  std::size_t run_count_ = 0;
  RunId first_run_;
  RunId last_run_;
  std::vector<InsertedKeys> lists_;  // each has more than twice the keys of the next
};

}  // namespace crawlstore::drum
