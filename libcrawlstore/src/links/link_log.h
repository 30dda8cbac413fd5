// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The logs of links: appending runs, and merging them so that they stay few.
/// spec/links.md#links.
///
/// All of this changes the writer's pending state with put(); commits are the caller's. After an
/// error the state is as it was. Runs that a merge replaces before they were ever committed are
/// released. Threads: the writer's one.

#include <cstdint>
#include <span>

#include "container/work_steps.h"
#include "container/writer.h"
#include "links/link_view.h"

namespace crawlstore::links {

/// Each way has at most one base, which is its oldest run, and as many runs besides; those of
/// in_links and gone_links count together.
inline constexpr std::size_t kFreshRunsMax = 8;

/// Puts a finished run behind the others of its segment, which must exist. The run's id is higher
/// than theirs.
void append_run(container::SegmentWriter& writer, SegmentId segment, const format::RunRef& run);

/// The payload of a run with all rows of these, by their footers, which the runs' lengths bound.
std::uint64_t joined_bytes_max(std::span<const LogRun> runs);

/// Whether the oldest run may be merged with others: it has most links, and may be dense, which
/// what it is merged into is not.
enum class BaseRun : std::uint8_t { kMayGo, kStays };

/// Merges the newest runs if there are more than kFreshRunsMax besides the base. Each row and each
/// link that is written counts as one of `steps`.
///   errors  those of reading runs, kNoSpace and the like, kCancelled
///   memory  a block a run; the file holds old and new runs until the next commits
Result<void> bound_out_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                            container::WorkSteps& steps);
Result<void> bound_in_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                           container::WorkSteps& steps);
/// The same where links go, and the file should grow little: the base, which may be dense, stays as
/// it is until the others take half as much; then all become as dense as compaction makes them.
Result<void> bound_shrunk_out_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                                   container::WorkSteps& steps);
Result<void> bound_shrunk_in_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                                  container::WorkSteps& steps);

/// Merges one way into one base, dense if it is large enough: no gone links are left, and no rows
/// without links. Likewise, but that its steps are expected by expect_compaction(), of both. Some
/// 100 ns a link, shared by the processor's cores. Returns the most bytes that survey and writer
/// held; 0 when there was nothing to do.
Result<std::uint64_t> compact_out_links(container::SegmentWriter& writer,
                                        const LinkSegments& segments, container::WorkSteps& steps);
Result<std::uint64_t> compact_in_links(container::SegmentWriter& writer,
                                       const LinkSegments& segments, container::WorkSteps& steps);
Result<void> expect_compaction(container::SegmentWriter& writer, const LinkSegments& segments,
                               container::WorkSteps& steps);

}  // namespace crawlstore::links
