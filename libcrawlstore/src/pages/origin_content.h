// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payload of an origin run must keep by itself: spec/format.md#origin-runs.

#include "container/kind.h"

namespace crawlstore::pages {

/// The first and the last page.
struct OriginContent final : container::RunContent {
  using RunContent::RunContent;
  std::uint64_t page_min = 0;
  std::uint64_t page_max = 0;
};

/// An OriginContent. memory  two windows, and one block
Result<container::RunContentPtr> check_origin_run(const container::PayloadSource& payload,
                                                  const container::ContentProgress& progress);

}  // namespace crawlstore::pages
