// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cost of damage: which pages, hosts and queues cannot be read because of it, and which parts
/// of them. Ownership: tables own all they hold. Threads: as PageView.

#include <functional>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/queue.h>

#include "model/table.h"

namespace crawlstore::model {

/// The table `damage_reach`: a row for each place that is damaged and each part of pages that lies
/// there: part (record, URL, links out, links in, key, a score array), database, page_count,
/// first_page, last_page, hosts (the largest three, and how many there are), segment,
/// offset_bytes. A page without its key is not found by its URL. The page_count of a queue is that
/// of the pages that leave after the first damage.
///   damaged   is told of each place once, whatever its parts
///   progress  how far it is; false = stop
///   errors    kCancelled
///   cost      asks for every part of every page: some 10 us a page; 8 bytes a page that is touched
Result<Table> damage_reach(const std::vector<PageView>& databases, const Snapshot& snapshot,
                           const std::function<void(const Error&)>& damaged,
                           const std::function<bool(std::uint64_t, std::uint64_t)>& progress);

}  // namespace crawlstore::model
