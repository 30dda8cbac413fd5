// SPDX-License-Identifier: Apache-2.0
//
// Invariants: nothing is written; whatever the file holds ends in findings or in an error; the
// generations are pinned while they are read, so that a writer beside us cannot make a whole file
// look damaged. Where there are no locks, nobody can write either.
#include "container/verify.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <crawlstore/tools/verify.h>

#include "container/newer_roots.h"
#include "container/verify_superblocks.h"
#include "format/root_extent.h"

namespace crawlstore::container {
namespace {

/// A pin, when there is something to pin and the file system has locks.
class Pin {
 public:
  Pin() = default;
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() { drop(); }

  Result<void> take(Storage& storage, Generation generation) {
    drop();
    const auto pinned = storage.pin(generation);
    if (!pinned && pinned.error().code != Errc::kNoLocks) return pinned;
    if (pinned) {
      storage_ = &storage;
      generation_ = generation;
    }
    return {};
  }

 private:
  void drop() {
    if (storage_ != nullptr && storage_->check_process()) storage_->unpin(generation_);
    storage_ = nullptr;
  }

  Storage* storage_ = nullptr;
  Generation generation_;
};

struct Pins {
  Pin newest;
  Pin previous;
};

bool shows_same(const format::Superblock* a, const format::Superblock* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return format::same_generation(*a, *b);
}

/// Pins both generations and returns the copies as they were read after that.
Result<SuperblockReading> pin_both(Verification& verification, Pins& pins) {
  Storage& storage = verification.storage;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto before = read_superblock_copies(storage, verification.identity.uuid);
    const auto* winner = before.set.winner();
    if (winner == nullptr) return before;
    CRAWLSTORE_TRY(pins.newest.take(storage, {winner->generation}));
    const auto* previous = before.set.previous();
    if (previous != nullptr) {
      CRAWLSTORE_TRY(pins.previous.take(storage, {previous->generation}));
    }
    auto after = read_superblock_copies(storage, verification.identity.uuid, verification.settle);
    if (shows_same(winner, after.set.winner()) && shows_same(previous, after.set.previous())) {
      return after;
    }
  }
  return fail(Errc::kBusyPinned, "the store commits faster than a generation can be pinned");
}

/// Compares the identity that stands behind a whole root with that of the page.
Result<void> verify_root_identity(Verification& verification, const Directory& loaded,
                                  FindingKind kind) {
  std::array<std::byte, sizeof(format::RootEnd)> end{};
  const std::uint64_t place = loaded.root_extent.end_bytes() - end.size();
  CRAWLSTORE_TRY(verification.storage.read(place, end));
  const auto said = format::identity_of_root_end(end);
  if (std::memcmp(&said, &verification.identity, sizeof said) == 0) return {};
  verification.found(kind, loaded.generation(),
                     {Errc::kDirectoryInvalid,
                      0,
                      {},
                      place,
                      "a directory root names another identity than the identity page"});
  return {};
}

/// The directory that a superblock leads to, or null when it is not whole.
Result<DirectoryPtr> verify_directory(Verification& verification,
                                      const format::Superblock* superblock, FindingKind kind) {
  if (superblock == nullptr) return DirectoryPtr();
  ++verification.report.generations;
  const auto load = kind == FindingKind::kDamaged ? load_directory : load_previous_directory;
  auto directory =
      load(verification.storage, verification.identity.uuid, *superblock, {}, verification.kinds);
  if (!directory) {
    CRAWLSTORE_TRY(verification.found_or_fail(kind, {superblock->generation}, directory.error()));
    return DirectoryPtr();
  }
  const Directory& loaded = **directory;
  CRAWLSTORE_TRY(verify_root_identity(verification, loaded, kind));
  verification.report.checked_bytes += loaded.root_extent.length_bytes;
  for (const auto& table : loaded.tables) {
    verification.report.checked_bytes += table->ref.extent().length_bytes;
  }
  for (const auto& table : loaded.held_tables) {
    verification.report.checked_bytes += table->ref.extent().length_bytes;
  }
  return directory;
}

/// Brings what is found while it lives into the order of generations and segments: runs are read in
/// the order of their places.
class SortedFindings {
 public:
  explicit SortedFindings(std::vector<Finding>& findings)
      : findings_(findings), first_(findings.size()) {}
  SortedFindings(const SortedFindings&) = delete;
  SortedFindings& operator=(const SortedFindings&) = delete;
  ~SortedFindings() {
    std::stable_sort(findings_.begin() + static_cast<std::ptrdiff_t>(first_), findings_.end(),
                     [](const Finding& a, const Finding& b) {
                       return std::pair(a.kind, a.error.segment) <
                              std::pair(b.kind, b.error.segment);
                     });
  }

 private:
  std::vector<Finding>& findings_;
  const std::size_t first_;
};

/// Notes the newest root in free space that no superblock leads to: proof that a commit is lost
/// when the slot that led to it is, else what an unfinished commit leaves.
Result<void> verify_newer_roots(Verification& verification, const SuperblockSet& set,
                                const Directory& newest) {
  const auto& identity = verification.identity;
  const auto roots = find_newer_roots(verification.storage, identity.uuid, &newest,
                                      newest.superblock.generation, [&](std::uint64_t bytes) {
                                        verification.total_bytes += bytes;
                                        return verification.advance(bytes);
                                      });
  if (!roots) return tl::unexpected<Error>(roots.error());
  const auto now = read_superblock_copies(verification.storage, identity.uuid).set;
  const bool goes_on = !shows_same(now.winner(), set.winner());  // a writer made these roots
  const bool is_lost = set.lost_slot().has_value();
  const auto found = std::find_if(roots->begin(), roots->end(), [is_lost](const NewerRoot& root) {
    return is_lost || root.is_whole;
  });
  if (found == roots->end() || (goes_on && !is_lost)) return {};
  const auto& root = found->superblock;
  const Error error{Errc::kSuperblockDamaged, 0, SegmentId{}, root.root_offset_bytes,
                    "the directory root of a newer generation stands in free space"};
  verification.found(is_lost ? FindingKind::kDamaged : FindingKind::kUnfinished, {root.generation},
                     error);
  return {};
}

Result<void> verify_all(Verification& verification) {
  CRAWLSTORE_TRY(verification.storage.check_process());
  CRAWLSTORE_TRY(const auto identified, verify_identity(verification));
  if (!identified) return {};
  CRAWLSTORE_TRY(verify_gaps(verification));

  Pins pins;
  CRAWLSTORE_TRY(const auto reading, pin_both(verification, pins));
  verify_superblocks(verification, reading);
  CRAWLSTORE_TRY(const auto newest,
                 verify_directory(verification, reading.set.winner(), FindingKind::kDamaged));
  CRAWLSTORE_TRY(const auto previous, verify_directory(verification, reading.set.previous(),
                                                       FindingKind::kReducedRedundancy));
  for (const auto& directory : {newest, previous}) {
    if (directory != nullptr) verification.directories.push_back(directory.get());
  }
  if (newest != nullptr && previous != nullptr) {
    verify_kept(verification, *newest, *previous);
  }
  verification.total_bytes = verification.done_bytes = verification.report.checked_bytes;
  if (verification.options.level == VerifyLevel::kQuick) return verification.advance(0);
  CRAWLSTORE_TRY(verify_segments(verification, newest.get(), previous.get()));
  if (verification.options.level != VerifyLevel::kDeep || newest == nullptr) return {};
  return verify_newer_roots(verification, reading.set, *newest);
}

}  // namespace

Result<void> verify_segments(Verification& verification, const Directory* newest,
                             const Directory* previous) {
  const auto tasks = runs_of(newest, previous);
  const bool deep = verification.options.level == VerifyLevel::kDeep;
  for (const RunTask& task : tasks) {
    verification.total_bytes += task.run.extent().length_bytes;
    if (deep) verification.total_bytes += task.run.payload_bytes;
  }
  const Directory* counted = newest != nullptr ? newest : previous;
  if (counted != nullptr) verification.report.checked_segments = counted->segment_count();
  CRAWLSTORE_TRY(verification.advance(0));
  const SortedFindings sorted(verification.report.findings);
  CRAWLSTORE_TRY(const auto damaged_runs, verify_runs(verification, tasks));
  if (!deep) return {};
  SegmentVerifier segments(verification,
                           [&](const RunKey& key) { return damaged_runs.contains(key); });
  for (const auto& [directory, kind] : {std::pair(newest, FindingKind::kDamaged),
                                        std::pair(previous, FindingKind::kReducedRedundancy)}) {
    if (directory == nullptr) continue;
    CRAWLSTORE_TRY(segments.verify(*directory, kind));
  }
  return {};
}

Result<VerifyReport> verify_storage(Storage& storage, const VerifyOptions& options,
                                    const KindSet& kinds, std::chrono::milliseconds settle) {
  Verification verification{storage, options, kinds};
  verification.settle = settle;
  CRAWLSTORE_TRY(verify_all(verification));
  return std::move(verification.report);
}

}  // namespace crawlstore::container

namespace crawlstore {

Result<VerifyReport> verify(Storage& storage, const VerifyOptions& options) {
  return container::verify_storage(storage, options, container::all_kinds());
}

Result<VerifyReport> verify(const std::string& path, const VerifyOptions& options) {
  CRAWLSTORE_TRY(auto storage, open_storage(path, OpenMode::kRead));
  if (!options.mapped) storage = unmapped(std::move(storage));
  // Between its two copies of a superblock a writer waits for the disk.
  constexpr std::chrono::milliseconds kSettle{250};
  return container::verify_storage(*storage, options, container::all_kinds(), kSettle);
}

}  // namespace crawlstore
