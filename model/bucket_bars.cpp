// SPDX-License-Identifier: Apache-2.0
#include "model/bucket_bars.h"

#include <algorithm>
#include <tuple>

#include <crawlstore/tools/drum_statistics.h>

namespace crawlstore::model {
namespace {

bool is_fuller(const BucketBar& a, const BucketBar& b) {
  return std::tie(a.merge_share, a.split_share) > std::tie(b.merge_share, b.split_share);
}

double share(std::uint64_t count, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

void mark(std::vector<BucketBar>& bars) {
  const auto fullest = std::ranges::max_element(bars, {}, &BucketBar::merge_share);
  if (fullest == bars.end() || fullest->merge_share == 0) return;
  if (fullest->merge_share <= 1) fullest->mark = BucketMark::kMergeNext;
  for (BucketBar& bar : bars) {
    if (bar.merge_share > 1) bar.mark = BucketMark::kMergeDue;
  }
}

}  // namespace

std::string_view name_of(BucketMark mark) {
  switch (mark) {
    case BucketMark::kNone:
      return "";
    case BucketMark::kMergeNext:
      return "merge next";
    case BucketMark::kMergeDue:
      return "merge due";
  }
  return "";
}

BucketBars bucket_bars(const DrumView& view) {
  const DrumInfo& info = view.info();
  BucketBars found{.states_merge = info.merge_bytes != 0 || info.merge_requests != 0,
                   .states_split = info.partition_keys_max != 0};
  std::uint64_t keys_max = info.partition_keys_max;
  std::uint64_t pending_max = 0;
  for (const DrumView::Bucket& bucket : view.buckets()) {
    if (!found.states_split) keys_max = std::max(keys_max, bucket.key_count);
    pending_max = std::max(pending_max, bucket.pending_count);
  }
  for (const DrumView::Bucket& bucket : view.buckets()) {
    BucketBar& bar = found.bars.emplace_back();
    bar.bucket = found.bars.size() - 1;
    bar.key_count = bucket.key_count;
    bar.pending_count = bucket.pending_count;
    bar.split_share = share(bucket.key_count, keys_max);
    bar.merge_share = share(bucket.pending_count, pending_max);
    if (!found.states_merge) continue;
    const auto fill = bucket_fill(view, bar.bucket);
    bar.merge_share = fill ? fill->merge_ratio.value_or(0) : 0;
  }
  if (found.states_merge) mark(found.bars);
  return found;
}

void sort_by_fill(std::vector<BucketBar>& bars) {
  std::ranges::stable_sort(bars, is_fuller);
}

std::vector<BucketColumn> bucket_columns(std::span<const BucketBar> bars, std::size_t column_max) {
  std::vector<BucketColumn> columns;
  if (column_max == 0) return columns;
  const std::size_t width = (bars.size() + column_max - 1) / column_max;
  for (std::size_t first = 0; first < bars.size(); first += width) {
    const auto group = bars.subspan(first, std::min(width, bars.size() - first));
    BucketColumn& column =
        columns.emplace_back(BucketColumn{group.front(), 0, first, group.size()});
    for (const BucketBar& bar : group) {
      if (is_fuller(bar, column.fullest)) column.fullest = bar;
      column.split_share = std::max(column.split_share, bar.split_share);
    }
  }
  return columns;
}

}  // namespace crawlstore::model
