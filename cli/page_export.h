// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The formats of `export`. Memory: a page, its links, and a cache of URLs. Threads: one.

#include <cstdint>
#include <functional>
#include <string>

#include <crawlstore/scores.h>

#include "cli/output_file.h"
#include "cli/page_source.h"

namespace crawlstore::cli {

/// The facts that an export left out, because its format cannot say them.
struct ExportLosses {
  std::uint64_t link_count = 0;      ///< of edges with a URL that breaks the line
  std::uint64_t cut_page_count = 0;  ///< events: pages with more crawls than are told
  std::uint64_t waiting_count = 0;   ///< edits that wait: only events have them
};

/// Told how much of a total is done; what it fails with ends the export.
using Look = std::function<Result<void>(std::uint64_t done, std::uint64_t total)>;

struct PageExport {
  const PageViews& views;
  OutputFile& output;
  const ScoreView* scores = nullptr;  ///< of scores-csv and scores-npy
  bool only_other_hosts = false;
  bool for_spreadsheet = false;
  Look look;
};

/// errors of damage, of the output, of `look`
using ExportFormat = Result<ExportLosses> (*)(const PageExport& what);
/// By its name; nullptr = there is no such format.
ExportFormat find_export_format(const std::string& name);

}  // namespace crawlstore::cli
