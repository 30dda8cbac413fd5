// SPDX-License-Identifier: Apache-2.0
//
// The quickheap of the paper: a circular array that is sorted only where entries leave.
//
// Places [idx_, S[0]) hold the entries. S descends: a pivot stands at each place of S but S[0],
// nothing before a pivot is greater, nothing behind it is less. Insertion asks whether x < pivot
// where figure 4 asks pivot <= x: the same. Errata: R is at most the size, and places are taken
// modulo the capacity, which figure 5 does not say.
//
// In memory stay, while there is room, the blocks of pivots and the longest prefix: what is evicted
// is the block farthest behind without a pivot, but for two buffers. Blocks before idx_ are gone.

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "paper_queues.h"

namespace crawlstore::bench {
namespace {

class PaperQuickheap final : public PaperQueue {
 public:
  explicit PaperQuickheap(const PaperOptions& options)
      : capacity_((options.entry_max / kBlockEntries + 2) * kBlockEntries),
        has_disk_(options.memory_blocks != 0),
        memory_(options.memory_blocks, work_),
        heap_(capacity_) {
    random_ = options.seed;
    memory_.victim = [this] { return farthest(); };
  }

  void insert_many(std::span<const PaperEntry> entries) override {
    if (size() + entries.size() >= capacity_) throw std::length_error("the quickheap is full");
    for (const PaperEntry& entry : entries) insert(entry);
  }
  std::vector<PaperEntry> extract_top(std::size_t count) override {
    std::vector<PaperEntry> taken;
    count = std::min(count, size());
    if (count == 0) return taken;
    taken.reserve(count);
    const std::size_t final = idx_ + count - 1;
    while (final >= pivots_.back()) {
      report(pivots_.back(), taken);
      pivots_.pop_back();
    }
    if (idx_ <= final) {
      select(final);
      report(final, taken);
      pivots_.pop_back();
    }
    slide();
    return taken;
  }
  [[nodiscard]] std::size_t size() const override { return pivots_.front() - idx_; }
  [[nodiscard]] std::string check() const override {
    for (std::size_t i = 1; i < pivots_.size(); ++i) {
      const std::size_t pivot = pivots_[i];
      if (pivot >= pivots_[i - 1] || pivot < idx_) return "a pivot is out of place";
      for (std::size_t place = idx_; place < pivots_.front(); ++place) {
        const PaperEntry& key = heap_[place % capacity_];
        if (place < pivot ? heap_[pivot % capacity_] < key : key < heap_[pivot % capacity_])
          return "an entry is on the wrong side of a pivot";
      }
    }
    return "";
  }

  // For partition_keys().
  const PaperEntry& get(std::size_t place) {
    touch(place, PaperMemory::Use::kRead);
    return heap_[cell(place)];
  }
  void swap(std::size_t a, std::size_t b) {
    touch(a, PaperMemory::Use::kWrite);
    touch(b, PaperMemory::Use::kWrite);
    std::swap(heap_[cell(a)], heap_[cell(b)]);
  }

 private:
  /// The cell of a place below 2 * capacity_, which all are.
  [[nodiscard]] std::size_t cell(std::size_t place) const {
    return place < capacity_ ? place : place - capacity_;
  }
  [[nodiscard]] std::size_t block(std::size_t place) const { return cell(place) / kBlockEntries; }
  void touch(std::size_t place, PaperMemory::Use use) {
    if (!has_disk_) return;
    const bool was_resident = memory_.is_resident(block(place));
    memory_.touch(block(place), use);
    if (!was_resident) resident_.insert(block(place));
  }
  void set(std::size_t place, const PaperEntry& entry) {
    touch(place, PaperMemory::Use::kWrite);
    heap_[cell(place)] = entry;
  }

  void insert(const PaperEntry& entry) {
    std::size_t hole = pivots_.front()++;
    for (std::size_t i = 1; i < pivots_.size(); ++i) {
      const std::size_t pivot = pivots_[i];
      if (!work_.is_less(entry, get(pivot))) break;
      set(hole, get(pivot + 1));
      set(pivot + 1, get(pivot));
      hole = pivots_[i]++;
    }
    set(hole, entry);
  }
  void report(std::size_t last, std::vector<PaperEntry>& taken) {
    while (idx_ <= last) {
      taken.push_back(get(idx_++));
      if (has_disk_ && idx_ % kBlockEntries == 0 && block(idx_ - 1) != block(pivots_.front())) {
        memory_.forget(block(idx_ - 1));
        resident_.erase(block(idx_ - 1));
      }
    }
  }
  /// Quickselect in the first chunk; its pivots from `final` on stay.
  void select(std::size_t final) {
    std::size_t first = idx_;
    std::size_t end = pivots_.back();
    while (true) {
      const std::size_t chosen = first + random_below(end - first);
      const std::size_t pivot = partition_keys(*this, first, end, chosen, work_);
      if (pivot < final) {
        first = pivot + 1;
        continue;
      }
      pivots_.push_back(end = pivot);
      if (pivot == final) return;
    }
  }
  void slide() {
    if (idx_ < capacity_) return;
    idx_ -= capacity_;
    for (std::size_t& pivot : pivots_) pivot -= capacity_;
  }
  /// The resident block farthest from the head that has no pivot; if all have one, the farthest.
  /// Not the two used last, which are the buffers of a partition.
  std::size_t farthest() {
    const std::set<std::size_t> pivot_blocks = blocks_of_pivots();
    auto found = resident_.lower_bound(block(idx_));
    std::optional<std::size_t> chosen;
    for (std::size_t left = resident_.size(); left > 0; --left) {
      found = std::prev(found == resident_.begin() ? resident_.end() : found);
      if (memory_.is_recent(*found)) continue;
      if (!chosen) chosen = *found;
      if (pivot_blocks.count(*found) > 0) continue;
      chosen = *found;
      break;
    }
    resident_.erase(chosen.value());
    return *chosen;
  }
  [[nodiscard]] std::set<std::size_t> blocks_of_pivots() const {
    std::set<std::size_t> blocks;
    for (const std::size_t pivot : pivots_) blocks.insert(block(pivot));
    return blocks;
  }

  std::size_t capacity_;
  bool has_disk_;
  PaperMemory memory_;
  std::vector<PaperEntry> heap_;
  std::vector<std::size_t> pivots_ = {0};  ///< the paper's S; the first one is fictitious
  std::size_t idx_ = 0;
  std::set<std::size_t> resident_;
};

}  // namespace

std::unique_ptr<PaperQueue> make_paper_quickheap(const PaperOptions& options) {
  return std::make_unique<PaperQuickheap>(options);
}

}  // namespace crawlstore::bench
