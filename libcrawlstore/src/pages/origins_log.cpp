// SPDX-License-Identifier: Apache-2.0
#include "pages/origins_log.h"

#include <algorithm>

namespace crawlstore::pages {

Result<OriginsLog> OriginsLog::open(const format::SegmentEntry& log, std::uint64_t page_count,
                                    const OpenRun& open_run) {
  OriginsLog origins;
  std::uint64_t next_page = 0;
  for (const auto& run : log.runs) {
    CRAWLSTORE_TRY(auto lookup, OriginsLookup::open(open_run(run)));
    if (lookup->first_page() != next_page) {
      return fail(Errc::kSegmentInvalid, "a run of origins does not begin where the last one ends",
                  run.offset_bytes, log.id);
    }
    next_page += lookup->page_count();
    origins.runs_.push_back(std::move(lookup));
  }
  if (next_page == page_count) return origins;
  return fail(Errc::kSegmentInvalid, "there are not as many origins as pages", Error::kNoOffset,
              log.id);
}

Result<format::Origin> OriginsLog::find(std::uint64_t page) {
  const auto after = std::upper_bound(
      runs_.begin(), runs_.end(), page,
      [](std::uint64_t wanted, const auto& run) { return wanted < run->first_page(); });
  if (after == runs_.begin()) return fail(Errc::kInvalidArgument, "there are no origins");
  return (*std::prev(after))->find(page);
}

}  // namespace crawlstore::pages
