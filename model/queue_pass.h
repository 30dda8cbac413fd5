// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The findings of a pass over a whole queue. Ownership: results own all they hold. Threads: pure
/// functions; any. Each pass reads the pages in the order in which they would leave, says how far
/// it is, and fails with kCancelled when it is told to stop.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/queue.h>

#include "model/diff_gaps.h"
#include "model/host_rows.h"
#include "model/queue_view.h"
#include "model/table.h"

namespace crawlstore::model {

/// The hosts of all pages that wait.
struct WaitingHosts {
  Table table;  ///< `hosts`: host, page_count, page_share; most pages first
  std::uint64_t page_count = 0;
  std::uint64_t unknown_count = 0;  ///< pages that the database does not have
};
/// Pages whose URLs have no host share one row, with an empty name.
///   errors  kCancelled; of damage
///   cost    a pass over the queue, one over the keys of all pages, and a URL a host; a bit a page
Result<WaitingHosts> waiting_hosts(const QueueView& queue, const PageView& pages,
                                   const PagesProgress& progress);

/// Adds the table `queues` of two states: how many pages and runs, and whether other pages wait, or
/// with other priorities. Where they do, the first field of the document becomes true.
///   errors  kCancelled; of damage
///   cost    reads the queues that have as many pages as before, and were changed
///   gaps    goes past damage: a queue that one state cannot tell is left out, and added there
Result<void> add_queues_diff(const Snapshot& older, const Snapshot& newer,
                             const PagesProgress& progress, Document& document,
                             DiffGaps* gaps = nullptr);

/// Priorities from the first one down to the last one, both included.
struct PriorityRange {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();
  bool operator==(const PriorityRange&) const = default;
};
/// "0.5", "-1", "1e-7"; "" = no limit, which is `endless`. nullopt = no number.
std::optional<double> parse_priority(std::string_view text, double endless);
/// Writes a priority in the form that parse_priority() reads.
std::string format_priority(double priority);

/// Counts what remains in the bins of QueueView::distribution(), which knows that only about: pages
/// that wait, and no stale entries. Counts of what has left stay as they were.
///   errors  kCancelled; of damage
///   cost    reads the queue
Result<std::vector<QueueBin>> counted_bins(const QueueView& queue, std::vector<QueueBin> bins,
                                           const PagesProgress& progress);

/// A number of the pages that wait and their priorities: equal for equal ones, whatever their runs,
/// and unequal for others but with a chance of 2^-64.
///   errors  kCancelled; of damage
///   cost    reads the queue
Result<std::uint64_t> content_number(const QueueView& queue, const PagesProgress& progress);

struct WaitingInRange {
  std::vector<WaitingPage> pages;  ///< the first ones; URLs are those of row_url()
  std::uint64_t page_count = 0;    ///< that have such a priority
  std::uint64_t before_count = 0;  ///< that leave before these
};
/// The first `count` pages of a range.
///   pages   as in waiting_pages()
///   errors  kCancelled; of damage
///   cost    reads the queue up to the end of the range, or only up to the last page that is wanted
///           where the range has no end
Result<WaitingInRange> waiting_in_range(const QueueView& queue, const PageView* pages,
                                        const PriorityRange& range, std::size_t count,
                                        const PagesProgress& progress);

/// The place of a waiting page.
struct QueuePlace {
  double priority = 0;
  std::uint64_t place = 0;         ///< 1 leaves first
  std::uint64_t higher_count = 0;  ///< pages before it that have a higher priority
  double highest_priority = 0;     ///< of the page that is next
};
/// Finds a page in a queue; nullopt = it does not wait there.
///   errors  kCancelled; of damage
///   cost    reads the queue up to the page
Result<std::optional<QueuePlace>> find_place(const QueueView& queue, std::uint64_t page,
                                             const PagesProgress& progress);
/// Says in one or two sentences where a page waits in a queue, and why it is not next.
///   page  what the database knows of it; nullopt = nothing
std::string place_text(const QueueInfo& queue, const std::optional<QueuePlace>& place,
                       const std::optional<PageInfo>& page);

}  // namespace crawlstore::model
