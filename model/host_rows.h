// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The hosts of a page database, with how much there is of each. Threads: pure functions; any.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>

#include "model/page_source.h"
#include "model/table.h"

namespace crawlstore::model {

/// How far it is; false = stop.
using PagesProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// The table `hosts`, in the order of their keys: host, page_count, crawled_count, crawled_share,
/// gone_count, failed_count, first_page (the page of the smallest key). Pages without a host share
/// one row, with an empty name.
///   errors  kCancelled; of damage
///   cost    reads all records, then all keys, and a URL a host; 2 bits a page beside the rows
Result<Table> hosts_table(const PageView& view, const PagesProgress& progress);

/// The pages of a host, as in URLs, normalised; in the order of their keys.
///   errors  kCancelled; of damage
///   cost    a page each; 8 bytes of memory each
Result<PageList> pages_of_host(const PageView& view, std::string_view host,
                               const PagesProgress& progress);

}  // namespace crawlstore::model
