// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What link runs consist of, and what compaction would make of them: <crawlstore/link_runs.h>.

#include <cstdint>

#include <crawlstore/link_runs.h>

#include "container/work_steps.h"
#include "links/link_view.h"

namespace crawlstore::links {

LinkRunInfo describe_run(const LogRun& log_run, bool is_incoming);

/// Adds the rows of a run, if it is dense. Each byte of its blocks is one of `steps`.
///   errors  kSegmentInvalid, those of reading, kCancelled
Result<void> add_rows(const LinksLookup& run, DenseRowSums& sums, container::WorkSteps& steps);
void expect_rows(const LinksLookup& run, container::WorkSteps& steps);

/// Of a page database.
struct LinkAmounts {
  std::uint64_t page_count = 0;
  std::uint64_t link_count = 0;
};

/// Bytes that the links of one way take in the file once compaction has made a base of all runs.
Result<std::uint64_t> estimate_compacted_bytes(const LinkView& view, bool is_incoming,
                                               const LinkAmounts& amounts);

}  // namespace crawlstore::links
