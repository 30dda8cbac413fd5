// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kind::check and its siblings of a page database: spec/events.md#event-runs,
/// pages.md#record-tiles and #origin-runs.

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

/// The first and the last page.
struct OriginContent final : container::RunContent {
  using RunContent::RunContent;
  std::uint64_t page_min = 0;
  std::uint64_t page_max = 0;
};

/// An EventContent.
Result<container::RunContentPtr> check_event_run(std::span<const std::byte> payload);
/// A RecordContent.
Result<container::RunContentPtr> check_record_tile(std::span<const std::byte> payload);

/// An OriginContent. memory  two windows, and one block
Result<container::RunContentPtr> check_origin_run(const container::PayloadSource& payload,
                                                  const container::ContentProgress& progress);

/// Describes the whole table.
void describe_pages(container::Description& out, const container::RunSource& source);
/// These describe headers.
void describe_record_tile(container::Description& out, const container::RunSource& source);
void describe_event_run(container::Description& out, const container::RunSource& source);

/// Describes the footer, dictionary, index, and blocks.
void describe_origins(container::Description& out, const container::RunSource& source);

/// Describes the footer, and the block that holds `place` of the payload.
void describe_origins_at(container::Description& out, const container::RunSource& source,
                         std::uint64_t place);

/// The rows of the segments of a page database but its links: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::pages
