// SPDX-License-Identifier: Apache-2.0
#include "container/drop_parts.h"

#include <algorithm>

namespace crawlstore::container {
namespace {

Result<SegmentId> find_part(const StoreImpl& store, const PartName& part) {
  const Directory& directory = *store.writer->directory();
  const Kind* const kind = directory.kinds->find(part.kind);
  if (kind == nullptr || !kind->can_be_dropped) {
    return fail(Errc::kInvalidArgument, "only DRUMs, queues and frontiers can be dropped");
  }
  if (store.find(part.kind, part.name) != nullptr) {
    return fail(Errc::kInvalidArgument, "a part that is open cannot be dropped; close it first");
  }
  const auto* const entry = directory.find_named(part.kind, part.name);
  if (entry == nullptr) {
    return fail(Errc::kUnknownName, "the store has no part of this kind and name to drop");
  }
  const bool is_needed =
      kind->needed_by && (store.find(*kind->needed_by, part.name) != nullptr ||
                          directory.find_named(*kind->needed_by, part.name) != nullptr);
  if (is_needed) {
    return fail(Errc::kInvalidArgument,
                "a page database of this name may keep its keys in this DRUM", Error::kNoOffset,
                entry->id);
  }
  return entry->id;
}

}  // namespace

Result<std::vector<SegmentId>> find_segments_to_drop(const StoreImpl& store,
                                                     std::span<const PartName> parts) {
  std::vector<SegmentId> owners;
  for (const PartName& part : parts) {
    CRAWLSTORE_TRY(const SegmentId id, find_part(store, part));
    owners.push_back(id);
  }
  std::ranges::sort(owners);
  std::vector<SegmentId> segments;
  store.writer->directory()->for_each_segment([&](const format::SegmentEntry& entry) {
    const SegmentId part = entry.owner ? entry.owner : entry.id;
    if (std::ranges::binary_search(owners, part)) segments.push_back(entry.id);
  });
  return segments;
}

}  // namespace crawlstore::container
