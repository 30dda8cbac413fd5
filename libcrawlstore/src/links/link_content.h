// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kind::check and its siblings of link runs: spec/links.md#link-runs and #dense-link-runs.

#include <vector>

#include "container/kind.h"
#include "format/layout.h"

namespace crawlstore::links {

/// The first and the last page, and the highest link; 0 without links.
struct LinkContent final : container::RunContent {
  using RunContent::RunContent;
  std::uint64_t page_min = 0;
  std::uint64_t page_max = 0;
  std::uint64_t target_max = 0;
};

/// A LinkContent. memory  two windows, and one block
Result<container::RunContentPtr> check_link_run(const container::PayloadSource& payload,
                                                const container::ContentProgress& progress);

/// Describes the footer, the index and the headers of blocks.
void describe_link_run(container::Description& out, const container::RunSource& source);

/// Describes the footer, and the block or index entry that holds `place`, an offset in the payload.
void describe_link_run_at(container::Description& out, const container::RunSource& source,
                          std::uint64_t place);

/// Describes all parts of a dense run, up to Description::entries_max() of each.
///   footer  parsed
void describe_dense_run(container::Description& out, const container::RunSource& source,
                        const format::LinkRunFooter& footer);
/// Describes the block, model or group that holds `place` of the payload.
void describe_dense_run_at(container::Description& out, const container::RunSource& source,
                           const format::LinkRunFooter& footer, std::uint64_t place);

/// The rows of the segments that hold links: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::links
