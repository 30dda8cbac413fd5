// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The index of contents: for each content that a page ever had a key, the hash of its hash and the
/// page, in a few runs. A key counts only if the record of its page still has that content: so
/// nothing is taken out when contents change, and hashes may collide. spec/pages.md#pages.
///
/// Its writes go into the writer's changes; the caller commits. Threads: one.

#include <cstdint>
#include <span>
#include <vector>

#include "container/work_steps.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "pages/key_runs.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

inline constexpr std::size_t kContentRunsMax = 8;
inline constexpr drum::Shape kContentKeyShape{format::kWideKeyBytes, 0};

/// The key of a page with this content. `content_hash` is not empty.
Key16 content_key(std::span<const std::byte> content_hash, std::uint64_t page,
                  std::uint64_t key_seed);

KeyLog content_log(PagesState& state);

/// Contents that pages got in a superstep, in any order.
struct NewContents {
  std::vector<Key16> first;  ///< of pages that had none ever before
  std::vector<Key16> later;  ///< of others: they may have had it

  /// Adds the content that the record of a page has now, and whose crawl was not counted yet.
  void add(const format::PageRecord& record, std::uint64_t page, std::uint64_t key_seed);
  [[nodiscard]] bool empty() const { return first.empty() && later.empty(); }
};

/// Makes keys of contents, but those that are there.
///   errors  as append_keys()
Result<void> add_contents(container::SegmentWriter& writer, PagesState& state, NewContents contents,
                          container::WorkSteps& steps);

/// Whether the index is one run at most, in which each key counts. cost: reads all records
Result<bool> is_settled(container::SegmentWriter& writer, PagesState& state,
                        container::WorkSteps& steps);

/// Makes the index anew from the records, as one run.
///   cost    reads all records; memory: 64 MiB
Result<void> rebuild_contents(container::SegmentWriter& writer, PagesState& state,
                              container::WorkSteps& steps);

}  // namespace crawlstore::pages
