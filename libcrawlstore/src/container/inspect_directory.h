// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "container/description.h"
#include "format/directory.h"
#include "format/superblock.h"

namespace crawlstore::container {

/// One generation's directory, taken apart piece by piece: unlike load_directory() it goes on when
/// a piece is not whole.
class DirectoryDescriber {
 public:
  /// Reads the root. `storage` outlives it.
  DirectoryDescriber(Storage& storage, const Uuid& uuid, const format::Superblock& superblock,
                     const KindSet& kinds = all_kinds());

  /// Root, tables and held tables.
  void describe(Description& out) const;

  /// Describes a piece of the directory, a run or a held extent at `offset`. Returns false if this
  /// generation has nothing there.
  bool describe_at(Description& out, std::uint64_t offset) const;

  /// The entry of a segment as its table stores it.
  void describe_entry(Description& out, const format::SegmentEntry& entry) const;

  /// Root, all tables with their tile nodes, and all held tables can be read and understood.
  [[nodiscard]] bool is_whole() const;

 private:
  /// A piece: bytes as read, and why they are not to be believed.
  struct Piece {
    Extent extent;
    std::vector<std::byte> payload;
    const char* problem = nullptr;
  };

  [[nodiscard]] Piece read_extent(Extent extent) const;
  [[nodiscard]] Piece read_piece(Extent extent, std::uint64_t payload_bytes,
                                 format::ChecksumDomain domain, Generation born,
                                 std::uint64_t checksum) const;
  [[nodiscard]] Piece read_table(const format::TableRef& ref) const;
  [[nodiscard]] Piece read_held_table(const format::HeldTableRef& ref) const;
  [[nodiscard]] format::ParseLimits limits(Extent extent) const;
  [[nodiscard]] std::vector<format::SegmentEntry> segments_of(const format::TableRef& ref) const;
  /// With the tiles and nodes of tiled segments that can be found; `whole`: these are all.
  [[nodiscard]] std::vector<format::SegmentEntry> loaded_segments_of(const format::TableRef& ref,
                                                                     bool& whole) const;
  [[nodiscard]] std::vector<format::HeldExtent> held_of(const format::HeldTableRef& ref) const;

  void describe_root(Description& out) const;
  void describe_table(Description& out, const format::TableRef& ref, std::size_t index) const;
  void describe_held_table(Description& out, const format::HeldTableRef& ref,
                           std::size_t index) const;
  bool describe_piece_at(Description& out, std::uint64_t offset) const;
  bool describe_run_at(Description& out, std::uint64_t offset) const;
  bool describe_held_at(Description& out, std::uint64_t offset) const;

  Storage& storage_;
  const Uuid uuid_;
  const format::Superblock superblock_;
  const KindSet& kinds_;
  Piece root_piece_;
  std::vector<std::byte> root_end_;  // empty when the root cannot be read
  std::optional<format::DirectoryRoot> root_;
};

}  // namespace crawlstore::container
