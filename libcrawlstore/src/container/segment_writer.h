// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>

#include <crawlstore/storage.h>

#include "format/directory.h"
#include "format/layout.h"

namespace crawlstore::container {

/// Pending changes: the segments that were put, and nothing for those that were removed.
using SegmentChanges = std::map<SegmentId, std::optional<format::SegmentEntry>>;

/// The means to change segments: room in the file, and a place to note their new entries. The
/// Writer is one; a SegmentDraft is another, which passes its changes to the writer later.
class SegmentWriter {
 public:
  SegmentWriter() = default;
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;
  virtual ~SegmentWriter() = default;

  [[nodiscard]] virtual const format::Identity& identity() const = 0;
  [[nodiscard]] virtual Storage& storage() = 0;
  /// The generation that will publish the changes.
  [[nodiscard]] virtual Generation next_generation() const = 0;

  /// An extent of really allocated bytes that no readable generation refers to.
  virtual Result<Extent> reserve(std::uint64_t length_bytes) = 0;
  /// Writes into a reserved extent, unless another program has written into the file. errors of the
  /// storage, kReplaced, kPoisoned
  virtual Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Gives a reserved, unpublished extent back, or its tail.
  virtual void release(Extent extent) noexcept = 0;
  /// A Run owns this reserved extent from now on, and releases it; whoever wrote it still gives
  /// back the room behind it that it did not need.
  virtual void hand_to_run(Extent extent) = 0;
  virtual SegmentId new_segment_id() = 0;
  /// The first of `count` consecutive new run ids.
  virtual RunId new_run_ids(std::uint64_t count) = 0;

  /// The segment with all changes applied, or nullptr.
  [[nodiscard]] virtual const format::SegmentEntry* find(SegmentId id) const = 0;
  /// Adds or replaces a segment. Runs with born 0 are new and lie in reserved extents; so are those
  /// of a tiled segment that were born in next_generation(), as the nodes over them say.
  virtual void put(format::SegmentEntry entry) = 0;
  virtual void remove(SegmentId id) = 0;
};

}  // namespace crawlstore::container
