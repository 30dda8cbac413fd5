// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "container/reader.h"
#include "pages/origins_run.h"
#include "rescue/patient.h"

namespace crawlstore::rescue {

/// The URLs of a page database, run by run: a damaged run takes no other with it.
class ReadableOrigins {
 public:
  ReadableOrigins(container::Reader& reader, const format::SegmentEntry& log) {
    std::uint64_t next_page = 0;
    for (const auto& run : log.runs) {
      auto lookup = pages::OriginsLookup::open(reader.run_reader(log.id, run));
      // Runs before it may be lost.
      const bool fits = lookup && (*lookup)->first_page() >= next_page &&
                        (*lookup)->page_count() == run.record_count;
      if (fits) next_page = (*lookup)->first_page();
      runs_.push_back({next_page, next_page + run.record_count, fits ? std::move(*lookup) : nullptr,
                       damage_of(run, log.id)});
      next_page += run.record_count;
    }
  }
  Result<format::Origin> find(std::uint64_t page) const {
    auto run =
        std::upper_bound(runs_.begin(), runs_.end(), page,
                         [](std::uint64_t wanted, const Run& a) { return wanted < a.first; });
    if (run == runs_.begin()) return fail(Errc::kSegmentInvalid, "no run has this page");
    --run;
    if (run->lookup == nullptr || page >= run->end) return tl::unexpected<Error>(run->error);
    return run->lookup->find(page);
  }

 private:
  struct Run {
    std::uint64_t first;
    std::uint64_t end;
    std::unique_ptr<pages::OriginsLookup> lookup;
    Error error;
  };
  std::vector<Run> runs_;
};

}  // namespace crawlstore::rescue
