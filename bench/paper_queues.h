// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queues of "High-Performance Priority Queues for Parallel Crawlers" (Marin, Paredes, Bonacic,
/// WIDM 2008), and the heaps that it compares them with, all in RAM and with counters: so that its
/// claims can be measured. The queue of the library is another one.
///
/// The paper calls the highest priority the best; here the lowest entry leaves first, as in the
/// library, so the paper's MIN of a node is the last of its keys. Equal entries are kept.
///
/// Errors: std::length_error for more entries than there is room. Threads: one a queue.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "seen_stream.h"

namespace crawlstore::bench {

/// A key of 128 bits.
struct PaperEntry {
  std::uint64_t order = 0;
  std::uint64_t page = 0;
  friend auto operator<=>(const PaperEntry&, const PaperEntry&) = default;
};

struct PaperWork {
  std::uint64_t comparisons = 0;  ///< of keys
  std::uint64_t block_reads = 0;
  std::uint64_t block_writes = 0;

  bool is_less(const PaperEntry& a, const PaperEntry& b) {
    ++comparisons;
    return a < b;
  }
};

constexpr std::size_t kBlockEntries = 4096 / sizeof(PaperEntry);
constexpr std::size_t kBlockNumbers = 4096 / sizeof(std::uint32_t);

/// Blocks of a disk, of which a few are in memory. A block that was never written is not read.
/// LRU; a queue that knows better chooses the victim itself.
class PaperMemory {
 public:
  enum class Use { kRead, kWrite, kReplace };  ///< kReplace: all of it, so that it is not read

  /// 0 blocks: nothing is simulated. A queue's own choice needs at least three.
  PaperMemory(std::size_t block_max, PaperWork& work) : block_max_(block_max), work_(&work) {}

  void touch(std::size_t block, Use use) {
    if (block_max_ != 0) touch_counted(block, use);
  }
  /// Its bytes are of no use any more.
  void forget(std::size_t block);
  [[nodiscard]] bool is_resident(std::size_t block) const {
    return block < states_.size() && states_[block].is_resident;
  }
  /// Whether it is one of the two used last.
  [[nodiscard]] bool is_recent(std::size_t block) const {
    return used_.front() == block || *std::next(used_.begin()) == block;
  }
  std::function<std::size_t()> victim;  ///< a resident block; by default the least recently used

 private:
  struct State {
    bool is_resident = false;
    bool is_dirty = false;
    bool is_stored = false;
    std::list<std::size_t>::iterator place;
  };
  void touch_counted(std::size_t block, Use use);

  std::size_t block_max_;
  PaperWork* work_;
  std::vector<State> states_;
  std::list<std::size_t> used_;  ///< resident blocks, the last used first
};

class PaperQueue {
 public:
  PaperQueue() = default;
  PaperQueue(const PaperQueue&) = delete;
  PaperQueue& operator=(const PaperQueue&) = delete;
  virtual ~PaperQueue() = default;

  virtual void insert_many(std::span<const PaperEntry> entries) = 0;
  /// The lowest `count`, or all, in any order.
  virtual std::vector<PaperEntry> extract_top(std::size_t count) = 0;
  /// The same, ascending.
  virtual std::vector<PaperEntry> extract_sorted(std::size_t count);
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Returns the fault of the structure; nothing, if all is well.
  [[nodiscard]] virtual std::string check() const = 0;

  [[nodiscard]] const PaperWork& work() const { return work_; }

 protected:
  std::uint64_t random_below(std::uint64_t end) {
    return mix(random_ += 0x9E3779B97F4A7C15U) % end;
  }

  PaperWork work_;
  std::uint64_t random_ = 1;
};

struct PaperOptions {
  std::size_t entry_max = 0;      ///< of the quickheap: at once in the queue
  std::size_t chunk = 1;          ///< of the tournament: keys of a node, the paper's R
  std::size_t memory_blocks = 0;  ///< 0: no disk
  std::uint64_t seed = 1;
  double effort = 1.5;  ///< of PaperAheadQueue
};

/// heap: textbook, sifts down with two comparisons a level. bottom-up: Wegener's, goes down to a
/// leaf with one, then up. quickheap: figures 3 to 5. tournament: figures 1 and 2, with nodes of
/// `chunk` keys whose last one is remembered. filtered: a tournament that first leaves out, with a
/// comparison each, what cannot change nodes. ahead: PaperAheadQueue. Throws for other names.
std::unique_ptr<PaperQueue> make_paper_queue(const std::string& name, const PaperOptions& options);
std::unique_ptr<PaperQueue> make_paper_ahead(const PaperOptions& options);
std::unique_ptr<PaperQueue> make_paper_heap(bool is_bottom_up, const PaperOptions& options);
std::unique_ptr<PaperQueue> make_paper_quickheap(const PaperOptions& options);
std::unique_ptr<PaperQueue> make_paper_tournament(bool is_filtered, const PaperOptions& options);

/// Splits [first, last) by the key at `pivot`: before the place that is returned, where that key
/// is then, nothing is greater, behind it nothing less. `keys` has get(place) and
/// swap(place, place). About a comparison a key, for equal ones as well, which go to both sides.
template <class Keys>
std::size_t partition_keys(Keys& keys, std::size_t first, std::size_t last, std::size_t pivot,
                           PaperWork& work) {
  keys.swap(pivot, --last);
  const PaperEntry key = keys.get(last);
  std::size_t end = last;
  while (true) {
    while (first < end && work.is_less(keys.get(first), key)) ++first;
    while (first < end && work.is_less(key, keys.get(end - 1))) --end;
    if (end - first <= 1) break;
    keys.swap(first++, --end);
  }
  keys.swap(first, last);
  return first;
}

/// Keys in an array, for partition_keys().
struct PaperArray {
  std::span<PaperEntry> keys;
  [[nodiscard]] const PaperEntry& get(std::size_t i) const { return keys[i]; }
  void swap(std::size_t a, std::size_t b) const { std::swap(keys[a], keys[b]); }
};

/// Quickselect: puts at `place` what belongs there, lower ones before it.
template <class Random>
void select_keys(std::span<PaperEntry> keys, std::size_t place, PaperWork& work,
                 const Random& random_below) {
  PaperArray array{keys};
  std::size_t first = 0;
  std::size_t last = keys.size();
  while (last - first > 1) {
    const std::size_t middle =
        partition_keys(array, first, last, first + random_below(last - first), work);
    if (middle == place) return;
    (middle < place ? first : last) = middle < place ? middle + 1 : middle;
  }
}

}  // namespace crawlstore::bench
