// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <crawlstore/report.h>
#include <crawlstore/storage.h>

#include "container/commit_policy.h"
#include "container/directory_state.h"
#include "container/free_map.h"
#include "container/in_flight.h"
#include "container/publish_check.h"
#include "container/run.h"
#include "container/segment_writer.h"
#include "container/superblocks.h"
#include "format/checksum.h"

namespace crawlstore::container {

struct WriterOptions {
  std::uint32_t lock_wait_ms = 0;
  /// Microseconds since the epoch, for the commit time; 0 = ask the clock at each commit.
  std::int64_t fixed_time_us = 0;
  /// Open the generation before the newest one, whose directory cannot be read: for rollback only.
  bool past_damaged_winner = false;
  /// Open a store with a lost slot (SuperblockSet::lost_slot()), and give up the generation that it
  /// may have led to: for rollback only.
  bool give_up_lost_slot = false;
  CommitPolicy policy{};
  const KindSet* kinds = &all_kinds();
};

/// The one writer of a store: holds the writer lock, hands out extents, and publishes generations
/// by the protocol of spec/commit.md#commit.
///
/// put() and remove() collect changes; commit() publishes all of them or none. The caller of
/// reserve() owns the extent until a Run does, or until a pending change names it. Such a change
/// owns it until a commit has published it.
///
/// Threads: reserve(), write(), release(), place_from(), sizes and the id counters lock inside;
/// everything else from one thread.
class Writer final : public SegmentWriter {
 public:
  /// Takes the writer lock, then reads superblocks and directory. Writes nothing.
  ///   errors  kLocked, kNoLocks, kReadOnly, and those of read_identity(), read_superblocks(),
  ///           load_directory(); kIo when a slot cannot be read at all
  static Result<std::unique_ptr<Writer>> open(std::unique_ptr<Storage> storage,
                                              const WriterOptions& options);
  ~Writer() override;

  [[nodiscard]] const format::Identity& identity() const override { return identity_; }
  [[nodiscard]] const DirectoryPtr& directory() const { return directory_; }
  [[nodiscard]] Storage& storage() override { return *storage_; }
  [[nodiscard]] const CommitPolicy& policy() const { return policy_(); }
  /// Holds the runs that open parts name.
  const std::shared_ptr<Runs> runs = std::make_shared<Runs>(*this);

  /// Runs step 0 once; after it the opened generation is durable. Further calls do nothing.
  /// Threads: any, as those that submit call it, too.
  ///   errors  kBusyPinned, kReplaced, those of the storage
  Result<void> prepare();

  /// Checks that the file still holds the superblocks that this writer knows, and is as long. If
  /// not, all writing stops. Threads: any; waits while a commit publishes.
  ///   errors  kReplaced, kIo; kPoisoned
  Result<void> look();
  /// Does the same as look(), but passes while a commit publishes, which looks itself.
  Result<void> look_unless_publishing();

  /// Reserves an extent of really allocated bytes that no readable generation refers to. Grows the
  /// file if needed. errors kNoSpace, kFileSizeLimit, and those of prepare()
  Result<Extent> reserve(std::uint64_t length_bytes) override;
  /// Checks that there is room for these bytes, in the file or after its end. Keeps its length.
  ///   errors  kNoSpace, kFileSizeLimit, with what is needed; those of prepare()
  Result<void> check_room(std::uint64_t bytes);
  /// Calls look() first, unless a commit is being published, which does so itself.
  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void release(Extent extent) noexcept override;
  void hand_to_run(Extent extent) override;
  /// Releases what these changes reserved, unless a Run owns it: nobody else names it any more.
  void give_back(const SegmentChanges& changes) noexcept;

  SegmentId new_segment_id() override;
  RunId new_run_ids(std::uint64_t count) override;

  /// Returns the generation that the next commit makes.
  [[nodiscard]] Generation next_generation() const override {
    return {directory_->superblock.generation + 1 + skipped_generations_};
  }

  /// All of these concern the pending changes.
  [[nodiscard]] const format::SegmentEntry* find(SegmentId id) const override;
  void put(format::SegmentEntry entry) override;
  void remove(SegmentId id) override;
  /// The segments of the generation that commit() would make now. Where the directory itself will
  /// lie, and what it will hold for older generations, is not known yet.
  ///   cost    O(segments)
  [[nodiscard]] DirectoryPtr next_directory() const;
  [[nodiscard]] bool has_changes() const { return !changes_.empty(); }
  /// Forgets put() and remove() since the last commit, and gives back what they reserved.
  void drop_changes() noexcept;

  /// Publishes the pending changes as the next generation; durable when it returns. Unless
  /// `even_empty`, without changes it returns the current one, made durable by prepare() alone.
  ///   errors  kNoSpace and the like: nothing changed, the changes are still pending;
  ///           kPoisoned: a sync failed, reopen the store
  Result<Generation> commit(bool even_empty = false);

  /// Returns the report of the last commit that succeeded.
  [[nodiscard]] const CommitReport& last_commit() const { return last_commit_; }
  /// Returns the damaged copies and the generations that open() passed over.
  [[nodiscard]] RecoveryReport recovery() const {
    return {damaged_copy_count_, skipped_generations_};
  }

  /// Commits a rollback: `restored` are held extents that the pending changes refer to again.
  Result<Generation> commit_restored(const std::vector<Extent>& restored);

  /// Truncates and punches free space beyond what is kept for reuse. Outside the commit path.
  ///   keep_bytes  free bytes to leave
  Result<void> trim(std::uint64_t keep_bytes);

  /// Like reserve(), but only below `end_bytes`: for compaction. Nothing when there is no room.
  std::optional<Extent> reserve_below(std::uint64_t length_bytes, std::uint64_t end_bytes);

  /// Lets compaction take extents from the lowest place at or above `from_bytes`, and the file grow
  /// by no more than they need; nothing restores the usual way. Returns the value before.
  std::optional<std::uint64_t> place_from(std::optional<std::uint64_t> from_bytes);

  /// Returns the time that a commit would state now.
  [[nodiscard]] std::int64_t commit_time_us() const;
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] std::vector<Extent> free_extents() const;
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// Whether the writer has stopped writing.
  [[nodiscard]] bool poisoned() const {
    return refusal_.load(std::memory_order_relaxed) != Refusal::kNone;
  }
  /// Stops all writing, when a caller could change only half of its state. Threads: any.
  void poison() { refuse(Refusal::kPoisoned); }
  /// Fails if writing has stopped.
  ///   errors  kPoisoned; kReplaced if another program has written into the file
  [[nodiscard]] Result<void> check_not_poisoned() const;

 private:
  /// The reason why writing has stopped.
  enum class Refusal : std::uint8_t { kNone, kPoisoned, kReplaced };
  struct Draft;
  Writer(std::unique_ptr<Storage> storage, const WriterOptions& options);

  void refuse(Refusal reason);
  Result<void> check_usable();
  Result<void> check_length();
  Result<void> look_locked();
  Result<void> look_if_due();
  Result<void> check_lost_pins();
  Result<void> lengthen_file();
  void rebuild_free_map();
  std::uint64_t free_unheld(const std::vector<Generation>& pins);
  Result<Extent> reserve_locked(std::uint64_t length_bytes);
  Result<Extent> grow_locked(std::uint64_t length_bytes);
  tl::unexpected<Error> poison_with(const Error& error);

  Result<void> check_names(const Draft& draft) const;
  Result<void> apply_changes(Draft& draft);
  Result<void> rebuild_tables(Draft& draft);
  Result<void> write_tables(Draft& draft, std::vector<format::SegmentEntry>& segments);
  Result<void> write_held(Draft& draft);
  Result<void> write_root(Draft& draft);
  Result<Extent> write_piece(Draft& draft, const std::vector<std::byte>& payload,
                             format::ChecksumDomain domain, std::uint64_t& checksum);
  Result<Generation> publish(Draft& draft);
  Result<void> publish_superblock(Draft& draft, std::uint32_t slot);
  Result<void> sync_data();
  void retire(Draft& draft, Extent extent, Generation born, bool listed);
  void unhold(std::vector<Extent> restored);

  std::unique_ptr<Storage> storage_;
  PolicyHolder policy_;
  WriterOptions options_;
  std::unique_ptr<PublishCheck> publish_check_;  // of test builds
  format::Identity identity_{};
  DirectoryPtr directory_;
  std::uint64_t skipped_generations_ = 0;  // given up or damaged, newer than directory_
  std::uint64_t damaged_copy_count_ = 0;   // of superblocks, when it was opened
  Generation taken_back_;                  // for the next root
  CommitReport last_commit_;
  std::mutex prepare_mutex_;
  std::atomic<bool> prepared_{false};  // set once free_ and all it comes from is there
  std::atomic<Refusal> refusal_{Refusal::kNone};
  bool locked_ = false;

  std::mutex look_mutex_;                      // guards superblocks_; taken before mutex_
  std::optional<OwnSuperblocks> superblocks_;  // set by open()
  std::atomic<bool> look_is_due_{false};       // before anything is reserved

  mutable std::mutex mutex_;  // guards free_, in_flight_, file_bytes_, place_from_, next ids
  FreeMap free_;
  InFlight in_flight_;
  std::atomic<std::uint64_t> file_bytes_ = 0;  // changed with mutex_; looked at without
  std::optional<std::uint64_t> place_from_;    // set while compacting
  std::uint64_t next_segment_id_ = 1;
  std::uint64_t next_run_id_ = 1;

  // Extents that the next directory will list, before those that the next commit retires.
  std::vector<format::HeldExtent> held_;
  std::vector<std::shared_ptr<const HeldTable>> held_tables_;
  std::vector<format::HeldExtent> dissolved_;  // extents of dropped held tables; retired = 0

  SegmentChanges changes_;
};

}  // namespace crawlstore::container
