// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Queues and the pages that wait in them. Ownership: tables own all they hold. Threads: as
/// Snapshot.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/queue.h>

#include "model/table.h"

namespace crawlstore::model {

/// The queues that can be opened, by name, and why another one cannot.
struct ReadableQueues {
  std::vector<QueueInfo> queues;
  std::optional<Error> problem;
};
ReadableQueues readable_queues(const Snapshot& snapshot);

/// The table `queues`: one row a queue.
Table queues_table(std::span<const QueueInfo> queues);

/// A page that waits, and its URL; empty: it has none.
struct WaitingPage {
  QueuedPage queued;
  std::string url;
};
/// The table `pages`.
Table waiting_table(std::span<const WaitingPage> pages);

/// The first `count` pages with their whole URLs, if `pages` has them; nullptr: nobody has.
///   errors, cost  as QueueView::peek(); a block of URLs a page
Result<std::vector<WaitingPage>> waiting_pages(const QueueView& queue, const PageView* pages,
                                               std::size_t count);
/// The table `first`: index, place, priority, host, url as in row_url(). Place 1 leaves first.
///   before_count  pages that leave before these
Table first_table(std::span<const WaitingPage> pages, std::uint64_t before_count = 0);

/// The table `runs`: one row a run of a queue.
///   segments  of the same generation: they know where a run lies, and since when
Table queue_runs_table(const QueueInfo& queue, std::span<const QueueRunInfo> runs,
                       std::span<const SegmentInfo> segments);

/// The place of a priority among bins of QueueView::distribution(): from 0, before all, to 1.
double place_among(std::span<const QueueBin> bins, double priority);
/// The priority at a place from 0 to 1; `bins` has at least one.
double priority_among(std::span<const QueueBin> bins, double place);
/// About how many pages leave before those of a bin: entries that remain in the bins before it.
std::uint64_t remaining_before(std::span<const QueueBin> bins, std::size_t bin);

/// Pages that queue_fields() looks at.
inline constexpr std::size_t kPlacesMax = 1000;
/// A field `place:NAME` for each queue that has the page among its first kPlacesMax; of a queue
/// that cannot be read, why.
///   cost  as QueueView::peek(), of each queue
std::vector<Field> queue_fields(const Snapshot& snapshot, std::uint64_t index);

}  // namespace crawlstore::model
