// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of link runs, and their size after a compaction: <crawlstore/tools/link_runs.h>.

#include <cstdint>

#include <crawlstore/tools/link_runs.h>

#include "container/work_steps.h"
#include "links/link_view.h"

namespace crawlstore::pages {

LinkRunInfo describe_run(const links::LogRun& log_run, bool is_incoming);

/// Adds the rows of a run, if it is dense. Each byte of its blocks is one of `steps`.
///   errors  kSegmentInvalid, those of reading, kCancelled
Result<void> add_rows(const links::LinksLookup& run, DenseRowSums& sums,
                      container::WorkSteps& steps);
void expect_rows(const links::LinksLookup& run, container::WorkSteps& steps);

/// Bytes that the links of one way take in the file once compaction has made a base of all runs.
///   link_count  of the database
Result<std::uint64_t> estimate_compacted_bytes(const links::LinkView& view, bool is_incoming,
                                               std::uint64_t link_count);

}  // namespace crawlstore::pages
