// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "queue/splitters.h"

namespace crawlstore::queue {

/// The entries that leave next, in memory: buckets of some hundred neighbours, each sorted when it
/// is about to leave. Threads: one at a time. Errors: none. Cost: an entry is moved once into its
/// bucket, once or twice when buckets split, and sorted among some hundred.
class NearEntries {
 public:
  NearEntries();

  [[nodiscard]] std::size_t size() const { return size_; }
  void insert(std::span<const Entry> entries);

  /// Takes up to `count` entries below `limit`, lowest first, and appends them.
  ///   is_sorted  false: they come in any order, and those of whole buckets without sorting
  ///   returns    how many
  std::size_t take(std::size_t count, const Entry& limit, bool is_sorted, std::vector<Entry>& out);

  /// Counts the entries equal to `entry`, below which there is none.
  [[nodiscard]] std::size_t count_first(const Entry& entry) const;

  /// Returns a bound with about `count` entries below it.
  [[nodiscard]] Entry bound_behind(std::size_t count) const;
  /// Forgets entries that are not below `bound`.
  void keep_below(const Entry& bound);

 private:
  struct Bucket {
    std::vector<Entry> entries;
    bool is_sorted = false;  // descending, so that the first to leave stands at the end
  };
  void split_full_buckets();
  void split(std::size_t number);
  void sort(Bucket& bucket);
  void drop_drained();

  Splitters splitters_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> full_;  // buckets that have to be split
  std::size_t first_ = 0;          // those before it are empty
  std::size_t size_ = 0;
  std::vector<Entry> room_;  // of sort_entries()
};

}  // namespace crawlstore::queue
