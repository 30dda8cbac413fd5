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
#include "container/segment_writer.h"
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

/// Reads and checks the identity page. errors as format::parse_identity
Result<format::Identity> read_identity(Storage& storage);

/// The one writer of a store: holds the writer lock, hands out extents, and publishes generations
/// by the protocol of spec/format.md#commit.
///
/// Whoever reserves an extent owns it until a commit has published it in a segment, and releases it
/// otherwise. put() and remove() collect changes; commit() publishes all of them or none.
///
/// Threads: reserve(), release(), place_from(), sizes and the id counters lock inside; everything
/// else from one thread.
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

  /// Step 0, once: afterwards the opened generation is durable. Further calls do nothing. Any
  /// thread: those that submit come here, too.
  ///   errors  kBusyPinned, kPoisoned (the file shows another generation now: reopen), of storage
  Result<void> prepare();

  /// An extent of really allocated bytes that no readable generation refers to. Grows the file when
  /// needed. errors kNoSpace, kFileSizeLimit, and those of prepare()
  Result<Extent> reserve(std::uint64_t length_bytes) override;
  void release(Extent extent) noexcept override;
  void release_unpublished(const format::SegmentEntry& entry) noexcept override;

  SegmentId new_segment_id() override;
  RunId new_run_ids(std::uint64_t count) override;

  /// The generation that the next commit makes.
  [[nodiscard]] Generation next_generation() const override {
    return {directory_->superblock.generation + 1 + skipped_generations_};
  }

  /// All of these concern the pending changes.
  [[nodiscard]] const format::SegmentEntry* find(SegmentId id) const override;
  void put(format::SegmentEntry entry) override;
  void remove(SegmentId id) override;
  [[nodiscard]] bool has_changes() const { return !changes_.empty(); }
  /// Forgets put() and remove() since the last commit. Reserved extents stay reserved.
  void drop_changes() { changes_.clear(); }

  /// Publishes the pending changes as the next generation; durable when it returns. Without changes
  /// it returns the current generation and writes nothing, unless `even_empty`.
  ///   errors  kNoSpace and the like: nothing changed, the changes are still pending;
  ///           kPoisoned: a sync failed, reopen the store
  Result<Generation> commit(bool even_empty = false);

  /// What the last commit that succeeded did.
  [[nodiscard]] const CommitReport& last_commit() const { return last_commit_; }
  /// What open() passed over.
  [[nodiscard]] RecoveryReport recovery() const {
    return {damaged_copy_count_, skipped_generations_};
  }

  /// commit() for rollback: `restored` are held extents that the pending changes refer to again.
  Result<Generation> commit_restored(const std::vector<Extent>& restored);

  /// Truncates and punches free space beyond what is kept for reuse. Outside the commit path.
  ///   keep_bytes  free bytes to leave
  Result<void> trim(std::uint64_t keep_bytes);
  /// max(64 MiB, a quarter of the live bytes).
  [[nodiscard]] std::uint64_t kept_free_bytes() const;

  /// Like reserve(), but only below `end_bytes`: for compaction. Nothing when there is no room.
  std::optional<Extent> reserve_below(std::uint64_t length_bytes, std::uint64_t end_bytes);

  /// For compaction: from now on extents are taken from the lowest place at or above `from_bytes`,
  /// and the file grows by no more than is asked for. Nothing: the usual way again. Returns what
  /// was said before.
  std::optional<std::uint64_t> place_from(std::optional<std::uint64_t> from_bytes);

  /// What a commit would state as its time now.
  [[nodiscard]] std::int64_t commit_time_us() const;
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] std::vector<Extent> free_extents() const;
  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] bool poisoned() const { return poisoned_.load(std::memory_order_relaxed); }
  /// From now on nothing is written: for who has changed half of what belongs together. Any thread.
  void poison() { poisoned_.store(true, std::memory_order_relaxed); }
  /// errors kPoisoned
  [[nodiscard]] Result<void> check_not_poisoned() const;

 private:
  struct Draft;
  Writer(std::unique_ptr<Storage> storage, const WriterOptions& options);

  Result<void> check_usable();
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
  static CommitReport report_of(const Draft& draft);
  Result<void> sync_data();
  void retire(Draft& draft, Extent extent, Generation born, bool listed);
  void unhold(std::vector<Extent> restored);

  std::unique_ptr<Storage> storage_;
  PolicyHolder policy_;
  WriterOptions options_;
  format::Identity identity_{};
  DirectoryPtr directory_;
  std::uint64_t skipped_generations_ = 0;  // given up or damaged, newer than directory_
  std::uint64_t damaged_copy_count_ = 0;   // of superblocks, when it was opened
  CommitReport last_commit_;
  std::mutex prepare_mutex_;
  std::atomic<bool> prepared_{false};  // set once free_ and all it comes from is there
  std::atomic<bool> poisoned_{false};
  bool locked_ = false;

  mutable std::mutex mutex_;  // guards free_, in_flight_, file_bytes_, place_from_, next ids
  FreeMap free_;
  std::map<std::uint64_t, std::uint64_t> in_flight_;  // offset -> length, reserved, unpublished
  std::uint64_t file_bytes_ = 0;
  std::optional<std::uint64_t> place_from_;  // set while compacting
  std::uint64_t next_segment_id_ = 1;
  std::uint64_t next_run_id_ = 1;

  // What the next directory will list, before what the next commit retires.
  std::vector<format::HeldExtent> held_;
  std::vector<std::shared_ptr<const HeldTable>> held_tables_;
  std::vector<format::HeldExtent> dissolved_;  // extents of dropped held tables; retired = 0

  std::map<SegmentId, std::optional<format::SegmentEntry>> changes_;
};

}  // namespace crawlstore::container
