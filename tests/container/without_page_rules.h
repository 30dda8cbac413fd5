// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "container/kind.h"

namespace crawlstore::testing {

/// All kinds, but page databases may hold anything, and need not name what belongs to them.
inline const container::KindSet& without_page_rules() {
  static const container::KindSet kKinds = [] {
    const auto all = container::all_kinds().all();
    std::vector<container::Kind> kinds(all.begin(), all.end());
    for (container::Kind& kind : kinds) {
      if (kind.rule.kind == SegmentKind::kPages) kind.verify = nullptr;
    }
    return container::KindSet(std::move(kinds));
  }();
  return kKinds;
}

}  // namespace crawlstore::testing
