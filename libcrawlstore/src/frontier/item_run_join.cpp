// SPDX-License-Identifier: Apache-2.0
#include "frontier/item_run_join.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "container/choose_join.h"

namespace crawlstore::frontier {
namespace {

/// More are joined: a look for the best item of a group asks each run that has it.
constexpr std::size_t kRunsMax = 8;
constexpr std::size_t kKeptMax = kRunsMax / 2;
constexpr std::uint64_t kDeadShare = 8;

/// Walks through the items of a run that have not left.
class ItemWalk {
 public:
  explicit ItemWalk(const WaitingRun& run) : run_(&run), items_(run.waiting_at(0)) {}

  /// Goes to the next item. Returns false behind the last one.
  Result<bool> next() {
    while (items_.begin == items_.end) {
      if (++place_ == run_->run->group_count()) return false;
      items_ = run_->waiting_at(place_);
    }
    const std::uint64_t number = items_.begin++;
    if (!has_block_ || number >= first_ + block_.items.size()) {
      const std::size_t block = run_->run->block_of(number);
      CRAWLSTORE_TRY(run_->run->read_block(block, block_));
      first_ = run_->run->first_item_of(block);
      has_block_ = true;
    }
    at_ = static_cast<std::size_t>(number - first_);
    return true;
  }
  [[nodiscard]] RunId run_id() const { return run_->run->id(); }
  [[nodiscard]] const format::Item& item() const { return block_.items[at_]; }
  [[nodiscard]] std::string_view body() const {
    const auto body = block_.body(at_);
    return {static_cast<const char*>(static_cast<const void*>(body.data())), body.size()};
  }

 private:
  const WaitingRun* run_;
  std::size_t place_ = 0;
  format::ItemRange items_;  // of the group there, that are to come
  format::ItemBlock block_;
  bool has_block_ = false;
  std::uint64_t first_ = 0;  // item of the block
  std::size_t at_ = 0;       // in the block
};

}  // namespace

Result<void> join_items(std::span<const WaitingRun> runs, DeadEntries& dead, ItemRunWriter& out) {
  std::vector<ItemWalk> walks;
  walks.reserve(runs.size());
  for (const WaitingRun& run : runs) {
    walks.emplace_back(run);
    CRAWLSTORE_TRY(const bool is_there, walks.back().next());
    if (!is_there) walks.pop_back();
  }
  while (!walks.empty()) {
    const auto first = std::ranges::min_element(walks, {}, &ItemWalk::item);
    const format::Item& item = first->item();
    if (dead.count(item.group, item.id, first->run_id()) != 0) {
      dead.take(item.group, item.id);
    } else {
      CRAWLSTORE_TRY(out.add(item, first->body()));
    }
    CRAWLSTORE_TRY(const bool is_there, first->next());
    if (is_there) continue;
    if (&*first != &walks.back()) std::swap(*first, walks.back());
    walks.pop_back();
  }
  return {};
}

std::vector<std::size_t> choose_item_join(const ItemsInRuns& items) {
  const auto& runs = items.runs;
  std::vector<std::size_t> chosen;
  std::vector<std::size_t> dense;
  std::uint64_t entry_count = 0;
  for (const WaitingRun& run : runs) entry_count += run.waiting_count;
  const bool has_many_dead = kDeadShare * items.dead.count() > entry_count;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_sparse = has_many_dead || 4 * runs[i].waiting_count < runs[i].run->item_count();
    (is_sparse ? chosen : dense).push_back(i);
  }
  if (dense.size() > kRunsMax) {
    std::ranges::stable_sort(dense, [&](std::size_t a, std::size_t b) {
      return runs[a].waiting_count > runs[b].waiting_count;
    });
    std::vector<std::uint64_t> sizes;
    sizes.reserve(dense.size());
    for (const std::size_t i : dense) sizes.push_back(runs[i].waiting_count);
    const std::size_t first = container::choose_join_to_few(sizes, kKeptMax);
    chosen.insert(chosen.end(), dense.begin() + static_cast<std::ptrdiff_t>(first), dense.end());
  }
  std::uint64_t count = 0;
  std::erase_if(
      chosen, [&](std::size_t i) { return (count += runs[i].waiting_count) > ItemRun::kItemsMax; });
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace crawlstore::frontier
