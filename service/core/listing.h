// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <crawlstore/frontier_view.h>
#include <crawlstore/snapshot.h>

#include "service/core/crawl.h"

namespace crawlstore::service {

/// Whether a frontier of the snapshot is a crawl, whose bodies are records: it has ids of its own,
/// and there is a DRUM of its known URLs.
bool is_crawl(const Snapshot& snapshot, const FrontierInfo& frontier);
/// Returns the crawls of a snapshot. Errors: those of FrontierView::list().
Result<std::vector<FrontierInfo>> list_crawls(const Snapshot& snapshot);

/// Told of a URL; returns false when it wants no more.
using VisitUrl = std::function<bool(std::string_view queue, const KnownUrl& url)>;

/// Visits the URLs of a crawl that a snapshot has; those that are completed if it was merged before
/// (Crawl::merge()). Beside the writer, on any thread.
///   queue  nothing: all, in no order
///   cost   reads the crawl, or of one queue all whose time has not come
Result<void> for_each_url(const Snapshot& snapshot, std::string_view crawl,
                          std::optional<std::string_view> queue, const VisitUrl& visit);

}  // namespace crawlstore::service
