// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Edits that wait in a page database, as a table. Threads: pure functions; any.

#include <cstdint>
#include <memory>

#include <crawlstore/page_view.h>

#include "model/host_rows.h"
#include "model/table_source.h"

namespace crawlstore::model {

/// The table `events`, as they came: sequence, kind, url (or index, where pages have no URLs),
/// time_us, score, link_count, first_link, content_hash. Events can only be read from first to
/// last: so the table is a piece of them, rows_max from `first` on, and reads the file again only
/// for whole_row(). Sequences count all events.
///   errors  kCancelled; of damage
///   cost    reads the events up to the last of the piece; 200 bytes of memory a row and its URLs
Result<std::shared_ptr<const TableSource>> event_rows(const PageView& view, std::uint64_t first,
                                                      std::uint64_t rows_max,
                                                      const PagesProgress& progress);

}  // namespace crawlstore::model
