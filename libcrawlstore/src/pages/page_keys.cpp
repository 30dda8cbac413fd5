// SPDX-License-Identifier: Apache-2.0
#include "pages/page_keys.h"

#include <algorithm>

#include "base/inside.h"
#include "drum/drum_view_impl.h"
#include "pages/fresh_keys.h"
#include "pages/key_run_cursor.h"

namespace crawlstore::pages {
std::uint64_t PageKeys::count() const {
  std::uint64_t count = drum_.info().key_count;
  for (const auto& run : fresh_) count += run->footer().key_count;
  return count;
}

Result<std::optional<std::vector<std::byte>>> PageKeys::lookup(Key16 key) const {
  auto value = drum_.lookup(key);
  for (const auto& run : fresh_) {
    if (!value || *value) break;
    value = run->find(key);
  }
  return value;
}

Result<void> PageKeys::find_sorted(std::span<const Key16> keys,
                                   const drum::VisitFound& visit) const {
  DrumView::Impl& drum = Inside::of(drum_);
  for (std::size_t place = 0; place < keys.size();) {
    const std::size_t number = drum.bucket_of(keys[place].head);
    const std::uint64_t last_head = drum.last_head(number);
    std::size_t end = place;
    while (end < keys.size() && keys[end].head <= last_head) ++end;
    if (const SegmentId id = drum.buckets[number].partition) {
      CRAWLSTORE_TRY(const auto partition, drum.partition(id));
      CRAWLSTORE_TRY(drum::find_sorted(partition, keys, place, end, visit));
    }
    place = end;
  }
  for (const auto& run : fresh_) {
    CRAWLSTORE_TRY(drum::find_sorted(run, keys, 0, keys.size(), visit));
  }
  return {};
}

Result<void> PageKeys::for_each_key(const Visit& visit, Key16 from) const {
  std::vector<std::unique_ptr<KeyRunCursor>> cursors;
  for (const auto& run : fresh_) {
    cursors.push_back(std::make_unique<KeyRunCursor>(run, format::kPageValueBytes));
    CRAWLSTORE_TRY(cursors.back()->start(from));
  }
  bool goes_on = true;
  /// Visits the keys of the runs; those below the limit, if there is one.
  const auto visit_fresh = [&](const Key16* limit) -> Result<void> {
    while (goes_on) {
      KeyRunCursor* first = nullptr;
      for (const auto& cursor : cursors) {
        if (cursor->at_end() || (limit != nullptr && !(cursor->key() < *limit))) continue;
        if (first == nullptr || cursor->key() < first->key()) first = cursor.get();
      }
      if (first == nullptr) return {};
      goes_on = visit(first->key(), first->value());
      CRAWLSTORE_TRY(first->advance());
    }
    return {};
  };
  Result<void> done;
  CRAWLSTORE_TRY(drum_.for_each_key(
      [&](Key16 key, std::span<const std::byte> value) {
        done = visit_fresh(&key);
        goes_on = goes_on && done && visit(key, value);
        return goes_on;
      },
      from));
  CRAWLSTORE_TRY(done);
  return visit_fresh(nullptr);
}

}  // namespace crawlstore::pages
