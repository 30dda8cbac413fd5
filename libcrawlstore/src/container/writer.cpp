// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - No byte below is written while a generation that can still be read refers to it: every extent
//   handed out was free by the rule of spec/container.md#extents, with pins asked after the current
//   generation was published.
// - Each unit of the file is in exactly one of: live in the directory, held, free, in flight,
//   superblock area.
// - After a failed sync, or when memory ran out in the middle of a change, nothing is written any
//   more (refusal_); nor once the file has been found to hold other superblocks than superblocks_.
// - Nothing is written without a look at the superblocks: at each write into a reserved extent, at
//   the first reservation after a commit, and in a commit three times.
#include "container/writer.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/assert.h"
#include "container/superblocks.h"
#include "format/checksum.h"
#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::container {
namespace {

/// Entries that one commit writes again because the table they were in is dissolved: so a pin that
/// ends costs the next commits no more than a table each.
constexpr std::size_t kHeldRewrittenMax = format::kHeldTableEntriesMax;
/// Past a generation whose ids nobody can read, damaged or given up: no id is given twice.
constexpr std::uint64_t kIdsSkipped = std::uint64_t{1} << 40;
/// A file that names higher ones as its next is refused: what is left no writer can use up.
constexpr std::uint64_t kNextIdMax = std::uint64_t{1} << 63;

/// The error of a file that was to grow by so much.
tl::unexpected<Error> needing(Error error, std::uint64_t bytes) {
  error.needed_bytes = bytes;
  return tl::unexpected<Error>(error);
}

}  // namespace

Writer::Writer(std::unique_ptr<Storage> storage, const WriterOptions& options)
    : storage_(std::move(storage)), policy_(options.policy), options_(options) {}

Writer::~Writer() {
  runs->end();
  if (locked_ && storage_->check_process()) storage_->unlock_writer();
}

Result<std::unique_ptr<Writer>> Writer::open(std::unique_ptr<Storage> storage,
                                             const WriterOptions& options) {
  std::unique_ptr<Writer> writer(new Writer(std::move(storage), options));
  CRAWLSTORE_TRY(auto identity, read_identity(*writer->storage_));
  writer->identity_ = identity;
  if (writer->policy().lock_before_read) {
    CRAWLSTORE_TRY(writer->storage_->lock_writer(options.lock_wait_ms));
    writer->locked_ = true;
  }
  writer->superblocks_.emplace(*writer->storage_, identity.uuid);
  CRAWLSTORE_TRY(writer->superblocks_->read_valid_set());
  const SuperblockSet& set = writer->superblocks_->set();
  if (writer->policy().refuse_hidden_slot && set.hides_a_slot()) {
    return fail(Errc::kIo, "a superblock slot cannot be read; writing would be a gamble",
                format::kSuperblockOffsets[0][0]);
  }
  const auto lost_slot = set.lost_slot();
  if (options.give_up_lost_slot && !lost_slot) {
    return fail(Errc::kInvalidArgument, "no superblock slot is lost");
  }
  if (lost_slot && !options.give_up_lost_slot) {
    return fail(Errc::kSuperblockDamaged,
                "a superblock slot is lost, and perhaps a commit newer than what the file shows",
                format::kSuperblockOffsets[*lost_slot][0]);
  }
  if (!writer->policy().lock_before_read) {
    CRAWLSTORE_TRY(writer->storage_->lock_writer(options.lock_wait_ms));
    writer->locked_ = true;
  }
  const auto* superblock = options.past_damaged_winner ? set.previous() : set.winner();
  if (superblock == nullptr) {
    return fail(Errc::kNoPreviousGeneration, "there is no previous generation in this file");
  }
  const std::uint64_t highest = lost_slot ? superblock->generation + 1 : set.highest_generation();
  writer->skipped_generations_ = highest - superblock->generation;
  writer->damaged_copy_count_ = set.damaged_copy_count();
  CRAWLSTORE_TRY(format::check_features(*superblock, true, options.kinds->features()));
  const bool may_be_cut = options.past_damaged_winner || options.give_up_lost_slot;
  const auto load = may_be_cut ? load_previous_directory : load_directory;
  CRAWLSTORE_TRY(auto directory, load(*writer->storage_, identity.uuid, *superblock,
                                      writer->policy(), *options.kinds));
  writer->directory_ = std::move(directory);
  writer->taken_back_ = writer->directory_->taken_back;
  writer->next_segment_id_ = writer->directory_->next_segment_id;
  writer->next_run_id_ = writer->directory_->next_run_id;
  if (writer->skipped_generations_ != 0) {
    writer->taken_back_ = {highest};
    writer->next_segment_id_ += kIdsSkipped;
    writer->next_run_id_ += kIdsSkipped;
  }
  if (std::max(writer->next_segment_id_, writer->next_run_id_) > kNextIdMax) {
    return fail(Errc::kTooLarge, "the store has given out all ids that the format can count");
  }
  writer->held_ = writer->directory_->held;
  writer->held_tables_ = writer->directory_->held_tables;
  if (writer->policy().check_published) {
    if (auto own = writer->storage_->reopen()) {
      writer->publish_check_ = std::make_unique<PublishCheck>(
          std::move(*own), identity, *options.kinds, RunId{writer->next_run_id_});
    }
  }
  return writer;
}

void Writer::refuse(Refusal reason) {
  Refusal none = Refusal::kNone;  // the first reason stays
  refusal_.compare_exchange_strong(none, reason, std::memory_order_relaxed);
}

tl::unexpected<Error> Writer::poison_with(const Error& error) {
  refuse(error.code == Errc::kReplaced ? Refusal::kReplaced : Refusal::kPoisoned);
  return tl::unexpected<Error>(error);
}

Result<void> Writer::check_not_poisoned() const {
  switch (refusal_.load(std::memory_order_relaxed)) {
    case Refusal::kNone:
      return {};
    case Refusal::kReplaced:
      return fail(Errc::kReplaced, kOverwrittenText);
    case Refusal::kPoisoned:
      break;
  }
  return fail(Errc::kPoisoned,
              "an earlier write or allocation for this store failed; open it again");
}

/// A file that is shorter than this writer made it was cut, or is being copied over. Without
/// mutex_, which may be held by who writes what a hook of the storage looks at: so a length that
/// another thread changes meanwhile is asked for again.
Result<void> Writer::check_length() {
  for (;;) {
    const std::uint64_t file_bytes = file_bytes_;
    CRAWLSTORE_TRY(const auto size, storage_->size());
    if (size >= file_bytes) return {};
    if (file_bytes == file_bytes_) return fail(Errc::kReplaced, kOverwrittenText, size);
  }
}

Result<void> Writer::look_locked() {
  CRAWLSTORE_TRY(check_not_poisoned());
  auto looked = superblocks_->check();
  if (looked) looked = check_length();
  if (!looked && looked.error().code == Errc::kReplaced) refuse(Refusal::kReplaced);
  return looked;
}

Result<void> Writer::look() {
  const std::lock_guard lock(look_mutex_);
  return look_locked();
}

Result<void> Writer::look_unless_publishing() {
  const std::unique_lock lock(look_mutex_, std::try_to_lock);
  return lock ? look_locked() : check_not_poisoned();
}

Result<void> Writer::look_if_due() {
  if (!policy().look_before_reserve || !look_is_due_.load(std::memory_order_relaxed)) return {};
  CRAWLSTORE_TRY(look());
  look_is_due_.store(false, std::memory_order_relaxed);
  return {};
}

Result<void> Writer::check_usable() {
  CRAWLSTORE_TRY(storage_->check_process());
  CRAWLSTORE_TRY(check_not_poisoned());
  return storage_->check_path();
}

Result<void> Writer::check_lost_pins() {
  const Generation from = directory_->generation().next();
  const Generation to{std::uint64_t{1} << 61};
  for (int attempt = 0; attempt < 100; ++attempt) {
    CRAWLSTORE_TRY(const auto pins, storage_->pinned(from, to));
    if (pins.empty()) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fail(Errc::kBusyPinned, "a reader still pins a generation that was lost in a crash");
}

Result<void> Writer::prepare() {
  if (prepared_.load(std::memory_order_acquire) && !poisoned()) return storage_->check_process();
  const std::lock_guard once(prepare_mutex_);
  if (prepared_.load(std::memory_order_relaxed) && !poisoned()) return {};
  CRAWLSTORE_TRY(check_usable());
  if (options_.give_up_lost_slot) {
    CRAWLSTORE_TRY(look());
    CRAWLSTORE_TRY(lengthen_file());
  }
  if (policy().settle_first) {
    const std::lock_guard looking(look_mutex_);
    const auto settled = settle_superblocks(*superblocks_, policy(), options_.past_damaged_winner);
    if (!settled) return poison_with(settled.error());
  }
  if (policy().check_lost_pins) CRAWLSTORE_TRY(check_lost_pins());
  CRAWLSTORE_TRY(lengthen_file());
  CRAWLSTORE_TRY(const auto pins, storage_->pinned({0}, directory_->generation()));
  rebuild_free_map();
  free_unheld(pins);
  prepared_.store(true, std::memory_order_release);
  return {};
}

Result<void> Writer::lengthen_file() {
  CRAWLSTORE_TRY(const auto size, storage_->size());
  file_bytes_ = size & ~(format::kUnitBytes - 1);
  if (file_bytes_ >= directory_->end_bytes()) return {};
  // Past a damaged or lost generation: what the list of the one before holds may have been cut off.
  CRAWLSTORE_TRY(storage_->allocate({file_bytes_, directory_->end_bytes() - file_bytes_}));
  file_bytes_ = directory_->end_bytes();
  return {};
}

void Writer::rebuild_free_map() {
  auto used = directory_->live_extents();
  directory_->for_each_held(
      [&used](const format::HeldExtent& held) { used.push_back(held.extent); });
  std::sort(used.begin(), used.end());
  std::uint64_t end = format::kDataStart;
  for (const Extent& extent : used) {
    free_.insert({end, extent.offset_bytes - end});
    end = extent.end_bytes();
  }
  if (file_bytes_ > end) free_.insert({end, file_bytes_ - end});
}

/// Returns how many bytes it has freed.
std::uint64_t Writer::free_unheld(const std::vector<Generation>& pins) {
  const std::uint64_t current = directory_->superblock.generation;
  const auto is_free = [&](const format::HeldExtent& entry) {
    if (entry.retired.value + policy().reuse_lag > current) return false;
    if (!policy().respect_pins) return true;
    return std::none_of(pins.begin(), pins.end(), [&](Generation pin) {
      const bool born = policy().born_inclusive ? entry.born <= pin : entry.born < pin;
      return born && pin < entry.retired;
    });
  };
  const std::lock_guard lock(mutex_);
  const std::uint64_t free_bytes_before = free_.total_bytes();
  std::vector<format::HeldExtent> still_held;
  for (const auto& entry : held_) {
    if (is_free(entry)) {
      free_.insert(entry.extent);
    } else {
      still_held.push_back(entry);
    }
  }
  std::size_t rewritten_left = kHeldRewrittenMax;
  std::vector<std::shared_ptr<const HeldTable>> tables;
  for (const auto& table : held_tables_) {
    const auto count = std::count_if(table->entries.begin(), table->entries.end(), is_free);
    // A table is dissolved when at least half of it is free, so that rewriting its rest is paid
    // for; and when this commit has room for its rest and its own extent.
    const auto rest = table->entries.size() - static_cast<std::size_t>(count) + 1;
    if (static_cast<std::size_t>(count) * 2 < table->entries.size() || rest > rewritten_left) {
      tables.push_back(table);
      continue;
    }
    rewritten_left -= rest;
    for (const auto& entry : table->entries) {
      if (is_free(entry)) {
        free_.insert(entry.extent);
      } else {
        still_held.push_back(entry);
      }
    }
    dissolved_.push_back({table->ref.extent(), table->ref.born, {0}});
  }
  held_ = std::move(still_held);
  held_tables_ = std::move(tables);
  return free_.total_bytes() - free_bytes_before;
}

Result<Extent> Writer::grow_locked(std::uint64_t length_bytes) {
  if (length_bytes > format::kFileBytesMax || file_bytes_ > format::kFileBytesMax - length_bytes) {
    return fail(Errc::kTooLarge, "the file would pass its largest size");
  }
  std::uint64_t step = place_from_ ? length_bytes : growth_step(file_bytes_, length_bytes);
  auto grown = storage_->allocate({file_bytes_, step});
  if (!grown && step > length_bytes) {
    step = length_bytes;
    grown = storage_->allocate({file_bytes_, step});
  }
  if (!grown) return needing(grown.error(), length_bytes);
  const Extent extent{file_bytes_, length_bytes};
  if (step > length_bytes) free_.insert({extent.end_bytes(), step - length_bytes});
  file_bytes_ += step;
  return extent;
}

Result<Extent> Writer::reserve_locked(std::uint64_t length_bytes) {
  CRAWLSTORE_ASSERT(length_bytes > 0 && length_bytes % format::kUnitBytes == 0);
  auto found = place_from_ ? free_.take_from(length_bytes, *place_from_) : free_.take(length_bytes);
  if (found) {
    const auto allocated = policy().allocate_really ? storage_->allocate(*found) : Result<void>{};
    if (!allocated) {
      free_.insert(*found);
      return needing(allocated.error(), length_bytes);
    }
  } else {
    CRAWLSTORE_TRY(const auto grown, grow_locked(length_bytes));
    found = grown;
  }
  in_flight_.add(*found);
  return *found;
}

Result<Extent> Writer::reserve(std::uint64_t length_bytes) {
  CRAWLSTORE_TRY(check_not_poisoned());
  CRAWLSTORE_TRY(prepare());
  CRAWLSTORE_TRY(look_if_due());
  const std::lock_guard lock(mutex_);
  return reserve_locked(length_bytes);
}

Result<void> Writer::check_room(std::uint64_t bytes) {
  CRAWLSTORE_TRY(check_not_poisoned());
  CRAWLSTORE_TRY(prepare());
  CRAWLSTORE_TRY(look_if_due());
  const std::lock_guard lock(mutex_);
  std::uint64_t more = format::round_up(bytes, format::kUnitBytes);
  for (const Extent& extent : free_.extents()) {  // they may be holes
    if (more == 0 || !storage_->allocate(extent)) break;
    more -= std::min(more, extent.length_bytes);
  }
  if (more == 0) return {};
  const auto allocated = storage_->allocate({file_bytes_, more});
  CRAWLSTORE_TRY(storage_->truncate(file_bytes_));
  return allocated ? Result<void>{} : needing(allocated.error(), more);
}

std::optional<std::uint64_t> Writer::place_from(std::optional<std::uint64_t> from_bytes) {
  const std::lock_guard lock(mutex_);
  return std::exchange(place_from_, from_bytes);
}

std::optional<Extent> Writer::reserve_below(std::uint64_t length_bytes, std::uint64_t end_bytes) {
  if (!prepare() || !look_if_due()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = free_.take_below(length_bytes, end_bytes);
  if (!found) return std::nullopt;
  if (!storage_->allocate(*found)) {
    free_.insert(*found);
    return std::nullopt;
  }
  in_flight_.add(*found);
  return found;
}

Result<void> Writer::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  CRAWLSTORE_TRY(policy().look_before_write ? look_unless_publishing() : check_not_poisoned());
  return storage_->write(offset, bytes);
}

void Writer::hand_to_run(Extent extent) {
  const std::lock_guard lock(mutex_);
  in_flight_.hand_to_run(extent);
}

void Writer::give_back(const SegmentChanges& changes) noexcept {
  const auto is_ours = [this](Extent extent) {
    const std::lock_guard lock(mutex_);
    return in_flight_.is_free_of_runs(extent);
  };
  for (const auto& [id, entry] : changes) {
    if (!entry) continue;
    for (const auto& run : entry->runs) {
      if (is_ours(run.extent())) release(run.extent());
    }
  }
}

void Writer::release(Extent extent) noexcept {
  if (extent.length_bytes == 0) return;
  const std::lock_guard lock(mutex_);
  in_flight_.remove(extent);
  try {
    free_.insert(extent);
  } catch (...) {  // no memory; destructors come here, so the next call has to say it
    poison();
  }
}

SegmentId Writer::new_segment_id() {
  const std::lock_guard lock(mutex_);
  return {next_segment_id_++};
}

RunId Writer::new_run_ids(std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const RunId first{next_run_id_};
  next_run_id_ += count;
  return first;
}

const format::SegmentEntry* Writer::find(SegmentId id) const {
  const auto change = changes_.find(id);
  if (change == changes_.end()) return directory_->find(id);
  return change->second ? &*change->second : nullptr;
}

void Writer::put(format::SegmentEntry entry) {
  const SegmentId id = entry.id;
  changes_.insert_or_assign(id, std::move(entry));
}

void Writer::remove(SegmentId id) {
  if (directory_->find(id) != nullptr) {
    changes_.insert_or_assign(id, std::nullopt);
  } else {
    changes_.erase(id);
  }
}

void Writer::drop_changes() noexcept {
  give_back(changes_);
  changes_.clear();
}

DirectoryPtr Writer::next_directory() const {
  std::vector<format::SegmentEntry> segments;
  directory_->for_each_segment([&](const format::SegmentEntry& entry) {
    if (!changes_.contains(entry.id)) segments.push_back(entry);
  });
  for (const auto& [id, change] : changes_) {
    if (change) segments.push_back(*change);
  }
  std::ranges::sort(segments, {}, &format::SegmentEntry::id);
  auto next = std::make_shared<Directory>();
  next->superblock = directory_->superblock;
  next->superblock.generation = next_generation().value;
  next->kinds = directory_->kinds;
  if (!segments.empty()) {
    next->tables.push_back(std::make_shared<const Table>(format::TableRef{}, std::move(segments)));
  }
  return next;
}

std::uint64_t Writer::file_bytes() const {
  const std::lock_guard lock(mutex_);
  return file_bytes_;
}

std::uint64_t Writer::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return free_.total_bytes();
}

std::vector<Extent> Writer::free_extents() const {
  const std::lock_guard lock(mutex_);
  return free_.extents();
}

Result<void> Writer::trim(std::uint64_t keep_bytes) {
  CRAWLSTORE_TRY(check_usable());
  CRAWLSTORE_TRY(prepare());
  CRAWLSTORE_TRY(look());
  const std::lock_guard lock(mutex_);
  const std::uint64_t end =
      std::max(directory_->superblock.high_water_bytes, in_flight_.end_bytes());
  if (end < file_bytes_ && free_.total_bytes() > keep_bytes) {
    const std::uint64_t excess = free_.total_bytes() - keep_bytes;
    const std::uint64_t cut = format::round_up(
        std::max(end, file_bytes_ - std::min(file_bytes_.load(), excess)), format::kUnitBytes);
    const std::uint64_t before = file_bytes_.exchange(cut);  // before check_length() can see it cut
    if (const auto truncated = storage_->truncate(cut); !truncated) {
      file_bytes_ = before;
      return truncated;
    }
    free_.cut(cut);
  }
  const auto extents = free_.extents();
  std::uint64_t left = free_.total_bytes();
  for (auto last = extents.rbegin(); last != extents.rend() && left > keep_bytes; ++last) {
    const auto punched = storage_->punch(*last);
    if (!punched && punched.error().code != Errc::kUnsupported) return punched;
    left -= last->length_bytes;
  }
  return {};
}

}  // namespace crawlstore::container
