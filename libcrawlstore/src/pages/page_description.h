// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The table, the records and the waiting edits of a page database, taken apart for people.

#include "container/description.h"

namespace crawlstore::pages {

/// The whole table.
void describe_pages(container::Description& out, const container::RunSource& source);
/// Headers.
void describe_record_tile(container::Description& out, const container::RunSource& source);
void describe_event_run(container::Description& out, const container::RunSource& source);

}  // namespace crawlstore::pages
