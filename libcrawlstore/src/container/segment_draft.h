// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include "container/writer.h"

namespace crawlstore::container {

/// Changes of segments that the writer does not know of yet, so that they can be made on another
/// thread while it is used. They begin with the writer's generation, without its pending changes,
/// and hold for the next one only: the writer is told before it commits, or they are dropped with
/// the draft, and what they reserved is free again.
///
/// Threads: one at a time, beside that of the writer; the constructor and tell() on that of the
/// writer. Ownership: the writer outlives the draft.
class SegmentDraft final : public SegmentWriter {
 public:
  explicit SegmentDraft(Writer& writer)
      : writer_(writer), base_(writer.directory()), next_(writer.next_generation()) {}
  ~SegmentDraft() override { writer_.give_back(changes_); }

  [[nodiscard]] const format::Identity& identity() const override { return writer_.identity(); }
  [[nodiscard]] Storage& storage() override { return writer_.storage(); }
  [[nodiscard]] Generation next_generation() const override { return next_; }

  Result<Extent> reserve(std::uint64_t length_bytes) override {
    return writer_.reserve(length_bytes);
  }
  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return writer_.write(offset, bytes);
  }
  void release(Extent extent) noexcept override { writer_.release(extent); }
  void hand_to_run(Extent extent) override { writer_.hand_to_run(extent); }
  SegmentId new_segment_id() override { return writer_.new_segment_id(); }
  RunId new_run_ids(std::uint64_t count) override { return writer_.new_run_ids(count); }

  [[nodiscard]] const format::SegmentEntry* find(SegmentId id) const override;
  void put(format::SegmentEntry entry) override;
  void remove(SegmentId id) override;

  /// Calls Writer::poison(). Threads: any.
  void poison() { writer_.poison(); }
  /// Puts all changes into those of the writer, whose generation is still the one of the beginning.
  void tell();

 private:
  Writer& writer_;
  DirectoryPtr base_;
  Generation next_;
  SegmentChanges changes_;
};

}  // namespace crawlstore::container
