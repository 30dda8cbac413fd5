// SPDX-License-Identifier: Apache-2.0
//
// The paper's complete binary tree (CBT), a tournament of nodes of n keys. Leaves are the places
// [N, 2N) of winners_, each with the id of an item; above them each place has the id that won below
// it, and no key of the winner is greater than one of the loser. The last key of an item is its
// greatest, so that the paper's MIN is at hand: it is known after each match without a comparison.
//
// Errata: the paper's figure 2 takes places for ids. Among equal keys it keeps more or fewer than
// n; here a match counts, and each item has n. Keys that fill no item wait in rest_.
//
// Blocks: items of n >= a block start in a block of their own, smaller ones share blocks; winners_
// and leaves_ are on the disk as well, for with a small n they are as large as the keys.
#include <algorithm>
#include <bit>

#include "paper_queues.h"

namespace crawlstore::bench {
namespace {

class PaperTournament final : public PaperQueue {
 public:
  PaperTournament(bool is_filtered, const PaperOptions& options)
      : is_filtered_(is_filtered), n_(options.chunk), memory_(options.memory_blocks, work_) {
    random_ = options.seed;
  }

  void insert_many(std::span<const PaperEntry> entries) override {
    rest_.insert(rest_.end(), entries.begin(), entries.end());
    std::size_t end = rest_.size();
    for (; end >= n_; end -= n_) insert_item(std::span(rest_).subspan(end - n_, n_));
    rest_.resize(end);
  }
  std::vector<PaperEntry> extract_top(std::size_t count) override {
    std::vector<PaperEntry> taken;
    taken.swap(rest_);
    for (std::size_t left = count; left > 0 && item_count_ > 0; left -= std::min(left, n_)) {
      const std::span<PaperEntry> best = item(winners_[1]);
      taken.insert(taken.end(), best.begin(), best.end());
      extract_item();
    }
    if (count < taken.size()) {
      select_keys(taken, count, work_, [&](std::uint64_t end) { return random_below(end); });
      insert_many(std::span(taken).subspan(count));
      taken.resize(count);
    }
    return taken;
  }
  [[nodiscard]] std::size_t size() const override { return item_count_ * n_ + rest_.size(); }

  [[nodiscard]] std::string check() const override {
    std::size_t free_count = 0;
    for (std::uint32_t id = free_; id != kNone; id = leaves_[id]) ++free_count;
    if (item_count_ + free_count != leaves_.size()) return "ids are lost";
    for (std::size_t place = item_count_; place < 2 * item_count_; ++place) {
      const auto keys = std::span(keys_).subspan(winners_[place] * n_, n_);
      if (leaves_[winners_[place]] != place) return "a leaf is not where its item says";
      if (std::ranges::max(keys) != keys.back())
        return "the last key of an item is not the greatest";
    }
    for (std::size_t place = 1; place < item_count_; ++place) {
      const std::uint32_t winner = winners_[place];
      std::uint32_t loser = winners_[2 * place];
      if (loser == winner)
        loser = winners_[2 * place + 1];
      else if (winners_[2 * place + 1] != winner)
        return "a winner was in no match";
      const auto keys = std::span(keys_).subspan(loser * n_, n_);
      if (std::ranges::min(keys) < keys_[winner * n_ + n_ - 1]) return "a loser has a lower key";
    }
    return "";
  }

 private:
  using Use = PaperMemory::Use;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::size_t kRegions = 3;  ///< of the disk: items, winners_, leaves_

  std::span<PaperEntry> item(std::uint32_t id) { return std::span(keys_).subspan(id * n_, n_); }
  void touch_item(std::uint32_t id, Use use) {
    const std::size_t length = (n_ + kBlockEntries - 1) / kBlockEntries;
    const std::size_t a_block = std::max<std::size_t>(kBlockEntries / n_, 1);
    if (a_block > 1 && use == Use::kReplace) use = Use::kWrite;
    const std::size_t first = id / a_block * length;
    for (std::size_t i = first; i < first + length; ++i) memory_.touch(i * kRegions, use);
  }
  std::uint32_t winner(std::size_t place) {
    memory_.touch(place / kBlockNumbers * kRegions + 1, Use::kRead);
    return winners_[place];
  }
  void set_winner(std::size_t place, std::uint32_t id) {
    memory_.touch(place / kBlockNumbers * kRegions + 1, Use::kWrite);
    winners_[place] = id;
  }
  std::uint32_t leaf(std::uint32_t id) {
    memory_.touch(id / kBlockNumbers * kRegions + 2, Use::kRead);
    return leaves_[id];
  }
  void set_leaf(std::uint32_t id, std::size_t place) {
    memory_.touch(id / kBlockNumbers * kRegions + 2, Use::kWrite);
    leaves_[id] = static_cast<std::uint32_t>(place);
  }
  /// The item is a leaf at this place.
  void put_leaf(std::uint32_t id, std::size_t place) {
    set_winner(place, id);
    set_leaf(id, place);
  }

  std::uint32_t new_id() {
    const std::uint32_t id = free_;
    if (id != kNone) {
      free_ = leaf(id);
      return id;
    }
    keys_.resize(keys_.size() + n_);
    leaves_.push_back(0);
    winners_.resize(2 * leaves_.size() + 2);
    return static_cast<std::uint32_t>(leaves_.size() - 1);
  }

  /// Figure 1.
  void insert_item(std::span<PaperEntry> keys) {
    for (PaperEntry& key : keys) {
      if (work_.is_less(keys.back(), key)) std::swap(keys.back(), key);
    }
    const std::uint32_t id = new_id();
    if (item_count_ == 0) {
      put_leaf(id, 1);
    } else {
      put_leaf(winner(item_count_), 2 * item_count_);
      put_leaf(id, 2 * item_count_ + 1);
      play_down(keys, 2 * item_count_ + 1);
    }
    ++item_count_;
    touch_item(id, Use::kReplace);
    std::ranges::copy(keys, item(id).begin());
  }
  /// From the root to the leaf: each winner keeps the best of its keys and of these, once.
  void play_down(std::span<PaperEntry> keys, std::size_t leaf_place) {
    std::uint32_t before = kNone;  // equal ids of a path are neighbours
    for (auto shift = std::bit_width(leaf_place) - 1; shift > 0; --shift) {
      const std::uint32_t id = winner(leaf_place >> shift);
      if (id == before) continue;
      before = id;
      touch_item(id, Use::kRead);
      bool is_changed = work_.is_less(keys.back(), item(id).back());
      if (is_changed) std::ranges::swap_ranges(keys, item(id));
      is_changed |= split(item(id), keys);
      if (is_changed) touch_item(id, Use::kWrite);
    }
  }

  /// The paper's deletion, then figure 2.
  void extract_item() {
    const std::uint32_t best = winner(1);
    touch_item(best, Use::kRead);
    const std::size_t parent = --item_count_;
    if (parent > 0) {
      const std::uint32_t stays = winner(parent);  // the winner of the two last leaves
      const std::uint32_t moves =
          winner(2 * parent) == stays ? winner(2 * parent + 1) : winner(2 * parent);
      put_leaf(stays, parent);
      const std::size_t hole = leaf(best);
      put_leaf(moves, hole);
      for (std::size_t place = hole / 2; place > 0; place /= 2) play(place);
    }
    set_leaf(best, free_);
    free_ = best;
  }
  void play(std::size_t place) {
    std::uint32_t low = winner(2 * place);
    std::uint32_t high = winner(2 * place + 1);
    touch_item(low, Use::kRead);
    touch_item(high, Use::kRead);
    if (work_.is_less(item(high).back(), item(low).back())) std::swap(low, high);
    set_winner(place, low);
    if (!split(item(low), item(high))) return;
    touch_item(low, Use::kWrite);
    touch_item(high, Use::kWrite);
  }

  /// Gives the lowest n keys of two items to `low`, which has the lower last key. The last key of
  /// `high` is the greatest of all and stays.
  ///   returns  false: nothing changed
  bool split(std::span<PaperEntry> low, std::span<PaperEntry> high) {
    pool_.assign(low.begin(), low.end());
    std::size_t kept = 0;  // keys of `high` that cannot change sides
    for (const PaperEntry& key : high.first(n_ - 1)) {
      if (is_filtered_ && !work_.is_less(key, low.back())) {
        high[kept++] = key;
      } else {
        pool_.push_back(key);
      }
    }
    if (pool_.size() == n_) return false;
    // The greatest of the pool is known when it was filtered.
    const std::size_t count = pool_.size();
    if (is_filtered_) std::swap(pool_[n_ - 1], pool_.back());
    select_keys(std::span(pool_).first(is_filtered_ ? count - 1 : count), n_ - 1, work_,
                [&](std::uint64_t end) { return random_below(end); });
    std::copy_n(pool_.begin(), n_, low.begin());
    std::copy(pool_.begin() + static_cast<std::ptrdiff_t>(n_), pool_.end(),
              high.begin() + static_cast<std::ptrdiff_t>(kept));
    return true;
  }

  bool is_filtered_;
  std::size_t n_;
  PaperMemory memory_;
  std::size_t item_count_ = 0;          ///< the paper's N
  std::vector<PaperEntry> keys_;        ///< Prio, by id
  std::vector<std::uint32_t> winners_;  ///< CBT
  std::vector<std::uint32_t> leaves_;   ///< Leaf, by id; of a free id the next one
  std::uint32_t free_ = kNone;
  std::vector<PaperEntry> rest_;  ///< fewer than n keys
  std::vector<PaperEntry> pool_;
};

}  // namespace

std::unique_ptr<PaperQueue> make_paper_tournament(bool is_filtered, const PaperOptions& options) {
  return std::make_unique<PaperTournament>(is_filtered, options);
}

}  // namespace crawlstore::bench
