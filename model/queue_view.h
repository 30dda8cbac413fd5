// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Queues and the pages that wait in them. Ownership: tables own all they hold. Threads: as
/// Snapshot.

#include <span>
#include <string>
#include <vector>

#include <crawlstore/queue.h>

#include "model/table.h"

namespace crawlstore::model {

/// The table `queues`: one row a queue.
Table queues_table(std::span<const QueueInfo> queues);

/// Adds the table `queues` of two states to what differs between them: how many pages and runs, not
/// which. Whether there are queues of one state alone, or with more or fewer pages; then the first
/// field, `differs`, says so. errors of damage
Result<bool> add_queues_diff(const Snapshot& older, const Snapshot& newer, Document& document);

/// A page that waits, and its URL; empty: it has none.
struct WaitingPage {
  QueuedPage queued;
  std::string url;
};
/// The table `pages`. `for_people`: URLs are escaped.
Table waiting_table(std::span<const WaitingPage> pages, bool for_people);

}  // namespace crawlstore::model
