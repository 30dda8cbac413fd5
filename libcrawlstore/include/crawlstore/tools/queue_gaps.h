// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading a damaged queue as far as it goes. Bytes: spec/queue.md#queue-tables and #queue-runs.
///
///   CRAWLSTORE_TRY(const auto peeked, peek_past_damage(*snapshot, "queue", 100));
///   for (const QueuedPage& page : peeked.pages) show(page);
///   for (const QueueGap& gap : peeked.gaps) report(gap);
///
/// Ownership: as in crawlstore.hpp. Threads: as Snapshot.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <crawlstore/queue.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Bytes of a queue that cannot be read. Entries that they hold may belong before pages that are
/// shown.
struct QueueGap {
  std::uint64_t offset_bytes = 0;  ///< in the file
  std::uint64_t length_bytes = 0;
  /// Entries of this part of a run, some of which may have left already, or be stale. Nothing, as
  /// the priorities are: the index cannot be read, so that there may be any, of any priority.
  std::optional<std::uint64_t> entry_count;
  std::optional<double> first_priority;  ///< none is higher
  std::optional<double> last_priority;   ///< none is lower
  /// The table, or a run of changes: nothing says for certain which pages wait, and none is shown.
  bool hides_all = false;
  Error error;
};

struct QueuePeek {
  std::vector<QueuedPage> pages;
  std::vector<QueueGap> gaps;  ///< those that were met up to the last of these pages
};

/// Returns the `count` pages that leave first, or all, of those whose entries can be read. Their
/// order is right; what a gap holds may belong anywhere between the priorities that it names.
///   errors  kUnknownName: the generation has no queue of this name
///   cost    the indexes of all runs, all changes, and fragments up to the last of these pages
[[nodiscard]] Result<QueuePeek> peek_past_damage(const Snapshot& snapshot, std::string_view name,
                                                 std::size_t count);

}  // namespace crawlstore
#pragma GCC visibility pop
