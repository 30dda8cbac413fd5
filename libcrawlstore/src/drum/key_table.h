// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The keys of a page database, but for the fresh ones: a DRUM in the file like any other, but
/// without requests. Its owner knows which keys are new before it adds them, sorted, so that they
/// go straight into the partitions, in the commit that publishes whatever else belongs to them.

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

/// Threads: one at a time. Ownership: the writer outlives the table, and what the table wrote since
/// the last commit goes with it.
class KeyTable {
 public:
  /// The DRUM `name` with keys of 16 bytes and the key scheme of pages; made when it is not there.
  ///   errors  kTypeMismatch: a DRUM of this name holds other keys or values; of damage
  static Result<KeyTable> open(container::Writer& writer, std::string_view name,
                               const KeyTableOptions& options);

  /// A DRUM of URL keys, in which no requests wait, and which nobody has open: to remove keys from.
  ///   errors  kUnknownName; kTypeMismatch: its keys are not made from URLs, or its values have
  ///           lengths of their own; kInvalidArgument: requests wait in it; of damage
  static Result<KeyTable> open_seen(container::Writer& writer, std::string_view name);

  [[nodiscard]] std::uint16_t key_bytes() const { return state().key_bytes; }
  [[nodiscard]] format::KeyScheme key_scheme() const { return state().key_scheme; }
  [[nodiscard]] const std::string& normalizer() const { return state().normalizer; }
  [[nodiscard]] SegmentId segment() const { return state().id; }
  [[nodiscard]] std::uint64_t key_count() const { return state().key_count(); }

  /// `keys` ascend. As of what was applied, committed or not.
  ///   cost    the blocks that hold the keys, read forwards
  ///   errors  of damage, and those of `visit`
  Result<void> find_sorted(std::span<const Key16> keys, const VisitFound& visit);

  /// Applies edits: adds, replaces the value of, or removes keys (removing one that is not there
  /// does nothing). Writes the partitions that change anew, and
  /// puts the segments of the table into the changes of `target`, the writer or a draft of it; the
  /// caller commits, and says how that ended.
  /// Of `steps`, each key of the table is one, and each edit.
  ///   errors  kNoSpace and the like, of damage, those of `edits`, kCancelled: the table is as
  ///   before
  Result<void> apply(container::SegmentWriter& target, KeySource& edits,
                     container::WorkSteps& steps);
  Result<void> apply(container::SegmentWriter& target, std::span<const KeyEdit> edits) {
    EditKeys source(edits);
    container::WorkSteps unasked;
    return apply(target, source, unasked);
  }
  /// Some of the edits, which follow each other, that make apply() write partitions of about
  /// `bytes_max`, but at least one: the largest that edits concern, and those behind it. So those
  /// that come later fit the room that the first one leaves.
  [[nodiscard]] std::span<const KeyEdit> choose_edits(std::span<const KeyEdit> edits,
                                                      std::uint64_t bytes_max) const;
  /// apply() of edits that remove keys: reserves little more than the partitions have now.
  Result<void> remove(container::SegmentWriter& target, std::span<const KeyEdit> edits,
                      container::WorkSteps& steps);
  /// Bytes of all partitions, and of the longest.
  [[nodiscard]] std::uint64_t partition_bytes() const;
  [[nodiscard]] std::uint64_t longest_partition_bytes() const;
  /// After the commit with the edits. Also after a commit without any.
  void committed();
  /// Instead: everything since the last commit is forgotten, what it wrote is given back.
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
  bool only_shrinks_ = false;  // as rewrite() may assume
  /// The committed one, and what each apply() since has made of it. All stay until the commit, so
  /// that no run takes the place of one that the same commit replaces.
  std::vector<DrumState> versions_;
};

}  // namespace crawlstore::drum
