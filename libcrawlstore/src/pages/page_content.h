// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payloads of event runs and record tiles must keep by themselves:
/// spec/format.md#event-runs and #record-tiles.

#include <cstdint>
#include <span>
#include <vector>

#include "container/kind.h"

namespace crawlstore::pages {

/// Whether some page is named by a URL; the highest index that names a page without one.
struct EventContent final : container::RunContent {
  using RunContent::RunContent;
  bool names_urls = false;
  std::uint64_t index_max = 0;
};

/// The number of pages that were crawled at least once.
struct RecordContent final : container::RunContent {
  using RunContent::RunContent;
  std::uint64_t crawled_count = 0;
  std::uint64_t elsewhere_count = 0;
};

/// An EventContent.
Result<container::RunContentPtr> check_event_run(std::span<const std::byte> payload);
/// A RecordContent.
Result<container::RunContentPtr> check_record_tile(std::span<const std::byte> payload);

/// The rows of the segments of a page database but its links: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::pages
