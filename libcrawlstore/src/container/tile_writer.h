// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "container/segment_writer.h"
#include "container/tile_tree.h"

namespace crawlstore::container {

/// Replaces and appends tiles of one tiled segment, copy-on-write: nothing that a generation refers
/// to is overwritten.
///
/// Write amplification is bounded: of c changed tiles among n, a commit writes these c and the
/// nodes above them, each once: on each of the at most 5 levels at most c nodes, and on all levels
/// together at most n / 63 + 5. A superstep that changes r records rewrites at most r tiles, those
/// they are in, and never one in which nothing changed.
///
/// Threads: that of the writer's commits.
class TileWriter {
 public:
  /// Goes on with a segment as the writer's pending changes show it.
  ///   errors  kUnknownName: there is no tiled segment of this id
  static Result<TileWriter> open(SegmentWriter& writer, SegmentId segment);
  /// Begins a segment without tiles, which is not there before finish().
  static TileWriter create(SegmentWriter& writer, SegmentKind kind, SegmentId owner);

  TileWriter(TileWriter&& other) noexcept;
  TileWriter& operator=(TileWriter&&) = delete;
  TileWriter(const TileWriter&) = delete;
  /// Without finish(), gives back all that was written.
  ~TileWriter();

  [[nodiscard]] SegmentId segment() const { return entry_.id; }
  [[nodiscard]] std::uint64_t tile_count() const { return tree_.tile_count(); }
  /// Returns the reference to a tile; `index` is below tile_count().
  [[nodiscard]] const format::RunRef& ref(std::uint64_t index) const {
    return tree_.at({0, index});
  }

  /// Returns the verified payload of a tile, as written last.
  ///   errors  kInvalidArgument (no such tile), kChunkDamaged, kTruncated, kIo
  Result<void> read(std::uint64_t index, std::vector<std::byte>& payload) const;

  /// Writes a tile anew, or appends it when `index` is tile_count().
  ///   payload  not empty, a multiple of 8 bytes
  ///   errors   kInvalidArgument (it would leave a gap), kTooLarge, and those of reserve() and of
  ///            writing; the tile is as it was
  Result<void> write(std::uint64_t index, std::span<const std::byte> payload,
                     std::uint64_t record_count);

  /// Writes the nodes above changed tiles, children before parents, and puts the segment. Without a
  /// change it does nothing. Afterwards the object is spent, after an error, too.
  ///   errors  those of reserve() and of writing; nothing was put
  Result<void> finish();

 private:
  TileWriter(SegmentWriter& writer, format::SegmentEntry entry, TileTree tree)
      : writer_(&writer), entry_(std::move(entry)), tree_(std::move(tree)) {}

  Result<format::RunRef> write_new(TilePlace place, std::span<const std::byte> payload,
                                   std::uint64_t record_count);
  void replace(const format::RunRef& old);

  SegmentWriter* writer_;  // nullptr: moved from, or finished
  format::SegmentEntry entry_;
  TileTree tree_;
  bool changed_ = false;
  std::set<Extent> own_;          // reserved here, and in the tree
  std::vector<Extent> replaced_;  // of an earlier change that was not committed yet
};

}  // namespace crawlstore::container
