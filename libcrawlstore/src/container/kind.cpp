// SPDX-License-Identifier: Apache-2.0
#include "container/kind.h"

#include <algorithm>

#include "base/assert.h"

namespace crawlstore::container {

KindSet::KindSet(std::vector<Kind> kinds) : kinds_(std::move(kinds)) {
  for (const Kind& kind : kinds_) {
    rules_.push_back(kind.rule);
    features_ |= kind.rule.feature;
  }
}

const Kind* KindSet::find(SegmentKind kind) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [kind](const Kind& it) { return it.rule.kind == kind; });
  return found == kinds_.end() ? nullptr : &*found;
}

const Kind& KindSet::of(const format::SegmentEntry& entry) const {
  const Kind* kind = find(entry.kind);
  CRAWLSTORE_ASSERT(kind != nullptr);  // parse_table() refuses other kinds
  return *kind;
}

}  // namespace crawlstore::container
