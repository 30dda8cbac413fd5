// SPDX-License-Identifier: Apache-2.0
#include "frontier/version.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "container/choose_join.h"
#include "format/group_run.h"
#include "frontier/item_run_join.h"
#include "frontier/piece.h"

namespace crawlstore::frontier {
namespace {

using container::RunPtr;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
/// A journal ends when it has so many bytes, which are in memory.
constexpr std::uint64_t kJournalBytes = 8 * kMebibyte;
constexpr std::uint64_t kPieceBytes = 8 * kMebibyte;
constexpr std::uint64_t kPiecesMax = 100;
/// Journals that are kept. A log has at most 256 runs, pieces among them, and a commit may add
/// some.
constexpr std::size_t kJournalsMax = 64;
/// More may stay where they are too long to be joined in memory.
constexpr std::size_t kLongJournalsMax = 128;
constexpr std::uint64_t kJoinedBytesMax = 2 * kJournalBytes;
constexpr std::size_t kGroupRunsMax = 16;
/// Bytes in memory that have come out of runs by time.
constexpr std::uint64_t kDueBytesMax = 64 * kMebibyte;
/// About the bytes of an item in a piece, besides its body.
constexpr std::uint64_t kItemBytes = 16;

/// The name that a run has in the file.
format::RunName name_of(container::Writer& writer, SegmentId segment, const RunPtr& run) {
  return container::run_name(writer.identity(), segment, run->ref().run_id);
}

}  // namespace

Result<Written> VersionWriter::write(const Version& before, StepLog& steps, State& state,
                                     const RewriteItem* rewrite) {
  Written written{before};
  Version& next = written.version;
  next.table.next_id = std::max(next.table.next_id, state.next_id());
  const bool is_long =
      next.journal_bytes + steps.bytes() > std::max(checkpoint_bytes_, next.piece_bytes) ||
      next.journals.size() >= kLongJournalsMax || state.later().due_bytes() > kDueBytesMax ||
      rewrite != nullptr;
  if (is_long && state.groups().count() != 0) {
    next.table.step_count += steps.count();
    CRAWLSTORE_TRY(write_checkpoint(written, state, rewrite));
  } else {
    CRAWLSTORE_TRY(write_journals(next, steps));
    if (next.journals.size() > kJournalsMax) CRAWLSTORE_TRY(join_journals(next));
  }
  next.table.group_count = state.groups().count();
  next.table.waiting_count = state.waiting_count() - written.items.left_out.size();
  next.table.leased_count = state.leases().count();
  next.table.clock_ms = state.clock();
  return written;
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
    CRAWLSTORE_TRY(join_items(next, next.items.runs));
    CRAWLSTORE_TRY(write_later_items(next, state));
    CRAWLSTORE_TRY(join_items(next, next.items.later));
  }
  auto& table = next.version.table;
  if (table.runs.empty()) next.gone = std::exchange(table.items, {});
  return write_pieces(next, state);
}

namespace {

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

/// Puts one run in the place of those of one kind that are to be joined, or none if nothing of them
/// waits.
template <class Run>
Result<void> VersionWriter::join_items(Written& next, std::vector<Run>& runs) {
  std::vector<RunUse> uses;
  for (const Run& run : runs) uses.push_back(use_of(run));
  const auto chosen = choose_item_join(uses);
  if (chosen.empty()) return {};
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

Result<void> VersionWriter::write_journals(Version& next, StepLog& steps) {
  auto journal = format::StepWriter(format::journal_from(next.table.step_count + 1));
  const auto end_journal = [&]() -> Result<void> {
    const std::uint64_t count = journal.step_count();
    if (count == 0) return {};
    const auto payload = journal.finish();
    CRAWLSTORE_TRY(auto run,
                   write_run(next.table.steps, SegmentKind::kFrontierSteps, payload, count));
    next.journals.push_back(std::move(run));
    next.journal_bytes += payload.size();
    next.table.step_count += count;
    journal = format::StepWriter(format::journal_from(next.table.step_count + 1));
    return {};
  };
  CRAWLSTORE_TRY(steps.for_each([&](const format::Step& step) -> Result<void> {
    journal.append(step);
    return journal.payload_bytes() < kJournalBytes ? Result<void>() : end_journal();
  }));
  return end_journal();
}

Result<void> VersionWriter::join_journals(Version& next) {
  std::vector<std::uint64_t> sizes;
  for (const RunPtr& run : next.journals) sizes.push_back(run->ref().payload_bytes);
  std::size_t first = container::choose_join_to_few(sizes, kJournalsMax / 2);
  std::uint64_t bytes_max = 0;
  for (std::size_t i = first; i < sizes.size(); ++i) bytes_max += sizes[i];
  while (bytes_max > kJoinedBytesMax) bytes_max -= sizes[first++];
  if (first + 1 >= sizes.size()) return {};
  std::optional<format::StepWriter> joined;
  std::vector<std::byte> payload;
  for (std::size_t i = first; i < next.journals.size(); ++i) {
    const RunPtr& run = next.journals[i];
    CRAWLSTORE_TRY(container::read_run(writer_.storage(), name_of(writer_, next.table.steps, run),
                                       run->ref(), payload));
    CRAWLSTORE_TRY(auto reader, format::StepReader::open(payload));
    if (!joined) joined.emplace(reader.run());
    for (format::Step step;;) {
      CRAWLSTORE_TRY(const bool is_there, reader.next(step));
      if (!is_there) break;
      joined->append(step);
    }
    next.journal_bytes -= payload.size();
  }
  const std::uint64_t count = joined->step_count();
  const auto bytes = joined->finish();
  CRAWLSTORE_TRY(auto run, write_run(next.table.steps, SegmentKind::kFrontierSteps, bytes, count));
  next.journals.resize(first);
  next.journals.push_back(std::move(run));
  next.journal_bytes += bytes.size();
  return {};
}

/// The groups that are in journals only; or all, when there are many runs of them.
Result<void> VersionWriter::write_groups(Version& next, const State& state) {
  if (next.groups.size() >= kGroupRunsMax) {
    next.groups.clear();
    next.stored_group_count = 0;
  }
  const std::uint32_t count = state.groups().count();
  if (next.stored_group_count == count) return {};
  std::vector<std::uint16_t> lengths;
  std::vector<std::byte> keys;
  for (std::uint32_t group = next.stored_group_count; group < count; ++group) {
    const std::string_view key = state.groups().key(group);
    const auto bytes = std::as_bytes(std::span(key));
    lengths.push_back(static_cast<std::uint16_t>(key.size()));
    keys.insert(keys.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> payload;
  format::encode_group_run({next.stored_group_count, lengths, keys}, payload);
  CRAWLSTORE_TRY(auto run, write_run(next.table.groups, SegmentKind::kFrontierGroups, payload,
                                     lengths.size()));
  next.groups.push_back(std::move(run));
  next.stored_group_count = count;
  return {};
}

Result<void> VersionWriter::write_pieces(Written& written, const State& state) {
  Version& next = written.version;
  const std::uint64_t count = state.groups().count();
  const std::uint64_t piece_count = std::clamp<std::uint64_t>(
      (next.piece_bytes + next.journal_bytes) / kPieceBytes, 1, std::min(kPiecesMax, count));
  next.pieces.clear();
  next.table.pieces.clear();
  next.piece_bytes = 0;
  CRAWLSTORE_TRY(const auto gone, gone_later(written.items, state.clock()));
  const auto gone_below = [&gone](std::uint32_t group) {
    return std::ranges::lower_bound(gone, group, {}, &format::GoneStep::group);
  };
  for (std::uint64_t i = 0; i < piece_count; ++i) {
    const auto first_group = static_cast<std::uint32_t>(count * i / piece_count);
    const auto end_group = static_cast<std::uint32_t>(count * (i + 1) / piece_count);
    format::StepWriter piece(format::piece_of(first_group, end_group, next.table.step_count));
    const std::span gone_here(gone_below(first_group), gone_below(end_group));
    CRAWLSTORE_TRY(write_piece(state, {first_group, end_group, written.items, gone_here},
                               [&piece](const format::Step& step) { piece.append(step); }));
    const std::uint64_t step_count = piece.step_count();
    const auto payload = piece.finish();
    CRAWLSTORE_TRY(auto run,
                   write_run(next.table.steps, SegmentKind::kFrontierSteps, payload, step_count));
    next.table.pieces.push_back(run->ref().run_id);
    next.pieces.push_back(std::move(run));
    next.piece_bytes += payload.size();
  }
  next.journals.clear();
  next.journal_bytes = 0;
  return {};
}

/// The label of a run to be written, of a segment that is made if there is none.
format::RunLabel VersionWriter::new_run(SegmentId& segment, SegmentKind kind) {
  if (!segment) segment = writer_.new_segment_id();
  return {segment, kind, frontier_, writer_.new_run_ids(1)};
}

Result<RunPtr> VersionWriter::write_run(SegmentId& segment, SegmentKind kind,
                                        std::span<const std::byte> payload, std::uint64_t count) {
  const auto label = new_run(segment, kind);
  CRAWLSTORE_TRY(const auto run, container::write_run(writer_, label, payload, count));
  return writer_.runs->add(segment, run);
}

Result<RunPtr> VersionWriter::put(const Written& written, std::string_view name) {
  const Version& version = written.version;
  const auto payload = format::encode_frontier_table(version.table);
  SegmentId own = frontier_;
  const format::RunLabel label{own, SegmentKind::kFrontier, {}, writer_.new_run_ids(1)};
  CRAWLSTORE_TRY(const auto run, container::write_run(writer_, label, payload, 1));
  auto table = writer_.runs->add(own, run);
  writer_.put({own, SegmentKind::kFrontier, StorageClass::kBlob, {}, std::string(name), {run}});
  if (written.gone) writer_.remove(written.gone);
  put_log(version.table.groups, SegmentKind::kFrontierGroups, version.groups);
  std::vector<RunPtr> items;
  for (const ItemRunPtr& item_run : version.items) items.push_back(item_run->run());
  put_log(version.table.items, SegmentKind::kFrontierItems, items);
  std::vector<RunPtr> steps = version.pieces;
  steps.insert(steps.end(), version.journals.begin(), version.journals.end());
  put_log(version.table.steps, SegmentKind::kFrontierSteps, steps);
  return table;
}

void VersionWriter::put_log(SegmentId segment, SegmentKind kind, const std::vector<RunPtr>& runs) {
  if (!segment) return;
  format::SegmentEntry log{segment, kind, StorageClass::kLog, frontier_, {}, {}};
  for (const RunPtr& run : runs) log.runs.push_back(run->ref());
  std::ranges::sort(log.runs, {}, &format::RunRef::run_id);
  writer_.put(std::move(log));
}

}  // namespace crawlstore::frontier
