// SPDX-License-Identifier: Apache-2.0
#include "scores/pending_arrays.h"

#include <algorithm>
#include <memory>

namespace crawlstore::scores {

std::vector<format::SegmentEntry> find_arrays(const container::Directory& directory,
                                              SegmentId database) {
  std::vector<format::SegmentEntry> arrays;
  directory.for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind == SegmentKind::kScoreArray && entry.owner == database) arrays.push_back(entry);
  });
  std::ranges::sort(arrays, {}, &format::SegmentEntry::name);
  return arrays;
}

PendingArrays& PendingArrays::of(StoreImpl& store) {
  if (auto* const known = store.find(SegmentKind::kScoreArray, {})) {
    return static_cast<PendingArrays&>(*known);
  }
  const auto made = std::make_shared<PendingArrays>(store.shared_from_this());
  store.without_handle.push_back(made);
  made->admit();
  return *made;
}

SegmentId PendingArrays::find(SegmentId database, const std::string& array) const {
  const auto pending = state.find({database, array});
  if (pending != state.end()) return pending->second ? pending->second->entry.id : SegmentId{};
  for (const format::SegmentEntry& there : find_arrays(*store->writer->directory(), database)) {
    if (there.name == array) return there.id;
  }
  return {};
}

Result<void> PendingArrays::prepare(CommitScope /*scope*/) {
  if (state.empty()) return {};
  container::Writer& writer = *store->writer;
  const auto next = writer.next_directory();
  for (const auto& [place, becomes] : state) {
    bool is_outdated = false;  // a superstep has computed another one since
    for (const format::SegmentEntry& there : find_arrays(*next, place.first)) {
      if (there.name != place.second) continue;
      is_outdated = writer.directory()->find(there.id) == nullptr;
      if (!is_outdated) writer.remove(there.id);
    }
    if (becomes && !is_outdated) writer.put(becomes->entry);
  }
  return {};
}

}  // namespace crawlstore::scores
