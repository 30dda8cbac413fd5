// SPDX-License-Identifier: Apache-2.0
//
// Invariant: of a group the best items leave first, whatever run they are in; so the items that
// have left since a join began are the first ones in the new run, unless some are gone, or were
// there twice.
#include "frontier/item_join.h"

#include <algorithm>
#include <set>
#include <utility>

namespace crawlstore::frontier {

/// A run, as it was and as it is, at the place of a group or behind it.
struct ItemJoin::Pair {
  const WaitingRun* before = nullptr;
  const WaitingRun* now = nullptr;
  std::size_t place = 0;

  /// Goes to a group, which is above all before. Returns whether it is there.
  bool go_to(std::uint32_t group) {
    const ItemRun& run = *before->run;
    while (place < run.group_count() && run.group(place) < group) ++place;
    return place < run.group_count() && run.group(place) == group;
  }
};

ItemJoin::ItemJoin(std::vector<WaitingRun> runs) : runs_(std::move(runs)) {
  walks_.reserve(runs_.size());
  for (const WaitingRun& run : runs_) walks_.emplace_back(run);
}

bool ItemJoin::has(RunId run) const {
  return std::ranges::any_of(runs_, [run](const WaitingRun& of) { return of.run->id() == run; });
}

Result<void> ItemJoin::add_walk(ItemWalk& walk) {
  CRAWLSTORE_TRY(const bool is_there, walk.next());
  if (is_there) left_.push_back(&walk);
  return {};
}

Result<void> ItemJoin::advance(container::Writer& writer, SegmentId segment, SegmentId owner,
                               std::uint64_t item_count) {
  if (is_done_) return {};
  if (!out_) {
    ItemRunWriter::Size size;
    for (const WaitingRun& run : runs_) {
      size.item_count += run.waiting_count;
      size.group_count += run.run->group_count();
      size.body_bytes += run.run->body_bytes();
    }
    const format::RunLabel label{segment, SegmentKind::kFrontierItems, owner,
                                 writer.new_run_ids(1)};
    CRAWLSTORE_TRY(auto out, ItemRunWriter::start(writer, label, size, false));
    out_.emplace(std::move(out));
    for (ItemWalk& walk : walks_) CRAWLSTORE_TRY(add_walk(walk));
  }
  for (; item_count > 0 && !left_.empty(); --item_count) {
    const auto first = std::ranges::min_element(
        left_, {}, [](const ItemWalk* walk) -> const format::Item& { return walk->item(); });
    ItemWalk& walk = **first;
    CRAWLSTORE_TRY(out_->add(walk.item(), walk.body()));
    left_.erase(first);
    CRAWLSTORE_TRY(add_walk(walk));
  }
  if (!left_.empty()) return {};
  if (out_->item_count() != 0) {
    CRAWLSTORE_TRY(const auto ref, out_->finish());
    CRAWLSTORE_TRY(run_, ItemRun::open(writer.runs->add(segment, ref)));
  }
  left_out_ = out_->left_out();
  out_.reset();
  walks_.clear();
  is_done_ = true;
  return {};
}

Result<std::optional<WaitingRun>> ItemJoin::result(std::span<const WaitingRun> runs) const {
  if (run_ == nullptr) return std::optional<WaitingRun>();
  std::vector<Pair> all;
  for (const WaitingRun& before : runs_) {
    const auto now = std::ranges::find(runs, before.run->id(),
                                       [](const WaitingRun& of) { return of.run->id(); });
    if (now == runs.end()) {
      return fail(Errc::kSegmentInvalid, "a run of a frontier has gone while it was joined");
    }
    all.push_back({&before, &*now});
  }
  WaitingRun out(run_);
  std::vector<Pair> there;
  for (std::size_t place = 0; place < run_->group_count(); ++place) {
    there.clear();
    for (Pair& pair : all) {
      if (pair.go_to(run_->group(place))) there.push_back(pair);
    }
    CRAWLSTORE_TRY(leave(there, place, out));
  }
  if (out.waiting_count == 0) return std::optional<WaitingRun>();
  return std::optional(std::move(out));
}

/// Takes out of a group of the new run what has left it elsewhere.
Result<void> ItemJoin::leave(const std::vector<Pair>& pairs, std::size_t place,
                             WaitingRun& out) const {
  const std::uint32_t group = run_->group(place);
  std::uint64_t left_count = 0;
  bool is_prefix = !std::ranges::binary_search(left_out_, group, {}, &format::Item::group);
  for (const Pair& pair : pairs) {
    const auto before = pair.before->waiting_at(pair.place);
    const auto now = pair.now->waiting_at(pair.place);
    left_count += now.begin - before.begin - pair.before->gone.count(before.begin, now.begin);
    is_prefix = is_prefix && pair.now->gone.count(before.begin, now.end) ==
                                 pair.before->gone.count(before.begin, now.end);
  }
  if (!is_prefix) return leave_each(pairs, place, out);
  if (left_count != 0) out.leave(place, out.waiting_at(place).begin + left_count);
  return {};
}

/// The same, where items are gone: each that waits no more is gone.
Result<void> ItemJoin::leave_each(const std::vector<Pair>& pairs, std::size_t place,
                                  WaitingRun& out) const {
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> waiting;  // order and id
  std::vector<format::Item> block;
  const auto for_each_in = [&block](const WaitingRun& run, format::ItemRange items,
                                    const auto& of) -> Result<void> {
    while (items.begin < items.end) {
      const std::size_t number = run.run->block_of(items.begin);
      const std::uint64_t first = run.run->first_item_of(number);
      CRAWLSTORE_TRY(run.run->read_items(number, block));
      const std::uint64_t end = std::min(items.end, first + block.size());
      for (; items.begin < end; ++items.begin) of(items.begin, block[items.begin - first]);
    }
    return {};
  };
  for (const Pair& pair : pairs) {
    const auto note = [&](std::uint64_t number, const format::Item& item) {
      if (!pair.now->gone.has(number)) waiting.emplace(item.order, item.id);
    };
    CRAWLSTORE_TRY(for_each_in(*pair.now, pair.now->waiting_at(pair.place), note));
  }
  const auto take_out = [&](std::uint64_t number, const format::Item& item) {
    const auto found = waiting.find({item.order, item.id});
    if (found != waiting.end()) {
      waiting.erase(found);
      return;
    }
    out.gone.add(number);
    --out.waiting_count;
  };
  const auto items = out.waiting_at(place);
  CRAWLSTORE_TRY(for_each_in(out, items, take_out));
  out.leave(place, items.begin);
  return {};
}

}  // namespace crawlstore::frontier
