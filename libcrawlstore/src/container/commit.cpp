// SPDX-License-Identifier: Apache-2.0
//
// The commit itself: spec/commit.md#commit, steps 1 to 5.
//
// Invariants: until publish() begins, a failure leaves generation N and its list in force and gives
// back what the draft reserved; once publish() has begun, a failure poisons the writer.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/clock.h"
#include "container/writer.h"
#include "format/checksum.h"
#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"

namespace crawlstore::container {
namespace {

constexpr std::size_t kTableSegmentsMin = 16;

/// At least what encode_table() needs for this segment.
std::size_t encoded_bytes_max(const format::SegmentEntry& segment) {
  const bool is_tiled = segment.storage_class == StorageClass::kTiled;
  return 72 + segment.name.size() + 48 * (is_tiled ? 1 : segment.runs.size());
}

bool has_run(const std::optional<format::SegmentEntry>& entry, const format::RunRef& run) {
  const auto* other = entry ? entry->find_run(run.run_id) : nullptr;
  return other != nullptr && other->offset_bytes == run.offset_bytes;
}

}  // namespace

/// Everything that a commit prepares before it becomes visible.
struct Writer::Draft {
  std::shared_ptr<Directory> next = std::make_shared<Directory>();
  std::vector<format::HeldExtent> retired;
  std::vector<Extent> reserved;       // directory pieces of this draft
  std::vector<Extent> published;      // new runs: in flight until now
  std::vector<Extent> freed_at_once;  // only by a mutant that forgets to list
  SegmentChanges changes;
  std::uint64_t changed_count = 0;  // without those that are only put for their table

  [[nodiscard]] CommitReport report() const {
    CommitReport report{.segment_count = changed_count};
    for (const Extent& extent : published) report.added_bytes += extent.length_bytes;
    for (const Extent& extent : reserved) report.directory_bytes += extent.length_bytes;
    for (const auto& held : retired) report.retired_bytes += held.extent.length_bytes;
    return report;
  }
};

void Writer::retire(Draft& draft, Extent extent, Generation born, bool listed) {
  if (listed) {
    draft.retired.push_back({extent, born, draft.next->generation()});
  } else {
    draft.freed_at_once.push_back(extent);
  }
}

/// Refuses a second segment with the name, kind and owner of another: no reader would open the file
/// again. Segments keep their names, so each is only compared with the new ones, by binary search.
Result<void> Writer::check_names(const Draft& draft) const {
  std::vector<const format::SegmentEntry*> added;
  for (const auto& [id, change] : draft.changes) {
    const bool is_new = change && !change->name.empty() && directory_->find(id) == nullptr;
    if (is_new) added.push_back(&*change);
  }
  if (added.empty()) return {};
  const auto has_smaller_name = [](const auto* a, const auto* b) {
    return std::tie(a->kind, a->owner, a->name) < std::tie(b->kind, b->owner, b->name);
  };
  std::ranges::sort(added, has_smaller_name);
  const auto same = std::ranges::adjacent_find(
      added, [&](const auto* a, const auto* b) { return !has_smaller_name(a, b); });
  const format::SegmentEntry* refused = same != added.end() ? *same : nullptr;
  directory_->for_each_segment([&](const format::SegmentEntry& old) {
    const auto change = draft.changes.find(old.id);
    if (change != draft.changes.end() && !change->second) return;  // its name becomes free
    const auto found = std::ranges::lower_bound(added, &old, has_smaller_name);
    if (found != added.end() && !has_smaller_name(&old, *found)) refused = *found;
  });
  if (refused == nullptr) return {};
  return fail(Errc::kInvalidArgument, "two segments of one kind would have the same name",
              Error::kNoOffset, refused->id);
}

Result<void> Writer::apply_changes(Draft& draft) {
  CRAWLSTORE_TRY(check_names(draft));
  const Generation born = draft.next->generation();
  for (auto& [id, entry] : draft.changes) {
    const auto* old = directory_->find(id);
    const bool is_same = old != nullptr ? entry == *old : !entry;
    draft.changed_count += is_same ? 0 : 1;
    if (old != nullptr) {
      for (const auto& run : old->runs) {
        if (!has_run(entry, run)) {
          retire(draft, run.extent(), run.born, policy().list_retired_runs);
        }
      }
    }
    if (!entry) continue;
    if (entry->storage_class == StorageClass::kLog && entry->runs.size() > format::kRunsPerLogMax) {
      return fail(Errc::kTooLarge, "a log would have more runs than the format allows",
                  Error::kNoOffset, id);
    }
    draft.next->superblock.features_incompat |= directory_->kinds->of(*entry).rule.feature;
    for (auto& run : entry->runs) {
      if (run.born.value == 0 || run.born == born) {
        run.born = born;
        draft.published.push_back(run.extent());
        continue;
      }
      // A tile that was written for a generation which another commit made.
      CRAWLSTORE_ASSERT(!in_flight_.begins_at(run.offset_bytes));
      if (!policy().keep_born) run.born = born;
    }
  }
  return {};
}

Result<Extent> Writer::write_piece(Draft& draft, const std::vector<std::byte>& payload,
                                   format::ChecksumDomain domain, std::uint64_t& checksum) {
  std::vector<std::byte> bytes(payload);
  bytes.resize(format::round_up(payload.size(), format::kUnitBytes));
  const auto extent = reserve_locked(bytes.size());
  if (!extent) return extent;
  draft.reserved.push_back(*extent);
  checksum = format::checksum(
      bytes,
      format::extent_seed(identity_.uuid, domain, draft.next->generation(), extent->offset_bytes));
  CRAWLSTORE_TRY(storage_->write(extent->offset_bytes, bytes));
  return extent;
}

Result<void> Writer::write_tables(Draft& draft, std::vector<format::SegmentEntry>& segments) {
  std::size_t begin = 0;
  while (begin < segments.size()) {
    std::size_t end = begin;
    std::size_t bytes = 64;
    while (end < segments.size() && end - begin < format::kTableSegmentsMax) {
      bytes += encoded_bytes_max(segments[end]);
      if (bytes > format::kTableBytesMax && end > begin) break;
      ++end;
    }
    std::vector<format::SegmentEntry> entries(
        std::make_move_iterator(segments.begin() + static_cast<long>(begin)),
        std::make_move_iterator(segments.begin() + static_cast<long>(end)));
    const auto payload = format::encode_table(entries);
    CRAWLSTORE_ASSERT(payload.size() <= format::kTableBytesMax);
    std::uint64_t checksum = 0;
    CRAWLSTORE_TRY(const auto extent,
                   write_piece(draft, payload, format::ChecksumDomain::kTable, checksum));
    const format::TableRef ref{extent.offset_bytes,
                               draft.next->generation(),
                               checksum,
                               entries.front().id,
                               static_cast<std::uint32_t>(payload.size()),
                               static_cast<std::uint32_t>(entries.size())};
    draft.next->tables.push_back(std::make_shared<const Table>(ref, std::move(entries)));
    begin = end;
  }
  return {};
}

Result<void> Writer::rebuild_tables(Draft& draft) {
  const auto& old = directory_->tables;
  auto change = draft.changes.begin();
  std::vector<format::SegmentEntry> pending;  // segments of touched tables, not yet written
  for (std::size_t i = 0; i <= old.size(); ++i) {
    const bool last = i + 1 >= old.size();
    const auto stop =
        last ? draft.changes.end() : draft.changes.lower_bound(old[i + 1]->segments.front().id);
    const bool touched = change != stop || (!pending.empty() && pending.size() < kTableSegmentsMin);
    if (i < old.size() && !touched) {
      CRAWLSTORE_TRY(write_tables(draft, pending));
      pending.clear();
      draft.next->tables.push_back(old[i]);
      continue;
    }
    if (!pending.empty() && pending.size() >= kTableSegmentsMin) {
      CRAWLSTORE_TRY(write_tables(draft, pending));
      pending.clear();
    }
    auto segment = i < old.size() ? old[i]->segments.begin()
                                  : std::vector<format::SegmentEntry>::const_iterator{};
    const auto segment_end = i < old.size() ? old[i]->segments.end()
                                            : std::vector<format::SegmentEntry>::const_iterator{};
    while (segment != segment_end || change != stop) {
      const bool take_change =
          change != stop && (segment == segment_end || change->first <= segment->id);
      if (take_change) {
        if (segment != segment_end && segment->id == change->first) ++segment;
        if (change->second) pending.push_back(*change->second);
        ++change;
      } else {
        pending.push_back(*segment++);
      }
    }
    if (i < old.size()) {
      retire(draft, old[i]->ref.extent(), old[i]->ref.born, policy().list_retired_tables);
    }
  }
  return write_tables(draft, pending);
}

Result<void> Writer::write_held(Draft& draft) {
  auto& next = *draft.next;
  next.held_tables = held_tables_;
  next.held = held_;
  next.held.insert(next.held.end(), draft.retired.begin(), draft.retired.end());
  if (next.held.size() <= format::kHeldInlineMax) return {};
  auto all = std::move(next.held);
  next.held.clear();
  for (std::size_t begin = 0; begin < all.size(); begin += format::kHeldTableEntriesMax) {
    const auto end = std::min<std::size_t>(all.size(), begin + format::kHeldTableEntriesMax);
    std::vector<format::HeldExtent> entries(all.begin() + static_cast<long>(begin),
                                            all.begin() + static_cast<long>(end));
    const auto payload = format::encode_held_table(entries);
    std::uint64_t checksum = 0;
    CRAWLSTORE_TRY(const auto extent,
                   write_piece(draft, payload, format::ChecksumDomain::kHeldTable, checksum));
    const format::HeldTableRef ref{extent.offset_bytes, next.generation(), checksum,
                                   static_cast<std::uint32_t>(payload.size()),
                                   static_cast<std::uint32_t>(entries.size())};
    next.held_tables.push_back(std::make_shared<const HeldTable>(ref, std::move(entries)));
  }
  return {};
}

Result<void> Writer::write_root(Draft& draft) {
  auto& next = *draft.next;
  format::DirectoryRoot root;
  root.generation = next.generation();
  root.next_segment_id = next.next_segment_id = next_segment_id_;
  root.next_run_id = next.next_run_id = next_run_id_;
  root.taken_back = next.taken_back = taken_back_;
  for (const auto& table : next.tables) root.tables.push_back(table->ref);
  root.held = next.held;
  for (const auto& table : next.held_tables) root.held_tables.push_back(table->ref);
  const auto payload = format::encode_root(root);
  if (payload.size() > format::kRootBytesMax) {
    return fail(Errc::kTooLarge, "the store has more segments than its directory can name");
  }
  CRAWLSTORE_TRY(const auto extent, reserve_locked(format::root_extent_bytes(payload.size())));
  draft.reserved.push_back(extent);
  next.root_extent = extent;
  next.superblock.root_offset_bytes = extent.offset_bytes;
  next.superblock.high_water_bytes = next.end_bytes();
  const auto bytes = format::seal_root(payload, identity_, next.superblock);
  return storage_->write(extent.offset_bytes, bytes);
}

Result<void> Writer::sync_data() {
  if (!policy().sync_data) return {};
  const auto synced = storage_->sync();
  if (synced) return {};
  if (policy().poison_after_failed_sync) poison();
  return synced;
}

/// Before anything is freed.
/// Steps 4 and 5.
Result<void> Writer::publish_superblock(Draft& draft, std::uint32_t slot) {
  auto& superblock = draft.next->superblock;
  // One copy at a time: whatever happens, the slot keeps a whole one. The second is made durable by
  // the next sync of whoever writes next; of a higher pass, so that step 0 can tell which one may
  // not be durable.
  CRAWLSTORE_TRY(superblocks_->write(superblock, slot, 0));
  if (!policy().superblock_last) CRAWLSTORE_TRY(sync_data());
  if (policy().sync_superblock) CRAWLSTORE_TRY(storage_->sync());
  // A writer that began between the look before copy 0 and copy 0 may have taken the extents of
  // this commit for free. One that begins later sees it.
  if (policy().look_after_publish) CRAWLSTORE_TRY(look_locked());
  if (!policy().write_second_copy) return {};
  if (policy().publish_passes_differ) superblock.pass = 1;
  return superblocks_->write(superblock, slot, 1);
}

/// Requires look_mutex_.
Result<Generation> Writer::publish(Draft& draft) {
  const Generation generation = draft.next->generation();
  const std::uint32_t slot = policy().alternate_slots ? slot_of(generation.value)
                                                      : slot_of(directory_->superblock.generation);
  draft.next->superblock.slot_index = slot;
  std::vector<Generation> early_pins;
  if (!policy().ask_after_publish) {
    if (auto pins = storage_->pinned({0}, generation)) early_pins = std::move(*pins);
  }
  const auto published = publish_superblock(draft, slot);
  if (!published) return poison_with(published.error());
  look_is_due_.store(true, std::memory_order_relaxed);

  last_commit_ = draft.report();
  skipped_generations_ = 0;
  directory_ = draft.next;
  runs->published(*directory_);  // first: what follows may run out of memory
  held_ = directory_->held;
  held_tables_ = directory_->held_tables;
  dissolved_.clear();
  {
    const std::lock_guard lock(mutex_);
    in_flight_.published(draft.published);
    in_flight_.published(draft.reserved);
    for (const Extent& extent : draft.freed_at_once) free_.insert(extent);
  }
  if (!policy().ask_after_publish) {
    last_commit_.freed_bytes = free_unheld(early_pins);
    return generation;
  }
  // The generation is published; not knowing the pins only means that nothing is freed this time.
  if (const auto pins = storage_->pinned({0}, generation)) {
    last_commit_.freed_bytes = free_unheld(*pins);
  }
  return generation;
}

void Writer::unhold(std::vector<Extent> restored) {
  std::sort(restored.begin(), restored.end());
  const auto first_behind = [&restored](std::uint64_t offset_bytes) {
    return std::partition_point(restored.begin(), restored.end(), [=](const Extent& extent) {
      return extent.end_bytes() <= offset_bytes;
    });
  };
  const auto is_restored = [&](const format::HeldExtent& entry) {
    const auto found = first_behind(entry.extent.offset_bytes);
    return found != restored.end() && found->offset_bytes < entry.extent.end_bytes();
  };
  // Other writers may have merged entries that touch: what is left of one stays held.
  std::vector<format::HeldExtent> held;
  const auto keep_rest = [&](const format::HeldExtent& entry) {
    std::uint64_t begin = entry.extent.offset_bytes;
    const std::uint64_t end = entry.extent.end_bytes();
    for (auto next = first_behind(begin); next != restored.end() && next->offset_bytes < end;
         ++next) {
      if (begin < next->offset_bytes) {
        held.push_back({{begin, next->offset_bytes - begin}, entry.born, entry.retired});
      }
      begin = next->end_bytes();
    }
    if (begin < end) held.push_back({{begin, end - begin}, entry.born, entry.retired});
  };
  std::vector<std::shared_ptr<const HeldTable>> tables;
  for (const auto& table : held_tables_) {
    if (std::none_of(table->entries.begin(), table->entries.end(), is_restored)) {
      tables.push_back(table);
      continue;
    }
    for (const auto& entry : table->entries) keep_rest(entry);
    dissolved_.push_back({table->ref.extent(), table->ref.born, {0}});
  }
  held_tables_ = std::move(tables);
  for (const auto& entry : held_) keep_rest(entry);
  held_ = std::move(held);
}

Result<Generation> Writer::commit_restored(const std::vector<Extent>& restored) {
  const auto held = held_;
  const auto held_tables = held_tables_;
  const auto dissolved = dissolved_;
  const Generation taken_back = std::exchange(taken_back_, Generation{next_generation().value - 1});
  if (policy().rollback_unholds) unhold(restored);
  auto committed = commit(true);
  if (!committed) {
    held_ = held;
    held_tables_ = held_tables;
    dissolved_ = dissolved;
    taken_back_ = taken_back;
  }
  return committed;
}

std::int64_t Writer::commit_time_us() const {
  return options_.fixed_time_us != 0 ? options_.fixed_time_us : now_us();
}

Result<Generation> Writer::commit(bool even_empty) {
  if (directory_->superblock.generation + skipped_generations_ >= format::kGenerationMax) {
    return fail(Errc::kTooLarge, "the store has had all generations that the format can count");
  }
  CRAWLSTORE_TRY(check_usable());
  if (changes_.empty() && !even_empty) {
    CRAWLSTORE_TRY(look());
    return directory_->generation();
  }
  // Copies may have zeros in the place of bytes that a checksum once was right for.
  if (const auto fault = storage_->first_fault()) {
    return fail(Errc::kIo, "the drive did not deliver bytes of the file: open it again", *fault);
  }
  CRAWLSTORE_TRY(prepare());
  if (policy().look_before_draft) CRAWLSTORE_TRY(look());
  Draft draft;
  draft.changes = changes_;
  draft.next->superblock = directory_->superblock;
  draft.next->kinds = directory_->kinds;
  draft.next->superblock.generation = next_generation().value;
  draft.next->superblock.pass = 0;
  draft.next->superblock.commit_time_us = commit_time_us();

  const auto built = [&]() -> Result<void> {
    const std::lock_guard lock(mutex_);
    CRAWLSTORE_TRY(apply_changes(draft));
    CRAWLSTORE_TRY(rebuild_tables(draft));
    for (auto entry : dissolved_) {
      retire(draft, entry.extent, entry.born, policy().list_retired_tables);
    }
    retire(draft, directory_->root_extent, directory_->generation(), policy().list_retired_root);
    CRAWLSTORE_TRY(write_held(draft));
    return write_root(draft);
  }();
  Result<void> ready = built;
  if (ready && publish_check_ != nullptr) ready = publish_check_->check(draft.next->superblock);
  if (ready && policy().superblock_last) ready = sync_data();
  // Between a copy and what is known of it no other thread looks.
  const std::lock_guard looking(look_mutex_);
  if (ready && policy().look_before_publish) ready = look_locked();
  if (!ready) {
    for (const Extent& extent : draft.reserved) release(extent);
    return tl::unexpected<Error>(ready.error());
  }
  auto published = publish(draft);
  if (published) changes_.clear();
  return published;
}

}  // namespace crawlstore::container
