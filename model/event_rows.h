// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Edits that wait in a page database, as a table. Threads: pure functions; any.

#include <cstdint>
#include <memory>

#include <crawlstore/page_view.h>

#include "model/host_rows.h"
#include "model/row_source.h"

namespace crawlstore::model {

/// The table `events`, as they came: sequence, kind, url (or index, where pages have no URLs),
/// time_us, score, link_count, first_link, content_hash. They are read from first to last, so the
/// table holds at most `rows_max`, and reads the file again only for whole_row().
///   errors  kCancelled; of damage
///   cost    reads the events up to rows_max; about 200 bytes of memory a row and its URLs
Result<std::shared_ptr<const RowSource>> event_rows(const PageView& view, std::uint64_t rows_max,
                                                    const PagesProgress& progress);

}  // namespace crawlstore::model
