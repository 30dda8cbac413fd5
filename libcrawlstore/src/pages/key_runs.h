// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Logs of a page database whose runs are ascending keys, each in one run: keys of pages that are
/// not in their DRUM yet, and the index of contents. spec/pages.md#pages.
///
/// Their writes go into the writer's changes; the caller commits. Threads: one.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "container/segment_writer.h"
#include "container/work_steps.h"
#include "drum/key_source.h"
#include "drum/partition_probe.h"

namespace crawlstore::pages {

/// More would not fit a partition.
inline constexpr std::uint64_t kRunKeysMax = std::uint64_t{1} << 30;

/// A log of keys, as the writer has it now. The id is 0 while there is none.
struct KeyLog {
  SegmentId& segment;
  SegmentKind kind;
  SegmentId owner;
  drum::Shape shape;
  std::size_t runs_max;  ///< a key is looked for in each of them

  /// The runs, oldest first.
  [[nodiscard]] std::vector<format::RunRef> runs(const container::SegmentWriter& writer) const;
  /// Puts the runs in the place of those that are there; without runs removes the segment.
  void put(container::SegmentWriter& writer, std::vector<format::RunRef> runs) const;
};

std::uint64_t key_count_of(std::span<const format::RunRef> runs);

/// The keys of the runs as one source, with those that are `added`, if there are some.
Result<std::unique_ptr<drum::MergedKeys>> merged_runs(container::SegmentWriter& writer,
                                                      const KeyLog& log,
                                                      std::span<const format::RunRef> runs,
                                                      std::unique_ptr<drum::KeySource> added = {});

/// Opens a run for looking up.
Result<std::shared_ptr<const drum::PartitionLookup>> open_key_run(container::SegmentWriter& writer,
                                                                  const KeyLog& log,
                                                                  const format::RunRef& run);

/// Writes the keys of the source, of which there are some, as one run; those that it removes are
/// left out. Each is one of `steps`.
///   errors  kNoSpace and the like, of damage, kCancelled
Result<format::RunRef> write_key_run(container::SegmentWriter& writer, const KeyLog& log,
                                     drum::KeySource& source, container::WorkSteps& steps);

/// Adds `count` keys, of which none is there, as a run, joined with runs that are there when these
/// would be too many.
///   count   not 0
///   cost    each key is written again about five times while keys become ten times as many
///   errors  as write_key_run()
Result<void> append_keys(container::SegmentWriter& writer, const KeyLog& log,
                         std::unique_ptr<drum::KeySource> keys, std::uint64_t count,
                         container::WorkSteps& steps);

}  // namespace crawlstore::pages
