// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An answer to the paper's open question, how T quickheaps side by side can have even work: a
/// quickheap that partitions ahead of need, a bounded number of comparisons in each extraction.
///
/// Pivots cut the entries, like those of a quickheap, into chunks that ascend and are not sorted
/// inside. A chunk of c entries behind d others is due when c > 2(d + R): then it is halved, so
/// that pivots lie at about R, 2R, 4R and so on before they are needed. A split goes on where it
/// stopped; meanwhile what is inserted into the chunk joins those that were not compared yet.
/// Nearer chunks come first. A chunk that is not ready when it is needed is finished at once.
///
/// Chunks are arrays of their own. In the paper's circular array a split that waits would be two
/// more borders that insertion moves, with an entry each, but without comparisons.
///
/// Threads: one a queue, and one for extract_exact(). Errors: none.

#include "paper_queues.h"

namespace crawlstore::bench {

class PaperAheadQueue final : public PaperQueue {
 public:
  /// Comparisons of an extraction, its own and ahead: `effort` * R * lg(2 * size / R), if there is
  /// work; 0: none ahead.
  PaperAheadQueue(double effort, std::uint64_t seed) : effort_(effort) { random_ = seed; }

  void insert_many(std::span<const PaperEntry> entries) override;
  std::vector<PaperEntry> extract_top(std::size_t count) override;
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::string check() const override;

  /// extract_top() without working ahead.
  std::vector<PaperEntry> take(std::size_t count);
  /// The end of extract_top(): works ahead, as much as is left of what this extraction may cost.
  void work_ahead(std::size_t count, std::uint64_t comparisons_before);

  // For extract_exact().
  /// Puts a border behind `key`: returns how many entries are not greater.
  std::size_t split_at(const PaperEntry& key);
  /// A random entry that is greater than `low`, or any, and not greater than `high`, both of which
  /// have borders. There is one.
  PaperEntry sample(const PaperEntry* low, const PaperEntry& high);
  /// A key that is not less than the lowest `count`, or all, and not much greater.
  PaperEntry bound_of(std::size_t count);

 private:
  struct Chunk {
    PaperEntry last;  ///< no entry is greater; of the first in chunks_, which is the end, unused
    std::vector<PaperEntry> entries;
    bool is_splitting = false;  ///< then some are in `low` or `high` already
    PaperEntry pivot;
    std::vector<PaperEntry> low;  ///< not greater than `pivot`
    std::vector<PaperEntry> high;
    [[nodiscard]] std::size_t size() const { return entries.size() + low.size() + high.size(); }
  };

  void begin_split(Chunk& chunk);
  /// Ends when `limit` comparisons were made in all.
  void go_on(std::size_t chunk, std::uint64_t limit);
  void finish(std::size_t chunk) { go_on(chunk, ~std::uint64_t{0}); }
  void cut_head(std::size_t count);

  double effort_;
  std::size_t size_ = 0;
  std::vector<Chunk> chunks_ = std::vector<Chunk>(1);  ///< descending: the head is at the back
};

/// Takes the lowest `count` of all queues, which have as many and no two equal entries, by one
/// threshold that they find together. An array for each queue.
///   serial_comparisons  those that one thread makes while the others wait are added
std::vector<std::vector<PaperEntry>> extract_exact(std::span<PaperAheadQueue* const> queues,
                                                   std::size_t count,
                                                   std::uint64_t& serial_comparisons);

}  // namespace crawlstore::bench
