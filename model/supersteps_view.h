// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs of a sample of supersteps (crawlstore/tools/supersteps.h) as a document, and as a picture.
/// Ownership: plain values. Threads: any.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/tools/supersteps.h>

#include "model/table.h"

namespace crawlstore::model {

/// A crawl that was extracted again, with the runs that were made.
struct SuperstepStudy {
  std::uint64_t processor_count = 0;
  std::string site;  ///< "host", "domain", "block:500"
  std::uint64_t site_count = 0;
  std::string order;  ///< "pagerank", "index", "score:NAME"
  bool is_as_printed = false;
  std::uint64_t page_count = 0;
  std::uint64_t remote_link_count = 0;
  double balance = 0;
  std::optional<double> error_bound;  ///< nothing: one tolerance was asked for
  std::optional<SuperstepRun> best;   ///< or the one that was asked for
  bool is_unbounded = false;
  std::vector<SuperstepRun> runs;  ///< by tolerance
};

/// Returns the best run, and the table `runs` if asked for.
Document supersteps_view(const SuperstepStudy& study, bool with_runs);

/// Returns an SVG of error and pages a superstep over the tolerance, on logarithmic axes.
std::string supersteps_svg(const SuperstepStudy& study);

}  // namespace crawlstore::model
