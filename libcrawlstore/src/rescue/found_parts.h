// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of owners, as their tables name them, of found runs.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <crawlstore/storage.h>

#include "container/directory_state.h"
#include "format/drum_table.h"
#include "format/pages_table.h"
#include "rescue/found_segments.h"

namespace crawlstore::rescue {

/// The segments of a directory in the making. Threads: one.
struct FoundParts {
  using Trees = std::vector<container::DirectoryDamage::Tree>;

  /// `in` and `runs` outlive it. `size` is that of the file.
  FoundParts(Storage& in, const format::Identity& of, const FoundSegments& runs,
             std::uint64_t size);

  /// Adds the parts that the table of an owner names and no directory has. An owner without a whole
  /// table stays as it is.
  void complete(SegmentId owner);
  /// Keeps the ids of these runs from others.
  void claim(const format::SegmentEntry& entry);
  [[nodiscard]] bool is_claimed(RunId id) const { return claimed_.contains(id); }
  /// The end of the last made-up run.
  [[nodiscard]] std::uint64_t end_bytes() const { return next_place_; }

  /// Segments that a known table names. They come back when the table of an owner names them.
  struct Orphans {
    std::map<SegmentId, format::SegmentEntry> entries;
    Trees trees;
  };
  /// Numbers above all that are in use, and the highest `born` of tiles and nodes.
  struct Numbers {
    std::uint64_t next_run_id = 1;
    std::uint64_t next_segment_id = 1;
    std::uint64_t max_born = 0;
  };
  struct Database {
    SegmentId keys;            ///< the DRUM of its keys; 0: none
    bool is_doubtful = false;  ///< parts of it were found: they may be of different times
  };

  std::map<SegmentId, format::SegmentEntry> entries;  ///< owners, and what they name
  Trees trees;                                        ///< tiled segments with damaged nodes
  Orphans orphans;
  Numbers numbers;
  std::set<SegmentId> found_owners;         ///< their tables were found
  std::map<SegmentId, Database> databases;  ///< page databases

 private:
  using Runs = std::vector<format::RunRef>;

  void complete_pages(SegmentId id, RunId run, const format::PagesTable& table);
  void complete_links(const format::PagesTable& table, SegmentId id, RunId run);
  void complete_drum(SegmentId id, RunId run, const format::DrumTable& table);
  void complete_queue(SegmentId id, std::span<const std::byte> payload);
  void complete_frontier(SegmentId id, std::span<const std::byte> payload);
  void add_records(const PartName& part, std::uint64_t page_count);
  bool add_tree(const PartName& part, std::uint64_t page_count);
  void drop_unnamed(SegmentId owner, const std::set<SegmentId>& named);

  /// Whether the part is there, or is none. An orphan comes back.
  bool has(const PartName& part);
  void add(const PartName& part, StorageClass storage_class, Runs runs);
  /// Adds a log. A made-up run stands for the records that it lacks of `record_count`.
  void add_log(const PartName& part, Runs runs, std::uint64_t record_count);
  /// Adds a log of runs whose ids are known.
  void add_named_log(const PartName& part, const std::vector<RunId>& ids, Runs others);
  /// A run that will be found damaged.
  format::RunRef lost_run(std::uint64_t record_count, std::uint64_t payload_bytes = 8);

  Storage& storage_;
  const format::Identity& identity_;
  const FoundSegments& found_;
  const std::uint64_t file_bytes_;
  std::uint64_t next_place_;  // after the end of the file
  std::set<RunId> claimed_;   // ids of runs of directories and of `entries`
};

}  // namespace crawlstore::rescue
