// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reports of work done: merges, compaction, imports.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/drum_core.h>
#include <crawlstore/pages.h>
#include <crawlstore/store.h>

#include "model/table.h"

namespace crawlstore::model {

struct DrumMerge {
  std::string name;
  MergeReport report;
};

/// The table `merges`: one row a DRUM.
Document merge_view(const std::vector<DrumMerge>& merges);

Document compact_view(const CompactReport& report, const JoinReport& joined);
Document forget_view(const ForgetReport& report);

/// Counts of the lines of input, by what was done with them.
struct LineCounts {
  std::uint64_t lines = 0;  ///< all that were read
  std::uint64_t unique = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t updated = 0;
  std::uint64_t dropped = 0;         ///< repeats that nobody was told of
  std::uint64_t unparsed = 0;        ///< of these: no URL by the URL Standard, keyed by their bytes
  std::uint64_t skipped = 0;         ///< empty lines
  std::uint64_t refused = 0;         ///< too long, or not to be printed in plain output
  std::uint64_t cut = 0;             ///< lines that went on after the TAB that ends a URL
  std::uint64_t refused_inputs = 0;  ///< that are no text
};
Document lines_view(const LineCounts& counts);

}  // namespace crawlstore::model
