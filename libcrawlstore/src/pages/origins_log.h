// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The origin of any page: a log of origin runs as one.

#include <functional>
#include <memory>
#include <vector>

#include "format/directory.h"
#include "pages/origins_run.h"

namespace crawlstore::pages {

/// Keeps the block that each run decoded last. Threads: one at a time.
class OriginsLog {
 public:
  using OpenRun =
      std::function<std::shared_ptr<const container::RunReader>(const format::RunRef& run)>;

  /// Reads the footers. `page_count`: that of the page database.
  ///   errors  kSegmentInvalid: the runs do not follow each other from page 0 to the last; of
  ///   damage
  static Result<OriginsLog> open(const format::SegmentEntry& log, std::uint64_t page_count,
                                 const OpenRun& open_run);

  /// Returns the origin of a page below page_count, valid until the next call.
  ///   errors  those of OriginsLookup::find()
  Result<format::Origin> find(std::uint64_t page);

 private:
  std::vector<std::unique_ptr<OriginsLookup>> runs_;  // ascending pages
};

}  // namespace crawlstore::pages
