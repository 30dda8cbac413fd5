// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "container/reader.h"
#include "container/tile_tree.h"

namespace crawlstore::container {

/// The tiles of a tiled segment in a pinned generation. Keeps the reader. Threads: any number.
class TileReader {
 public:
  /// errors  kUnknownName: there is no tiled segment of this id
  static Result<TileReader> open(std::shared_ptr<Reader> reader, SegmentId segment);

  [[nodiscard]] std::uint64_t tile_count() const { return tile_count_; }
  /// Returns the number of records in all tiles of the segment.
  [[nodiscard]] std::uint64_t record_count() const { return entry_->runs.back().record_count; }
  /// Returns the reference to a tile; `index` is below tile_count().
  [[nodiscard]] const format::RunRef& ref(std::uint64_t index) const {
    return tile_ref(*entry_, index);
  }

  /// Returns the payload of a tile: a view that is valid as long as the storage, verified when it
  /// is first touched.
  ///   errors  kInvalidArgument (no such tile), kChunkDamaged, kTruncated, kIo
  ///   cost    one look-up under a lock, then what was not verified yet
  Result<std::span<const std::byte>> tile(std::uint64_t index) const;

 private:
  TileReader(std::shared_ptr<Reader> reader, const format::SegmentEntry& entry)
      : reader_(std::move(reader)), entry_(&entry), tile_count_(container::tile_count(entry)) {}

  std::shared_ptr<Reader> reader_;
  const format::SegmentEntry* entry_;  // of the reader's directory, which never changes
  std::uint64_t tile_count_;
};

}  // namespace crawlstore::container
