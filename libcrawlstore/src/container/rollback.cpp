// SPDX-License-Identifier: Apache-2.0
//
// Invariants: rollback() leaves every reference of N-1 with the `born` it had, so that the reuse
// rule stays right for pins of older generations; rollback_damaged() never needs directory N.
#include "container/rollback.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <crawlstore/tools/roll_forward.h>

#include "container/newer_roots.h"
#include "container/superblocks.h"

namespace crawlstore::container {
namespace {

/// Damage as what it means to a rollback that it leaves nothing to; other errors as they are.
tl::unexpected<Error> nothing_left(const Error& error, const char* text) {
  if (category(error.code) != ErrorCategory::kDamage) return tl::unexpected<Error>(error);
  return fail(Errc::kNoPreviousGeneration, text, error.offset, error.segment);
}

/// The first damage in runs of a generation.
struct Damage {
  std::optional<Error> own;     // in one that the other generation does not refer to
  std::optional<Error> shared;  // in one that both refer to
};

/// Verifies the runs of a generation; those that both have only if `all`.
///   errors  kCancelled, and those of storage
Result<Damage> find_damage(Writer& writer, const Directory& directory, const Directory& other,
                           bool all, const Progress& progress) {
  VerifyOptions options;
  options.progress = progress;
  Verification verification{writer.storage(), options, *directory.kinds, writer.identity()};
  auto tasks = runs_of(&other, &directory);
  std::erase_if(tasks, [&](const RunTask& task) {
    if (task.kind != FindingKind::kDamaged) return false;  // its own
    const auto* entry = all ? directory.find(task.key.segment) : nullptr;
    const auto* run = entry == nullptr ? nullptr : entry->find_run(task.key.run);
    return run == nullptr || RunKey::of(*entry, *run) != task.key;
  });
  for (const RunTask& task : tasks) verification.total_bytes += task.run.extent().length_bytes;
  CRAWLSTORE_TRY(verification.advance(0));  // also where there is nothing to read
  CRAWLSTORE_TRY(verify_runs(verification, tasks));
  Damage damage;
  for (const Finding& finding : verification.report.findings) {
    auto& first = finding.kind == FindingKind::kDamaged ? damage.shared : damage.own;
    if (!first) first = finding.error;
  }
  return damage;
}

}  // namespace

Result<Generation> rollback(Writer& writer, const Progress& progress) {
  CRAWLSTORE_TRY(writer.prepare());
  CRAWLSTORE_TRY(const auto set, read_superblocks(writer.storage(), writer.identity().uuid));
  const auto* previous = set.previous();
  if (previous == nullptr) {
    return fail(Errc::kNoPreviousGeneration, "there is no previous generation in this file");
  }
  const auto loaded = load_previous_directory(writer.storage(), writer.identity().uuid, *previous,
                                              writer.policy(), *writer.directory()->kinds);
  if (!loaded) {
    return nothing_left(loaded.error(),
                        "the directory of the previous generation is damaged; the newest is whole");
  }
  const DirectoryPtr& directory = *loaded;
  CRAWLSTORE_TRY(const auto damage,
                 find_damage(writer, *directory, *writer.directory(), true, progress));
  if (damage.own) {
    // If both are damaged, either may be the better one, and another rollback leads back.
    CRAWLSTORE_TRY(const auto newest,
                   find_damage(writer, *writer.directory(), *directory, false, progress));
    if (!newest.own) {
      return nothing_left(*damage.own, "the previous generation is damaged; the newest stays");
    }
  }
  if (damage.shared) {
    return nothing_left(*damage.shared, "the previous generation has the same damage");
  }

  // The content of N-1, as changes against N: segments of N-1 with the `born` they had, and
  // removals. Extents that only N-1 refers to are in list(N); commit_restored() takes them off it.
  writer.drop_changes();
  writer.directory()->for_each_segment([&](const format::SegmentEntry& entry) {
    if (directory->find(entry.id) == nullptr) writer.remove(entry.id);
  });
  std::vector<Extent> restored;
  directory->for_each_segment([&](const format::SegmentEntry& entry) {
    const auto* current = writer.directory()->find(entry.id);
    if (current != nullptr && *current == entry) return;
    for (const auto& run : entry.runs) {
      const auto* live = current == nullptr ? nullptr : current->find_run(run.run_id);
      if (live == nullptr || *live != run) restored.push_back(run.extent());
    }
    auto copy = entry;
    if (!writer.policy().rollback_keeps_born) {
      for (auto& run : copy.runs) run.born = writer.directory()->generation().next();
    }
    writer.put(std::move(copy));
  });
  auto committed = writer.commit_restored(restored);
  if (!committed) writer.drop_changes();
  return committed;
}

Result<std::unique_ptr<Writer>> open_past_damage(std::unique_ptr<Storage> storage,
                                                 WriterOptions options) {
  CRAWLSTORE_TRY(const auto identity, read_identity(*storage));
  const auto read = read_superblocks(*storage, identity.uuid);
  if (!read) return nothing_left(read.error(), "the superblocks of both generations are damaged");
  const SuperblockSet& set = *read;
  const auto& winner = *set.winner();
  // The file may have been cut for the generation that is lost.
  if (set.lost_slot() &&
      load_previous_directory(*storage, identity.uuid, winner, options.policy, *options.kinds)) {
    options.give_up_lost_slot = true;
  } else if (!load_directory(*storage, identity.uuid, winner, options.policy, *options.kinds)) {
    options.past_damaged_winner = true;
  } else {
    return fail(Errc::kInvalidArgument, "the newest generation is whole; roll back from it");
  }
  auto writer = Writer::open(std::move(storage), options);
  if (writer) return writer;
  return nothing_left(writer.error(),
                      "the directories of both generations are damaged; the older one here");
}

Result<Generation> rollback_damaged(std::unique_ptr<Storage> storage, WriterOptions options) {
  CRAWLSTORE_TRY(const auto writer, open_past_damage(std::move(storage), options));
  return writer->commit(true);
}

namespace {

/// The writer lock of a storage, for its life.
struct WriterLock {
  Storage& storage;
  ~WriterLock() { storage.unlock_writer(); }
};

/// The first damage in all that a generation refers to.
Result<void> check_whole(Storage& storage, const format::Identity& identity,
                         const format::Superblock& superblock, const VerifyOptions& options,
                         const KindSet& kinds) {
  CRAWLSTORE_TRY(format::check_features(superblock, true, kinds.features()));
  CRAWLSTORE_TRY(const auto directory,
                 load_directory(storage, identity.uuid, superblock, {}, kinds));
  Verification verification{storage, options, kinds, identity};
  CRAWLSTORE_TRY(verify_segments(verification, directory.get(), nullptr));
  if (verification.report.findings.empty()) return {};
  return tl::unexpected<Error>(verification.report.findings.front().error);
}

/// Makes both copies of the slot lead to the generation, one at a time.
Result<void> publish(Storage& storage, OwnSuperblocks& own, format::Superblock superblock) {
  const std::uint32_t slot = slot_of(superblock.generation);
  const SuperblockSet set = own.set();
  CRAWLSTORE_TRY(storage.check_path());
  CRAWLSTORE_TRY(own.sync());
  CRAWLSTORE_TRY(own.check());
  const auto* other = set.best_of(1 - slot);
  const std::uint64_t before = superblock.generation - 1;
  if (other == nullptr && before != 0) CRAWLSTORE_TRY(own.write_tombstone(before));
  for (superblock.pass = 0; superblock.pass < 2; ++superblock.pass) {
    CRAWLSTORE_TRY(own.write(superblock, slot, static_cast<std::uint32_t>(superblock.pass)));
    CRAWLSTORE_TRY(own.sync());
  }
  if (other == nullptr || other->generation == before) return {};
  return own.write_tombstone(before);
}

}  // namespace

Result<Generation> roll_forward(std::unique_ptr<Storage> storage, std::uint32_t lock_wait_ms,
                                const std::function<bool(std::uint64_t, std::uint64_t)>& progress,
                                const KindSet& kinds) {
  CRAWLSTORE_TRY(const auto identity, read_identity(*storage));
  CRAWLSTORE_TRY(storage->lock_writer(lock_wait_ms));
  const WriterLock lock{*storage};
  OwnSuperblocks own(*storage, identity.uuid);
  CRAWLSTORE_TRY(own.read_set());
  const SuperblockSet& set = own.set();
  if (set.hides_a_slot()) return fail(Errc::kIo, "a superblock slot cannot be read", 0);
  const auto* winner = set.winner();
  const std::uint64_t above = winner == nullptr ? 0 : winner->generation;
  DirectoryPtr newest;
  if (winner != nullptr) {
    newest = load_directory(*storage, identity.uuid, *winner, {}, kinds).value_or(DirectoryPtr());
  }
  CRAWLSTORE_TRY(const auto pins, storage->pinned({above + 1}, {format::kGenerationMax}));
  if (!pins.empty()) {
    return fail(Errc::kBusyPinned, "a reader still pins a generation that was lost");
  }

  std::uint64_t done = 0;
  const std::uint64_t size = storage->size().value_or(0);
  const auto roots = find_newer_roots(
      *storage, identity.uuid, newest.get(), above, [&](std::uint64_t bytes) -> Result<void> {
        done += bytes;
        const bool goes_on = !progress || progress(done, std::max(size, done));
        if (goes_on) return {};
        return fail(Errc::kCancelled, "the search was stopped");
      });
  if (!roots) return tl::unexpected<Error>(roots.error());
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  options.progress = progress;
  if (roots->empty()) {
    return fail(Errc::kNoPreviousGeneration, "free space holds no newer generation");
  }
  // Only the newest: of an older one somebody would believe that nothing came after it. There may
  // be several of one number: attempts that were killed, and the commit.
  Error fault{Errc::kDirectoryDamaged, 0, SegmentId{}, roots->front().superblock.root_offset_bytes,
              "the directory root of the lost generation is not whole"};
  bool is_first = true;
  for (const auto& [root, is_whole] : *roots) {
    if (root.generation != roots->front().superblock.generation) break;
    if (!is_whole) continue;
    const auto whole = check_whole(*storage, identity, root, options, kinds);
    if (whole) {
      CRAWLSTORE_TRY(publish(*storage, own, root));
      return Generation{root.generation};
    }
    if (whole.error().code == Errc::kCancelled) return tl::unexpected<Error>(whole.error());
    if (std::exchange(is_first, false)) fault = whole.error();
  }
  return tl::unexpected<Error>(fault);
}

}  // namespace crawlstore::container

namespace crawlstore {

Result<Generation> roll_forward(const std::string& path, const OpenOptions& options,
                                const Progress& progress) {
  CRAWLSTORE_TRY(auto storage, open_storage(path, OpenMode::kWrite));
  return container::roll_forward(std::move(storage), options.lock_wait_ms, progress,
                                 container::all_kinds());
}

}  // namespace crawlstore
