// SPDX-License-Identifier: Apache-2.0
//
// The items of a checkpoint: runs of what was in memory, joins, and runs with other orders.
#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "frontier/item_run_join.h"
#include "frontier/version.h"

namespace crawlstore::frontier {
namespace {

/// More are joined in one go: a group has a bit for each of WaitingRuns::kMax.
constexpr std::size_t kRunsUntilJoin = 24;
/// About the bytes of an item in a piece, besides its body.
constexpr std::uint64_t kItemBytes = 16;

bool is_new(const Item& item) {
  return item.attempt == 0;
}

/// Adds all items that were never taken, and may be.
Result<void> add_new_items(const State& state, ItemRunWriter& out) {
  std::vector<const Item*> items;
  for (std::uint32_t group = 0; group < state.groups().count(); ++group) {
    items.clear();
    for (const Item& item : state.groups()[group].items.all()) {
      if (is_new(item)) items.push_back(&item);
    }
    std::ranges::sort(items, [](const Item* a, const Item* b) { return leaves_before(*a, *b); });
    for (const Item* item : items) {
      CRAWLSTORE_TRY(const std::string body, item->body.text());
      CRAWLSTORE_TRY(out.add({.group = group, .order = item->order, .id = item->id}, body));
    }
  }
  return {};
}

format::Item item_of(const LaterItem& later) {
  return {later.time, later.group, later.item.order, later.item.id};
}

/// Adds all items that were never taken, and may be later.
Result<void> add_new_later_items(const State& state, ItemRunWriter& out) {
  std::vector<const LaterItem*> items;
  for (const LaterItem& later : state.later().held()) {
    if (is_new(later.item)) items.push_back(&later);
  }
  std::ranges::sort(items, {}, [](const LaterItem* later) { return item_of(*later); });
  for (const LaterItem* later : items) {
    CRAWLSTORE_TRY(const std::string body, later->item.body.text());
    CRAWLSTORE_TRY(out.add(item_of(*later), body));
  }
  return {};
}

void count_item(const Item& item, ItemRunWriter::Size& size) {
  if (!is_new(item)) return;
  ++size.item_count;
  size.body_bytes += item.body.held_bytes();
}

}  // namespace

/// Tells whether items should be in a run: they have half the bytes of a checkpoint, or more.
bool VersionWriter::fills_run(const ItemRunWriter::Size& size) const {
  return size.item_count != 0 && size.item_count <= ItemRun::kItemsMax &&
         size.body_bytes + kItemBytes * size.item_count >= checkpoint_bytes_ / 2;
}

Result<void> VersionWriter::write_items(Written& next, const State& state) {
  ItemRunWriter::Size size;
  for (std::uint32_t group = 0; group < state.groups().count(); ++group) {
    const std::uint64_t count_before = size.item_count;
    for (const Item& item : state.groups()[group].items.all()) count_item(item, size);
    size.group_count += size.item_count != count_before ? 1 : 0;
  }
  if (!fills_run(size)) return {};
  next.items.has_waiting = true;
  const auto add = [&state](ItemRunWriter& out) { return add_new_items(state, out); };
  CRAWLSTORE_TRY(auto run, add_run(next, size, add));
  next.items.runs.emplace_back(std::move(run));
  return {};
}

Result<void> VersionWriter::write_later_items(Written& next, const State& state) {
  ItemRunWriter::Size size;
  for (const LaterItem& later : state.later().held()) count_item(later.item, size);
  if (!fills_run(size)) return {};
  next.items.has_later = true;
  const auto add = [&state](ItemRunWriter& out) { return add_new_later_items(state, out); };
  CRAWLSTORE_TRY(const auto run, add_run(next, size, add));
  CRAWLSTORE_TRY(auto later, LaterRun::open(run));
  next.items.later.push_back(std::move(later));
  return {};
}

namespace {

RunUse use_of(const WaitingRun& run) {
  return {run.waiting_count, run.run->item_count(), run.gone.count()};
}
RunUse use_of(const LaterRun& run) {
  return {run.waiting_count(), run.run()->item_count(), run.gone().count()};
}
const ItemRunPtr& items_of(const WaitingRun& run) {
  return run.run;
}
const ItemRunPtr& items_of(const LaterRun& run) {
  return run.run();
}
Result<WaitingRun> opened(const ItemRunPtr& run, const WaitingRun* /*kind*/) {
  return WaitingRun(run);
}
Result<LaterRun> opened(const ItemRunPtr& run, const LaterRun* /*kind*/) {
  return LaterRun::open(run);
}

}  // namespace

/// Goes on with the join that is under way. One that meets damage ends: the runs stay as they are.
Result<void> VersionWriter::advance_join(std::uint64_t item_count, const Version& version) {
  if (join_ == nullptr) return {};
  const auto advanced = join_->advance(writer_, version.table.items, frontier_, item_count);
  if (advanced) return {};
  join_.reset();
  return category(advanced.error().code) == ErrorCategory::kDamage ? Result<void>() : advanced;
}

/// Puts the run of a join that is done in the place of the others.
Result<void> VersionWriter::end_join(Written& next) {
  if (join_ == nullptr || !join_->is_done()) return {};
  auto& runs = next.items.runs;
  CRAWLSTORE_TRY(auto whole, join_->result(runs));
  std::uint64_t waiting_count = 0;
  for (const WaitingRun& run : runs)
    waiting_count += join_->has(run.run->id()) ? run.waiting_count : 0;
  std::erase_if(runs, [this](const WaitingRun& run) { return join_->has(run.run->id()); });
  std::erase_if(next.version.items,
                [this](const ItemRunPtr& run) { return join_->has(run->id()); });
  auto& spans = next.version.table.runs;
  std::erase_if(spans, [this](const auto& span) { return join_->has(span.run); });
  next.ends_join = true;
  if (!whole) return {};
  next.items.left_out.resize(next.items.left_out.size() + waiting_count - whole->waiting_count);
  spans.push_back({whole->run->id(), ++next.version.table.step_count, 0});
  std::ranges::sort(spans, {}, &format::ItemRunSpan::run);
  next.version.items.push_back(whole->run);
  const auto id_of = [](const WaitingRun& run) { return run.run->id(); };
  const auto place = std::ranges::upper_bound(runs, id_of(*whole), {}, id_of);
  runs.insert(place, *std::move(whole));
  return {};
}

/// Tells whether runs are joined bit by bit, or wait for a join that is under way.
bool VersionWriter::begins_join(Written& next, const std::vector<std::size_t>& chosen) const {
  if (next.items.runs.size() >= kRunsUntilJoin) return false;
  if (join_ != nullptr && !next.ends_join) return true;
  std::uint64_t bytes = 0;
  for (const std::size_t i : chosen) {
    const WaitingRun& run = next.items.runs[i];
    const std::uint64_t body_bytes = run.run->body_bytes() / run.run->item_count();
    bytes += run.waiting_count * (kItemBytes + body_bytes);
  }
  if (bytes <= checkpoint_bytes_) return false;
  for (const std::size_t i : chosen) next.next_join.push_back(next.items.runs[i].run->id());
  return true;
}

/// Puts one run in the place of those of one kind that are to be joined, or none if nothing of them
/// waits.
template <class Run>
Result<void> VersionWriter::join_items(Written& next, std::vector<Run>& runs) {
  std::vector<RunUse> uses;
  uses.reserve(runs.size());
  for (const Run& run : runs) uses.push_back(use_of(run));
  const auto chosen = choose_item_join(uses);
  if (chosen.empty()) return {};
  if constexpr (std::is_same_v<Run, WaitingRun>) {
    if (begins_join(next, chosen)) return {};
    next.ends_join = true;  // its runs may go now
  }
  std::vector<Run> joined;
  std::vector<Run> others;
  ItemRunWriter::Size size;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!std::ranges::binary_search(chosen, i)) {
      others.push_back(std::move(runs[i]));
      continue;
    }
    const ItemRun& items = *items_of(runs[i]);
    const RunId id = items.id();
    std::erase_if(next.version.table.runs, [id](const auto& span) { return span.run == id; });
    std::erase_if(next.version.items, [id](const auto& other) { return other->id() == id; });
    size.item_count += uses[i].waiting_count;
    size.group_count += items.is_by_time() ? 0 : items.group_count();
    size.body_bytes += items.body_bytes();
    joined.push_back(std::move(runs[i]));
  }
  runs = std::move(others);
  if (size.item_count == 0) return {};
  const auto add = [&joined](ItemRunWriter& out) {
    std::vector<ItemWalk> walks(joined.begin(), joined.end());
    return for_each_of_walks(
        walks, [&out](const format::Item& item, std::string_view body) -> Result<bool> {
          CRAWLSTORE_TRY(out.add(item, body));
          return true;
        });
  };
  CRAWLSTORE_TRY(const auto run, add_run(next, size, add));
  CRAWLSTORE_TRY(auto whole, opened(run, static_cast<const Run*>(nullptr)));
  runs.push_back(std::move(whole));
  return {};
}

/// Puts a run of each kind in the place of all, with other orders.
Result<void> VersionWriter::rewrite_items(Written& next, const State& state,
                                          const RewriteItem& rewrite) {
  ItemRunWriter::Size size;
  ItemRunWriter::Size later_size;
  for (std::uint32_t group = 0; group < state.groups().count(); ++group) {
    for (const Item& item : state.groups()[group].items.all()) count_item(item, size);
  }
  for (const LaterItem& later : state.later().held()) count_item(later.item, later_size);
  const auto count_run = [](const auto& run, ItemRunWriter::Size& of) {
    of.item_count += use_of(run).waiting_count;
    of.body_bytes += items_of(run)->body_bytes();
  };
  for (const WaitingRun& run : next.items.runs) count_run(run, size);
  for (const LaterRun& run : next.items.later) count_run(run, later_size);
  size.group_count = state.groups().count();
  next.version.table.runs.clear();
  next.version.items.clear();
  next.items = {.is_rewritten = true, .has_waiting = true, .has_later = true};
  next.ends_join = true;
  ItemRewrite all(state, rewrite, next.items.left_out);
  const auto add = [&all](ItemRunWriter& out) { return all.add_waiting(out); };
  CRAWLSTORE_TRY(auto run, add_run(next, size, add, false));
  if (run != nullptr) next.items.runs.emplace_back(std::move(run));
  const auto add_later = [&all](ItemRunWriter& out) { return all.add_later(out); };
  CRAWLSTORE_TRY(const auto later_run, add_run(next, later_size, add_later, false));
  if (later_run == nullptr) return {};
  CRAWLSTORE_TRY(auto later, LaterRun::open(later_run));
  next.items.later.push_back(std::move(later));
  return {};
}

/// Writes a run of items, which is a step of its own; nullptr: no item was added.
///   add         Result<void>(ItemRunWriter&), adds the items
///   may_repeat  it is called again where room for typical items was too little
template <class Add>
Result<ItemRunPtr> VersionWriter::add_run(Written& next, const ItemRunWriter::Size& size,
                                          const Add& add, bool may_repeat) {
  if (size.item_count > ItemRun::kItemsMax) {
    return fail(Errc::kTooLarge, "a run of a frontier would have 2^32 items or more");
  }
  const auto label = new_run(next.version.table.items, SegmentKind::kFrontierItems);
  std::optional<format::RunRef> ref;
  const auto write = [&](bool is_typical) -> Result<void> {
    CRAWLSTORE_TRY(auto out, ItemRunWriter::start(writer_, label, size, is_typical));
    CRAWLSTORE_TRY(add(out));
    if (out.item_count() == 0) return {};
    CRAWLSTORE_TRY(ref, out.finish());
    auto& left_out = next.items.left_out;
    left_out.insert(left_out.end(), out.left_out().begin(), out.left_out().end());
    return {};
  };
  auto written = write(may_repeat);
  if (may_repeat && !written && written.error().code == Errc::kTooLarge) written = write(false);
  CRAWLSTORE_TRY(written);
  if (!ref) return ItemRunPtr();
  CRAWLSTORE_TRY(auto run, ItemRun::open(writer_.runs->add(label.segment, *ref)));
  next.version.table.runs.push_back({ref->run_id, ++next.version.table.step_count, 0});
  next.version.items.push_back(run);
  return run;
}

Result<void> VersionWriter::write_checkpoint(Written& next, State& state,
                                             const RewriteItem* rewrite) {
  next.is_checkpoint = true;
  next.items.runs = state.runs().all();
  next.items.later = state.later().runs();
  CRAWLSTORE_TRY(state.hold_bodies());
  CRAWLSTORE_TRY(write_groups(next.version, state));
  if (rewrite != nullptr) {
    CRAWLSTORE_TRY(rewrite_items(next, state, *rewrite));
  } else {
    CRAWLSTORE_TRY(write_items(next, state));
    CRAWLSTORE_TRY(end_join(next));
    CRAWLSTORE_TRY(join_items(next, next.items.runs));
    CRAWLSTORE_TRY(write_later_items(next, state));
    CRAWLSTORE_TRY(join_items(next, next.items.later));
  }
  auto& table = next.version.table;
  if (table.runs.empty()) next.gone = std::exchange(table.items, {});
  return write_pieces(next, state);
}

}  // namespace crawlstore::frontier
