// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One generation's directory in private memory: immutable, shared by snapshots and the writer.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <crawlstore/storage.h>

#include "container/commit_policy.h"
#include "container/kind.h"
#include "format/directory.h"
#include "format/superblock.h"

namespace crawlstore::container {

struct Table {
  format::TableRef ref;
  std::vector<format::SegmentEntry> segments;  // ascending id

  /// The end of the furthest extent that the table names, or of its own.
  std::uint64_t end_bytes = 0;
  Table(const format::TableRef& place, std::vector<format::SegmentEntry> entries);
};

struct HeldTable {
  format::HeldTableRef ref;
  std::vector<format::HeldExtent> entries;

  std::uint64_t end_bytes = 0;  // as of Table
  HeldTable(const format::HeldTableRef& place, std::vector<format::HeldExtent> extents);
};

/// Segments of a directory by their names. The first question walks over all of them, as most
/// generations are asked once; the second sorts the names.
///
/// Threads: any.
class SegmentNames {
 public:
  using Tables = std::vector<std::shared_ptr<const Table>>;

  /// The segment of this kind and name, or nullptr. `tables` are the same each time.
  [[nodiscard]] const format::SegmentEntry* find(const Tables& tables, SegmentKind kind,
                                                 std::string_view name) const;

 private:
  mutable std::atomic<bool> was_asked_{false};
  mutable std::once_flag once_;
  mutable std::vector<const format::SegmentEntry*> sorted_;  // after once_
};

struct Directory {
  format::Superblock superblock;  // the copy it was reached through
  Extent root_extent;
  std::uint64_t next_segment_id = 1;
  std::uint64_t next_run_id = 1;
  Generation taken_back;                             // the newest that a rollback took back
  std::vector<std::shared_ptr<const Table>> tables;  // ascending first segment
  std::vector<format::HeldExtent> held;
  std::vector<std::shared_ptr<const HeldTable>> held_tables;
  const KindSet* kinds = nullptr;  // that it was loaded with
  SegmentNames names;              // of the tables, which are all there before it is asked

  [[nodiscard]] Generation generation() const { return {superblock.generation}; }

  /// Whether this generation continues `older`, so that nothing of `older` was taken back since.
  /// Returns false for all generations before a rollback: only the newest rollback is known.
  [[nodiscard]] bool continues(Generation older) const;

  /// The segment, or nullptr. O(log n).
  [[nodiscard]] const format::SegmentEntry* find(SegmentId id) const;

  /// The segment of this kind and name, or nullptr. O(n) for the first question, O(n log n) for the
  /// second, O(log n) from then on.
  [[nodiscard]] const format::SegmentEntry* find_named(SegmentKind kind,
                                                       std::string_view name) const;

  void for_each_segment(const std::function<void(const format::SegmentEntry&)>& visit) const;
  void for_each_held(const std::function<void(const format::HeldExtent&)>& visit) const;

  /// Everything this generation refers to, directory included, held extents not.
  [[nodiscard]] std::vector<Extent> live_extents() const;
  [[nodiscard]] std::uint64_t segment_count() const;

  /// Returns the end of the furthest extent, live or held: the high water mark. O(tables).
  [[nodiscard]] std::uint64_t end_bytes() const;
};

using DirectoryPtr = std::shared_ptr<const Directory>;

/// Reads and checks the directory that a superblock leads to. Never writes.
///   kinds   that may stand in it; outlive it
///   cost    O(directory): every table and tile node is read, verified, and checked for overlaps
///   errors  kTruncated (file shorter than high water), kDirectoryDamaged, kDirectoryInvalid, kIo,
///           kUnknownFeature
Result<DirectoryPtr> load_directory(Storage& storage, const Uuid& uuid,
                                    const format::Superblock& superblock,
                                    const CommitPolicy& policy, const KindSet& kinds);

/// The same for the generation before the winner. Held extents that only its list names may have
/// been cut off since (spec/format.md#layout rule 3).
Result<DirectoryPtr> load_previous_directory(Storage& storage, const Uuid& uuid,
                                             const format::Superblock& superblock,
                                             const CommitPolicy& policy, const KindSet& kinds);

/// Parts of a directory that could not be read.
struct DirectoryDamage {
  /// A tiled segment with damaged nodes.
  struct Tree {
    format::SegmentEntry entry;                        ///< its run is the root of the tree
    std::vector<std::optional<format::RunRef>> tiles;  ///< see TileLoader::readable_tiles()
    Error error;
  };
  /// A table that is not whole. Its segments have ids from `first` on, below `end`.
  struct LostTable {
    Error error;
    SegmentId first;
    SegmentId end;
    std::uint64_t segment_count = 0;
  };
  std::vector<LostTable> tables;
  double known_share = 1;  ///< of the segments: those of tables that are whole
  std::vector<Tree> trees;
  std::vector<format::SegmentEntry> orphans;  ///< left out, as their owner stood in such a table
  std::vector<Tree> orphan_trees;             ///< likewise
};

/// The same of what can be read: without tables that are not whole, segments whose owner stood
/// there, tiled segments with damaged nodes, and held extents that such a table lists.
///   errors  of the root
Result<DirectoryPtr> load_readable_directory(Storage& storage, const Uuid& uuid,
                                             const format::Superblock& superblock,
                                             const KindSet& kinds, DirectoryDamage& damage);

/// Whether the root that the superblock leads to is whole where it belongs. errors kIo
Result<bool> has_root(Storage& storage, const Uuid& uuid, const format::Superblock& superblock);

}  // namespace crawlstore::container
