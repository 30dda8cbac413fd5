// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <crawlstore/snapshot.h>

#include "service/core/crawl.h"

namespace crawlstore::service {

/// Told of a URL; returns false when it wants no more.
using VisitUrl = std::function<bool(std::string_view queue, const KnownUrl& url)>;

/// Visits the URLs of a crawl that a snapshot has; those that are completed if it was merged before
/// (Crawl::merge()). Beside the writer, on any thread.
///   queue  nothing: all, in no order
///   cost   reads the crawl, or of one queue all whose time has not come
Result<void> for_each_url(const Snapshot& snapshot, std::string_view crawl,
                          std::optional<std::string_view> queue, const VisitUrl& visit);

}  // namespace crawlstore::service
