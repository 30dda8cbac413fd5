// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The best that a store which answers at once can be given: requests are collected, sorted, freed
/// of repeats inside the batch, asked in ascending order, and answered in the order of arrival.
/// This is what a program around such a store would do; nothing of it is in crawlstore's driver.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "seen_run.h"

namespace crawlstore::bench {

/// Requests in the order of arrival, at most 2^24. A request takes 26 bytes, or 102 with value and
/// auxiliary.
class SeenBatch {
 public:
  SeenBatch(std::size_t capacity, bool has_aux);

  void add(std::uint64_t key);
  void add(const SeenRequest& request);
  /// Sorts; afterwards keys() and values() are those of the distinct keys, ascending.
  void sort();
  [[nodiscard]] std::span<const std::uint64_t> keys() const { return distinct_keys_; }
  /// The values that the first request of each key brought; empty in variant "key".
  [[nodiscard]] std::span<const std::uint64_t> values() const { return distinct_values_; }
  /// was_there[i] != 0: keys()[i] was known before this batch.
  [[nodiscard]] std::span<std::uint8_t> was_there() { return was_there_; }
  /// Answers every request in the order of arrival, then forgets them.
  void answer(Tally& answers);

 private:
  void sort_by_leading_bits();
  void order_equal_leading_bits();

  bool has_aux_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> values_;
  std::vector<AuxText> auxes_;
  /// The 40 leading bits of a key above the number of its request; then, once the distinct keys are
  /// known, the numbers of their first requests.
  std::vector<std::uint64_t> order_;
  std::vector<std::uint64_t> distinct_keys_;  ///< also the other half of the radix sort
  std::vector<std::uint64_t> distinct_values_;
  std::vector<std::uint8_t> was_there_;
  std::vector<bool> is_unique_;
};

/// A store that is asked in batches.
class SortedStore {
 public:
  SortedStore() = default;
  SortedStore(const SortedStore&) = delete;
  SortedStore& operator=(const SortedStore&) = delete;
  virtual ~SortedStore() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  /// The settings in words, for the line of JSON.
  [[nodiscard]] virtual std::string tuning() const = 0;
  /// Says which of the ascending, distinct keys were there, and inserts the others; `values` is
  /// empty in variant "key".
  virtual void check_update(std::span<const std::uint64_t> keys,
                            std::span<const std::uint64_t> values,
                            std::span<std::uint8_t> was_there) = 0;
  /// The value of a key that is there; 0 in variant "key".
  virtual std::optional<std::uint64_t> find(std::uint64_t key) = 0;
  /// Writes everything to the disk and closes. The clock does not run any more.
  virtual void close() = 0;
};

using OpenSortedStore = std::function<std::unique_ptr<SortedStore>(const SeenOptions&)>;

/// The whole of a driver's main(). A batch takes 28 % of the memory cap (at 256 MiB: 3 million
/// keys, or 740,000 with auxiliaries), or 8 million requests without a cap, unless --batch says it.
int sorted_main(int argc, char** argv, const OpenSortedStore& open,
                std::span<const OwnOption> own = {});

}  // namespace crawlstore::bench
