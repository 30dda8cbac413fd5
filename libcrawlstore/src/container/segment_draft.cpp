// SPDX-License-Identifier: Apache-2.0
#include "container/segment_draft.h"

#include "base/assert.h"

namespace crawlstore::container {

const format::SegmentEntry* SegmentDraft::find(SegmentId id) const {
  const auto change = changes_.find(id);
  if (change == changes_.end()) return base_->find(id);
  return change->second ? &*change->second : nullptr;
}

void SegmentDraft::put(format::SegmentEntry entry) {
  const SegmentId id = entry.id;
  changes_.insert_or_assign(id, std::move(entry));
}

void SegmentDraft::remove(SegmentId id) {
  changes_.insert_or_assign(id, std::nullopt);
}

void SegmentDraft::tell() {
  CRAWLSTORE_ASSERT(writer_.directory() == base_);
  for (auto& [id, entry] : changes_) {
    if (entry) {
      writer_.put(std::move(*entry));
    } else {
      writer_.remove(id);
    }
  }
  changes_.clear();
}

}  // namespace crawlstore::container
