// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file taken apart, to be changed in one place and put together again with right
/// checksums: how the rejected golden files are made.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "container/directory_state.h"
#include "format/directory.h"
#include "format/superblock.h"

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

  /// The first segment of the kind, in the tables above.
  format::SegmentEntry& segment(SegmentKind kind);
  [[nodiscard]] std::vector<std::byte> payload(const format::SegmentEntry& entry,
                                               std::size_t run = 0) const;
  /// Gives a run another payload, behind the end of the file, with its checksum tree.
  void set_payload(format::SegmentEntry& entry, const std::vector<std::byte>& payload,
                   std::size_t run = 0);
  /// The same where the run stands; its extent must be as long as before. Who else refers to it
  /// (the previous generation) keeps the checksum of the old bytes.
  void set_payload_in_place(format::SegmentEntry& entry, const std::vector<std::byte>& payload);

  /// A run behind the end of the file, which no segment names yet.
  format::RunRef add_run(SegmentId segment, const std::vector<std::byte>& payload,
                         std::uint64_t record_count);
  /// A segment behind all others, without runs; moves those of its table.
  format::SegmentEntry& add_segment(SegmentKind kind, SegmentId owner);
  void remove_segment(SegmentKind kind);
  /// Gives tile `tile` of a tiled segment another payload, or appends it when there is none, and
  /// writes the nodes above it anew.
  void set_tile(format::SegmentEntry& entry, std::uint64_t tile,
                const std::vector<std::byte>& payload, std::uint64_t record_count);
  /// Moves all runs to the beginning, so that there is nothing but them.
  void repack();

  /// Writes tables and held tables behind the end and names them in `root`. assemble() does that
  /// for a root that names none; called before, it leaves the references to be changed.
  void write_pieces();
  /// Writes tables and root behind the end, then both superblock copies of the generation's slot.
  /// The other slot becomes empty. `root_bytes` may replace the encoded root.
  void assemble(const std::function<void(std::vector<std::byte>&)>& root_bytes = {});
  /// Only the superblock copies, as `superblock` says.
  void write_superblocks();
  void write_identity();

  /// Reserves units behind the end; returns their offset.
  std::uint64_t append(const std::vector<std::byte>& content);

 private:
  /// Replaces tile `tile` and writes the nodes above it.
  void replace_tile(format::SegmentEntry& entry, std::uint64_t tile, const format::RunRef& ref);
  /// The payload with its checksum tree. Gives the run length and checksum.
  [[nodiscard]] std::vector<std::byte> content_of(SegmentId segment, format::RunRef& run,
                                                  const std::vector<std::byte>& payload) const;
};

}  // namespace crawlstore::testing
