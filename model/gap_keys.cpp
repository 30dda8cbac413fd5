// SPDX-License-Identifier: Apache-2.0
#include "model/gap_keys.h"

#include <bit>

#include "model/key_text.h"

namespace crawlstore::model {

Result<Table> gap_keys(
    const DrumView& view, std::uint64_t bucket, GapRange range,
    const std::function<bool(std::uint64_t done, std::uint64_t total)>& progress) {
  constexpr std::uint64_t kKeysBetweenReports = 4096;
  Table table{"gap_keys", {{"row", Unit::kCount}, {"key", Unit::kText}, {"gap", Unit::kCount}}, {}};
  const auto& buckets = view.buckets();
  if (bucket >= buckets.size()) return fail(Errc::kInvalidArgument, "there is no such bucket");
  std::uint64_t row = 0;
  for (std::uint64_t i = 0; i < bucket; ++i) row += buckets[i].key_count;
  const std::uint64_t count = buckets[bucket].key_count;
  std::uint64_t done = 0;
  std::uint64_t last = 0;
  bool is_cancelled = false;
  const auto visit = [&](Key16 key, std::span<const std::byte> /*value*/) {
    const std::uint64_t gap = done == 0 ? 0 : key.head - last;
    const auto power = static_cast<unsigned>(std::bit_width(gap));  // of the gap, and 1; 0: no gap
    last = key.head;
    if (power > range.low && power <= range.high + 1) {
      table.rows.push_back({row + done, format_key(key, view.info().key_bytes > 8), gap});
    }
    ++done;
    is_cancelled = done % kKeysBetweenReports == 0 && !progress(done, count);
    return !is_cancelled && done < count && table.rows.size() < kGapKeysMax;
  };
  if (count > 0) CRAWLSTORE_TRY(view.for_each_key(visit, Key16(buckets[bucket].first_key)));
  if (is_cancelled) return fail(Errc::kCancelled, "it was cancelled");
  return table;
}

}  // namespace crawlstore::model
