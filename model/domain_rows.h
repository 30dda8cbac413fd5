// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Hosts by the registered domain that they belong to (crawlstore/registered_domain.h).
/// Threads: pure functions; any.

#include <string_view>

#include "model/table.h"

namespace crawlstore::model {

/// The table of hosts_table() with a column `domain` behind `host`.
///   cost  about a microsecond a host
Table with_domains(Table hosts);

/// The table `domains`: the hosts of with_domains() summed up: domain, host_count, page_count,
/// crawled_count, crawled_share, gone_count, failed_count; by name.
Table domains_table(const Table& hosts);

/// Rows with the most pages first, else as they stood.
void sort_by_page_count(Table& table);

}  // namespace crawlstore::model
