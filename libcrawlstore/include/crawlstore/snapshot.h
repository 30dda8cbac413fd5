// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One generation of a crawl file, pinned: it stays readable, unchanged, while the writer commits.
///
/// Ownership: as in crawlstore.hpp. A Snapshot shares its file handle and pin with its copies, and
/// spans made from it live as long as one of them. Nothing is ever written, not even to read-only
/// media.
/// Threads: any number. Fork: as Store. Errors: damage is reported with segment and offset.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/storage.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

namespace container {
class Reader;
}

struct SnapshotOptions {
  /// Whether to pin by a lock. False is for file systems without OFD locks: a writer may then reuse
  /// what is being read; checksums notice it.
  bool pin = true;
  /// The generation before the newest one.
  bool previous = false;
  /// Whether to map the file: see unmapped() in storage.h. For open(path) only.
  bool mapped = true;
};

/// One run of a segment; a blob has exactly one, a tiled segment one a tile and one a node.
struct RunInfo {
  Extent extent;    ///< payload, checksum tree and padding
  Generation born;  ///< the commit that first referred to it
  RunId run_id;
  std::uint64_t payload_bytes = 0;  ///< without checksums and padding
  std::uint64_t record_count = 0;   ///< keys of a partition, requests of a log
};

/// A row of the segment table. The sums are over its runs; the records of a tiled segment are those
/// under its root.
struct SegmentInfo {
  SegmentId id;
  SegmentKind kind{};
  StorageClass storage_class{};
  SegmentId owner;            ///< the DRUM it belongs to; 0 = a DRUM itself
  std::string name;           ///< of a DRUM; else empty
  std::vector<RunInfo> runs;  ///< ascending run id; of a tiled segment the root is the last
  [[nodiscard]] std::uint64_t payload_bytes() const;
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  [[nodiscard]] std::uint64_t record_count() const;
};

/// An extent that is kept although this generation does not refer to it: for older generations.
struct HeldInfo {
  Extent extent;
  Generation born;  ///< generations born <= g < retired refer to it
  Generation retired;
};

/// The file as a whole, as this generation sees it. Byte counts are of allocated bytes.
struct StoreInfo {
  std::uint32_t format_version = 0;
  Uuid uuid{};
  Generation generation;
  std::int64_t created_us = 0;  ///< since the epoch, UTC
  std::int64_t commit_time_us = 0;
  std::uint64_t features_compat = 0;  ///< bits: spec/registry.md
  std::uint64_t features_ro_compat = 0;
  std::uint64_t features_incompat = 0;
  std::uint64_t file_bytes = 0;        ///< length now
  std::uint64_t high_water_bytes = 0;  ///< length that this generation needs
  std::uint64_t live_bytes = 0;        ///< extents of this generation, directory included
  std::uint64_t directory_bytes = 0;   ///< root and tables
  std::uint64_t held_bytes = 0;        ///< kept for generations before this one
  std::uint64_t free_bytes = 0;        ///< neither live nor held
  std::uint64_t segment_count = 0;
  bool has_previous = false;  ///< the generation before is there to roll back to
};

/// A generation somebody pins.
struct PinInfo {
  Generation generation;
  std::int64_t pid = 0;  ///< 0 = not known
  /// Bytes of the held list that this pin keeps from being reused, alone or with others.
  std::uint64_t held_bytes = 0;
};

class Snapshot {
 public:
  /// Pins the newest (or previous) generation of the file.
  ///   errors  as Store::open, but for locks: kNoLocks only
  ///   cost    O(directory)
  [[nodiscard]] static Result<Snapshot> open(const std::string& path,
                                             const SnapshotOptions& options = {});
  /// The same on any storage, which it shares.
  [[nodiscard]] static Result<Snapshot> open(std::shared_ptr<Storage> storage,
                                             const SnapshotOptions& options = {});

  /// The generation that is pinned.
  [[nodiscard]] Generation generation() const;
  [[nodiscard]] Uuid uuid() const;
  /// Seed of URL keys in this file.
  [[nodiscard]] std::uint64_t key_seed() const;
  /// Sizes and counts. errors kIo, kForked
  [[nodiscard]] Result<StoreInfo> info() const;
  /// Ascending id.
  [[nodiscard]] std::vector<SegmentInfo> segments() const;
  /// Extents that are kept for older generations, and since when.
  [[nodiscard]] std::vector<HeldInfo> held() const;
  /// The free extents, ascending: what neither this generation nor its list names.
  [[nodiscard]] Result<std::vector<Extent>> free_extents() const;
  /// Every pin that the system shows, this snapshot's own among them; ascending generation.
  [[nodiscard]] Result<std::vector<PinInfo>> pins() const;

  /// The newest generation in the file now. A file that is overwritten while it is read is known
  /// here, and by the checksums of what had not been read before; not by what had.
  ///   errors  kReplaced: the file no longer holds this generation
  [[nodiscard]] Result<Generation> newest() const;

  /// Verified payload bytes of a whole run, copied.
  [[nodiscard]] Result<std::vector<std::byte>> read_run(SegmentId segment, RunId run) const;

  /// Counts of its storage, for all that share it, since that was opened; not of mapped reads.
  [[nodiscard]] StorageCounters counters() const;

 private:
  explicit Snapshot(std::shared_ptr<container::Reader> reader);
  friend struct Inside;
  std::shared_ptr<container::Reader> impl_;
};

/// Writes a consistent copy of the snapshot's generation to a new file, atomically. Only live bytes
/// are copied; the rest is a hole. The copy keeps the uuid.
///   errors  kExists, kNoSpace, damage of the source
[[nodiscard]] Result<void> copy_snapshot(const Snapshot& snapshot, const std::string& path);

}  // namespace crawlstore
#pragma GCC visibility pop
