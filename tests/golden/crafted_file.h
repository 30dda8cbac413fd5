// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file taken apart, to be changed in one place and put together again with right
/// checksums: how the rejected golden files are made.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "container/directory_state.h"
#include "format/checksum.h"
#include "format/directory.h"
#include "format/run_end.h"
#include "format/superblock.h"
#include "golden/patch.h"

namespace crawlstore::testing {

class CraftedFile {
 public:
  /// A whole file; its newest generation is taken apart.
  explicit CraftedFile(std::vector<std::byte> bytes);

  std::vector<std::byte> bytes;
  format::Identity identity{};
  format::Superblock superblock{};
  format::DirectoryRoot root;
  std::vector<std::vector<format::SegmentEntry>> tables;
  std::vector<std::vector<format::HeldExtent>> held_tables;
  FileParts parts;

  /// The first segment of the kind, in the tables above.
  format::SegmentEntry& segment(SegmentKind kind);
  [[nodiscard]] std::vector<std::byte> payload(const format::SegmentEntry& entry,
                                               std::size_t run = 0) const;
  /// Gives a run another payload, with its checksum tree. A changed part stays where it stands, if
  /// there is room, here and below; else it goes behind the end of the file.
  void set_payload(format::SegmentEntry& entry, const std::vector<std::byte>& payload,
                   std::size_t run = 0);

  /// A run behind the end of the file, which no segment names yet.
  format::RunRef add_run(SegmentId segment, const std::vector<std::byte>& payload,
                         std::uint64_t record_count);
  /// A segment behind all others, without runs; moves those of its table.
  format::SegmentEntry& add_segment(SegmentKind kind, SegmentId owner);
  void remove_segment(SegmentKind kind);
  /// Changes the end of the last run, of a tiled segment its root, whose checksums are right again,
  /// and which stays so.
  void set_end(format::SegmentEntry& entry, const std::function<void(format::RunEnd&)>& change);
  /// Gives tile `tile` of a tiled segment another payload, or appends it when there is none, and
  /// changes the nodes above it.
  void set_tile(format::SegmentEntry& entry, std::uint64_t tile,
                const std::vector<std::byte>& payload, std::uint64_t record_count);
  /// Writes the tables and held tables that changed, and names them in `root`. assemble() does
  /// that; called before, it leaves the references to be changed.
  void write_pieces();
  /// Writes tables and root, then both superblock copies of the generation's slot. The other slot
  /// becomes empty. `root_bytes` may replace the encoded root.
  void assemble(const std::function<void(std::vector<std::byte>&)>& root_bytes = {});
  /// Only the superblock copies, as `superblock` says.
  void write_superblocks();

  /// Reserves units behind the end; returns their offset.
  std::uint64_t append(const std::vector<std::byte>& content);

 private:
  std::span<std::byte> top_of(SegmentId segment, const format::RunRef& run);
  [[nodiscard]] std::uint64_t top_seed(SegmentId segment, const format::RunRef& run) const;
  void write_ends();
  bool ends_are_written_ = false;
  /// Writes into an extent, or where it has no room behind the end of the file; returns where.
  std::uint64_t place(Extent extent, const std::vector<std::byte>& content);
  void find_parts(const container::Directory& directory);
  void add_part(Extent extent, const std::string& name);
  void add_run_parts(SegmentId segment, const format::RunRef& run);
  format::RunRef new_run();
  /// Writes a payload with its checksum tree, and says in `run` where.
  [[nodiscard]] format::RunLabel label(SegmentId segment, RunId run, std::uint64_t first) const;
  void write_run(SegmentId segment, format::RunRef& run, const std::vector<std::byte>& payload,
                 std::uint64_t first = 0);
  template <class Ref>
  void write_piece(Ref& ref, const std::vector<std::byte>& payload, format::ChecksumDomain domain,
                   const std::string& name);

  bool pieces_are_written_ = false;
};

}  // namespace crawlstore::testing
