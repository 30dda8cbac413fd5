// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The keys of a page database without the fresh ones: a DRUM in the file without requests. Its
/// owner knows which keys are new and adds them sorted, so that they go straight into the
/// partitions, in the commit that publishes all that belongs to them.

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "container/work_steps.h"
#include "container/writer.h"
#include "drum/drum_state.h"
#include "drum/key_source.h"
#include "drum/partition.h"
#include "drum/partition_probe.h"

namespace crawlstore::drum {

struct KeyTableOptions {
  std::int32_t value_bytes = 0;                               ///< at least 0
  std::uint32_t bucket_count = 1;                             ///< of a table that is made now
  std::uint64_t partition_keys_max = std::uint64_t{1} << 22;  ///< a partition with more keys splits
};

/// Threads: one at a time. Ownership: the writer outlives the table. A table that goes releases the
/// runs that it wrote since the last commit.
class KeyTable {
 public:
  /// Opens the DRUM `name` with keys of 16 bytes and the key scheme of pages, or makes it.
  ///   errors  kTypeMismatch: a DRUM of this name holds other keys or values; of damage
  static Result<KeyTable> open(container::Writer& writer, std::string_view name,
                               const KeyTableOptions& options);

  /// Opens a DRUM of URL keys to remove keys from it. No program has it open, and no requests wait.
  ///   errors  kUnknownName; kTypeMismatch: its keys are not made from URLs, or its values have
  ///           lengths of their own; kInvalidArgument: requests wait in it; of damage
  static Result<KeyTable> open_seen(container::Writer& writer, std::string_view name);

  [[nodiscard]] std::uint16_t key_bytes() const { return state().key_bytes; }
  [[nodiscard]] KeyScheme key_scheme() const { return state().key_scheme; }
  [[nodiscard]] const std::string& normalizer() const { return state().normalizer; }
  [[nodiscard]] SegmentId segment() const { return state().id; }
  [[nodiscard]] std::uint64_t key_count() const { return state().key_count(); }

  /// Looks up `keys`, which ascend, in the state after all edits applied so far, committed or not.
  ///   cost    reads the blocks that hold the keys, forwards
  ///   errors  of damage, and those of `visit`
  Result<void> find_sorted(std::span<const Key16> keys, const VisitFound& visit);

  /// Applies edits: adds keys, replaces their values, or removes them; removing a key that is not
  /// there does nothing. Writes each partition that changes anew, and puts the segments of the
  /// table into the changes of `target`, the writer or a draft of it. The caller commits, then
  /// calls committed() or dropped(). Each key of the table and each edit is one of `steps`.
  ///   errors  kNoSpace and the like, of damage, those of `edits`, kCancelled; after each of them
  ///           the table is as before
  Result<void> apply(container::SegmentWriter& target, KeySource& edits,
                     container::WorkSteps& steps);
  Result<void> apply(container::SegmentWriter& target, std::span<const KeyEdit> edits) {
    EditKeys source(edits);
    container::WorkSteps unasked;
    return apply(target, source, unasked);
  }
  /// Returns neighbouring edits that make apply() write partitions of about `bytes_max`: those of
  /// the largest partition concerned, and of partitions after it. Later ones thus fit its room.
  [[nodiscard]] std::span<const KeyEdit> choose_edits(std::span<const KeyEdit> edits,
                                                      std::uint64_t bytes_max) const;
  /// Applies edits that remove keys, and reserves little more than the partitions have now.
  Result<void> remove(container::SegmentWriter& target, std::span<const KeyEdit> edits,
                      container::WorkSteps& steps);
  /// Return the bytes of all partitions, and of the longest.
  [[nodiscard]] std::uint64_t partition_bytes() const;
  [[nodiscard]] std::uint64_t longest_partition_bytes() const;
  /// Call it after a commit, with edits or without.
  void committed();
  /// Forgets the edits applied since the last commit, and gives back the extents written for them.
  void dropped();

 private:
  KeyTable(container::Writer& writer, DrumState state, const KeyTableOptions& options)
      : writer_(&writer), options_(options) {
    versions_.push_back(std::move(state));
  }

  [[nodiscard]] const DrumState& state() const { return versions_.back(); }
  Result<void> rewrite(std::size_t bucket, std::uint64_t edit_count, KeySource& edits,
                       container::WorkSteps& steps, std::vector<Bucket>& replacements);

  container::Writer* writer_;
  KeyTableOptions options_;
  bool only_shrinks_ = false;  // whether rewrite() may assume that the edits only remove keys
  /// The committed state, then the state after each apply(). All stay until the commit, so that no
  /// run takes the place of one that the same commit replaces.
  std::vector<DrumState> versions_;
};

}  // namespace crawlstore::drum
