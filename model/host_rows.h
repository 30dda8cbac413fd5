// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The hosts of a page database, with how much there is of each. Threads: pure functions; any.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/snapshot.h>

#include "model/page_source.h"
#include "model/table.h"

namespace crawlstore::model {

/// The progress; false = stop.
using PagesProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// Pages by index: whether each waits in a queue.
using WaitingPages = std::vector<bool>;

/// Returns the pages that wait in at least one queue of the snapshot; pages from `page_count` on
/// are left out.
///   errors  kCancelled; of damage
///   cost    as QueueView::for_each_page() of one queue after the other
Result<WaitingPages> waiting_in_queues(const Snapshot& snapshot, std::uint64_t page_count,
                                       const PagesProgress& progress);

/// The largest hosts that are told of while others are still counted, at most.
inline constexpr std::size_t kLargestHosts = 1000;

struct HostsOptions {
  /// Adds the column waiting_count; nullptr = no such column.
  const WaitingPages* waiting = nullptr;
  /// Called now and then with the largest of the hosts that are counted already, the largest first,
  /// as rows of the table; and with how many hosts these are of.
  std::function<void(Table largest, std::uint64_t host_count)> so_far{};
  /// Called with what cannot be read, as often as it is met: a page whose record is damaged counts
  /// in unreadable_count and in no other state, hosts without a URL that can be read are called
  /// "(damaged)". Empty = that is an error.
  std::function<void(const Error& problem)> damaged{};
};

/// The table `hosts`, in the order of their keys: host, page_count, crawled_count, crawled_share,
/// gone_count, failed_count, waiting_count (see HostsOptions), unreadable_count (if the record of a
/// page is damaged), first_page (the page of the smallest key). The share is that of the pages
/// whose records can be read; of none it is empty. Pages without a host share one row, with an
/// empty name.
///   errors  kCancelled; of damage
///   cost    reads all records, then all keys, and a URL a host; 2 bits a page beside the rows, 3
///   if
///           a record is damaged
Result<Table> hosts_table(const PageView& view, const PagesProgress& progress,
                          const HostsOptions& options = {});

/// Returns rows of hosts_table() for people: the largest hosts first, kNoHost in place of an empty
/// name, a column unicode_host after the name if a host has such a form, and unreadable_count,
/// waiting_count and failed_count right after page_count.
Table named_hosts(Table hosts);

/// The pages of a host, as in URLs, normalised; in the order of their keys.
///   errors  kCancelled; of damage
///   cost    a key each, and no page; 8 bytes of memory each
Result<PageList> pages_of_host(const PageView& view, std::string_view host,
                               const PagesProgress& progress);

}  // namespace crawlstore::model
