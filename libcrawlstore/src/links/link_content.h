// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payload of a link run must keep by itself: spec/format.md#link-runs.

#include <vector>

#include "container/kind.h"

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

/// The rows of the segments that hold links: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::links
