// SPDX-License-Identifier: Apache-2.0
//
// The simulated memory, and the two binary heaps.
#include "paper_queues.h"

#include <algorithm>
#include <stdexcept>

namespace crawlstore::bench {
namespace {

/// A binary heap: keys_[i] is not greater than keys_[2i + 1] and keys_[2i + 2].
class PaperHeap final : public PaperQueue {
 public:
  PaperHeap(bool is_bottom_up, const PaperOptions& options)
      : is_bottom_up_(is_bottom_up), memory_(options.memory_blocks, work_) {}

  void insert_many(std::span<const PaperEntry> entries) override {
    for (const PaperEntry& entry : entries) {
      keys_.push_back(entry);
      rise(keys_.size() - 1, 0, entry);
    }
  }
  std::vector<PaperEntry> extract_top(std::size_t count) override {
    std::vector<PaperEntry> taken;
    for (count = std::min(count, keys_.size()); count > 0; --count) {
      taken.push_back(get(0));
      const PaperEntry last = get(keys_.size() - 1);
      keys_.pop_back();
      if (keys_.empty()) break;
      if (is_bottom_up_) {
        rise(fall_to_leaf(), 0, last);
      } else {
        fall(last);
      }
    }
    return taken;
  }
  std::vector<PaperEntry> extract_sorted(std::size_t count) override { return extract_top(count); }
  [[nodiscard]] std::size_t size() const override { return keys_.size(); }
  [[nodiscard]] std::string check() const override {
    for (std::size_t i = 1; i < keys_.size(); ++i) {
      if (keys_[i] < keys_[(i - 1) / 2]) return "a parent is greater than its child";
    }
    return "";
  }

 private:
  const PaperEntry& get(std::size_t i) {
    memory_.touch(i / kBlockEntries, PaperMemory::Use::kRead);
    return keys_[i];
  }
  void set(std::size_t i, const PaperEntry& entry) {
    memory_.touch(i / kBlockEntries, PaperMemory::Use::kWrite);
    keys_[i] = entry;
  }
  /// Puts the entry into the hole, or above it.
  void rise(std::size_t hole, std::size_t top, const PaperEntry& entry) {
    while (hole > top) {
      const std::size_t parent = (hole - 1) / 2;
      if (!work_.is_less(entry, get(parent))) break;
      set(hole, get(parent));
      hole = parent;
    }
    set(hole, entry);
  }
  std::size_t lower_child(std::size_t parent) {
    const std::size_t left = 2 * parent + 1;
    return left + 1 < keys_.size() && work_.is_less(get(left + 1), get(left)) ? left + 1 : left;
  }
  /// Puts the entry into the hole at the root, or below it.
  void fall(const PaperEntry& entry) {
    std::size_t hole = 0;
    while (2 * hole + 1 < keys_.size()) {
      const std::size_t child = lower_child(hole);
      if (!work_.is_less(get(child), entry)) break;
      set(hole, get(child));
      hole = child;
    }
    set(hole, entry);
  }
  /// Moves the hole at the root down to a leaf.
  std::size_t fall_to_leaf() {
    std::size_t hole = 0;
    while (2 * hole + 1 < keys_.size()) {
      const std::size_t child = lower_child(hole);
      set(hole, get(child));
      hole = child;
    }
    return hole;
  }

  bool is_bottom_up_;
  PaperMemory memory_;
  std::vector<PaperEntry> keys_;
};

}  // namespace

void PaperMemory::touch_counted(std::size_t block, Use use) {
  if (block >= states_.size()) states_.resize(block + 1);
  State& state = states_[block];
  if (state.is_resident) {
    used_.splice(used_.begin(), used_, state.place);
  } else {
    if (used_.size() == block_max_) {
      State& out = states_[victim ? victim() : used_.back()];
      if (out.is_dirty) ++work_->block_writes;
      out.is_stored |= out.is_dirty;
      out.is_dirty = out.is_resident = false;
      used_.erase(out.place);
    }
    if (state.is_stored && use != Use::kReplace) ++work_->block_reads;
    state.is_resident = true;
    state.place = used_.insert(used_.begin(), block);
  }
  state.is_dirty |= use != Use::kRead;
}

void PaperMemory::forget(std::size_t block) {
  if (block >= states_.size()) return;
  if (states_[block].is_resident) used_.erase(states_[block].place);
  states_[block] = {};
}

std::vector<PaperEntry> PaperQueue::extract_sorted(std::size_t count) {
  std::vector<PaperEntry> taken = extract_top(count);
  std::sort(taken.begin(), taken.end(),
            [&](const PaperEntry& a, const PaperEntry& b) { return work_.is_less(a, b); });
  return taken;
}

std::unique_ptr<PaperQueue> make_paper_heap(bool is_bottom_up, const PaperOptions& options) {
  return std::make_unique<PaperHeap>(is_bottom_up, options);
}

std::unique_ptr<PaperQueue> make_paper_queue(const std::string& name, const PaperOptions& options) {
  if (name == "heap" || name == "bottom-up") return make_paper_heap(name != "heap", options);
  if (name == "quickheap") return make_paper_quickheap(options);
  if (name == "tournament" || name == "filtered")
    return make_paper_tournament(name == "filtered", options);
  if (name == "ahead") return make_paper_ahead(options);
  throw std::invalid_argument("no such queue: " + name);
}

}  // namespace crawlstore::bench
