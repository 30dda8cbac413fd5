// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <crawlstore/page_view.h>

#include "base/inside.h"
#include "pages/page_view_impl.h"
#include "pages/pages_state.h"
#include "rescue/patient.h"

namespace crawlstore::rescue {

/// A page database that is being repaired. Threads: one.
struct PageDatabase {
  PageDatabase(Patient& of, pages::PagesState stored, PageView damaged)
      : patient(of),
        writer(of.writer),
        state(std::move(stored)),
        table(state.table),
        view(std::move(damaged)),
        forgotten(table.page_count) {}

  [[nodiscard]] bool is_damaged(SegmentId id) const {
    const auto* entry = id ? writer.directory()->find(id) : nullptr;
    return entry != nullptr && std::ranges::any_of(entry->runs, [this](const auto& run) {
             return patient.is_damaged(run);
           });
  }
  [[nodiscard]] bool is_doubtful() const { return patient.doubtful.contains(state.id); }
  [[nodiscard]] PageView::Impl& inside() const { return Inside::of(view); }
  [[nodiscard]] container::Reader& reader() const { return Inside::of(inside().snapshot); }
  /// Asks whether to go on, now and then. errors kCancelled
  Result<void> look() {
    constexpr std::uint64_t kStepsPerLook = std::uint64_t{1} << 14;
    return ++steps % kStepsPerLook == 0 ? patient.advance(0) : Result<void>{};
  }

  Patient& patient;
  container::Writer& writer;
  pages::PagesState state;
  format::PagesTable& table;    ///< of `state`: changed by repairs
  PageView view;                ///< goes on past damage
  std::vector<bool> forgotten;  ///< pages whose URL was lost here
  bool is_any_forgotten = false;
  std::uint64_t steps = 0;
};

/// Writes the links of both directions anew, from what of either can be read.
Result<void> repair_links(PageDatabase& database);

}  // namespace crawlstore::rescue
