// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Keys of pages that are not in their DRUM yet: a few runs beside it, so that a superstep does not
/// write all keys again. spec/pages.md#pages.
///
/// Its writes go into the writer's changes; the caller commits. Threads: one.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "container/work_steps.h"
#include "drum/key_table.h"
#include "format/pages_table.h"
#include "pages/key_runs.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

/// Runs of fresh keys. A page is looked for in each of them.
inline constexpr std::size_t kFreshKeyRunsMax = 4;

inline constexpr drum::Shape kPageKeyShape{format::kWideKeyBytes, format::kPageValueBytes};

class FreshKeys {
 public:
  /// Those of the segment, which need not be there. The writer outlives it.
  ///   errors  of damage
  static Result<FreshKeys> open(container::SegmentWriter& writer, PagesState& state);

  /// Looks up `keys` in all runs, as KeyTable::find_sorted() does.
  Result<void> find_sorted(std::span<const Key16> keys, const drum::VisitFound& visit) const;

 private:
  std::vector<std::shared_ptr<const drum::PartitionLookup>> runs_;
};

/// The log of them.
KeyLog fresh_log(PagesState& state);

/// Looks for keys, which ascend, in one run of fresh keys.
Result<void> find_in_run(container::SegmentWriter& writer, const KeyLog& log,
                         const format::RunRef& run, std::span<const Key16> keys,
                         const drum::VisitFound& visit);

/// Writes a run anew without some of its keys; nothing when these are all of them.
Result<std::optional<format::RunRef>> write_key_run_without(container::SegmentWriter& writer,
                                                            const KeyLog& log,
                                                            const format::RunRef& run,
                                                            std::span<const drum::KeyEdit> removals,
                                                            container::WorkSteps& steps);

/// Makes keys of pages: `edits` ascend, and none of them is there. They become a run, joined with
/// runs that are there when these would be too many; or all go into the DRUM, when they are more
/// than half as many as its own. Each key that is written is one of `steps`.
///   cost, errors  as append_keys()
Result<void> add_keys(container::SegmentWriter& writer, PagesState& state, drum::KeyTable& keys,
                      std::span<const drum::KeyEdit> edits, container::WorkSteps& steps);

/// Brings all runs into the DRUM, and applies `edits`, which ascend, to all keys. Likewise.
Result<void> settle_keys(container::SegmentWriter& writer, PagesState& state, drum::KeyTable& keys,
                         std::span<const drum::KeyEdit> edits, container::WorkSteps& steps);

}  // namespace crawlstore::pages
