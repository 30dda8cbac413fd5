// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/tools/drum_cursor.h>

#include "base/inside.h"
#include "drum/drum_view_impl.h"

namespace crawlstore {
namespace {

using RowBlock = drum::PartitionRows::Block;

/// Rows of keys, bucket after bucket, up to a number.
class KeyWindow {
 public:
  KeyWindow(DrumView::Impl& view, std::size_t count_max) : view_(view), left_(count_max) {}

  /// Appends the bucket's keys from `first` on; rows count from the bucket's first key.
  Result<void> take(std::size_t bucket, std::uint64_t first) {
    const auto& of = view_.buckets[bucket];
    CRAWLSTORE_TRY(const auto partition, view_.rows(of));
    RowBlock block;
    for (std::uint64_t row = first; left_ > 0 && row < of.key_count; row = block.end_row()) {
      CRAWLSTORE_TRY(partition->read_block_of(row, block));
      take(block, row, {view_.first_rows[bucket], of.partition});
    }
    return {};
  }

  [[nodiscard]] bool is_full() const { return left_ == 0; }
  std::vector<KeyRow> rows;

 private:
  struct Place {
    std::uint64_t first_row = 0;
    SegmentId partition;
  };
  void take(const RowBlock& from, std::uint64_t first, const Place& place) {
    const bool is_variable = view_.info.value_bytes < 0;
    std::size_t begin = 0;
    for (std::uint32_t k = 0; left_ > 0 && k < from.block.key_count; ++k) {
      const auto value = is_variable ? format::variable_value(from.block, k, begin)
                                     : format::value_at(from.block, k, view_.info.value_bytes);
      begin += value.size();
      if (from.first_row + k < first) continue;
      const auto kept = value.first(std::min(value.size(), kRowBytesMax));
      rows.push_back({place.first_row + from.first_row + k,
                      {from.keys[k], from.tails[k]},
                      {kept.begin(), kept.end()},
                      value.size(),
                      place.partition,
                      from.offset_bytes});
      --left_;
    }
  }

  DrumView::Impl& view_;
  std::size_t left_;
};

Result<const std::vector<format::RunRef>*> log_of(const DrumView::Impl& view, SegmentId log) {
  CRAWLSTORE_TRY(const auto entry, view.segment(log));
  return &entry->runs;
}

/// Finds the requests of the key in the log of its bucket: the first, and their number.
Result<void> find_pending(DrumView::Impl& view, Key16 key, KeyPlace& place) {
  const auto& bucket = view.buckets[place.bucket];
  if (!bucket.key_log) return {};
  CRAWLSTORE_TRY(const auto runs, log_of(view, bucket.key_log));
  std::uint64_t row = 0;
  for (const auto& run : *runs) {
    // Without auxiliaries, and not kept: only the run that has the key is wanted whole.
    CRAWLSTORE_TRY(const auto read,
                   drum::PendingRun::read(Inside::of(view.snapshot), bucket.key_log, run, nullptr));
    for (std::size_t i = 0; i < read->count(); ++i) {
      if (read->key(i) != key) continue;
      if (++place.pending_count > 1) continue;
      CRAWLSTORE_TRY(const auto whole, view.pending_run(bucket, run));
      CRAWLSTORE_TRY(auto request, whole->request(i, kRowBytesMax));
      place.pending = std::move(request);
      place.pending->row = row + i;
    }
    row += run.record_count;
  }
  return {};
}

}  // namespace

Result<std::vector<KeyRow>> keys_at(const DrumView& view, std::uint64_t first_row,
                                    std::size_t count_max) {
  auto& inside = Inside::of(view);
  CRAWLSTORE_TRY(Inside::of(inside.snapshot).storage()->check_process());
  KeyWindow window(inside, count_max);
  const auto& first_rows = inside.first_rows;
  const auto after = std::upper_bound(first_rows.begin(), first_rows.end() - 1, first_row);
  for (auto b = static_cast<std::size_t>(after - first_rows.begin()) - 1;
       b < inside.buckets.size() && !window.is_full(); ++b) {
    const std::uint64_t skipped = first_row > first_rows[b] ? first_row - first_rows[b] : 0;
    if (skipped < inside.buckets[b].key_count) CRAWLSTORE_TRY(window.take(b, skipped));
  }
  return std::move(window.rows);
}

Result<std::uint64_t> row_of(const DrumView& view, Key16 key) {
  auto& inside = Inside::of(view);
  CRAWLSTORE_TRY(Inside::of(inside.snapshot).storage()->check_process());
  const std::size_t b = inside.bucket_of(key.head);
  if (!inside.buckets[b].partition) return inside.first_rows[b];
  CRAWLSTORE_TRY(const auto rows, inside.rows(inside.buckets[b]));
  CRAWLSTORE_TRY(const auto row, rows->lower_bound(key));
  return inside.first_rows[b] + row;
}

Result<std::vector<PendingRow>> pending_at(const DrumView& view, std::uint64_t bucket,
                                           std::uint64_t first_row, std::size_t count_max,
                                           std::size_t bytes_max) {
  auto& inside = Inside::of(view);
  CRAWLSTORE_TRY(Inside::of(inside.snapshot).storage()->check_process());
  if (bucket >= inside.buckets.size()) {
    return fail(Errc::kInvalidArgument, "the DRUM has no bucket of this number");
  }
  std::vector<PendingRow> rows;
  const auto& from = inside.buckets[bucket];
  if (!from.key_log) return rows;
  CRAWLSTORE_TRY(const auto runs, log_of(inside, from.key_log));
  std::uint64_t begin = 0;  // the row of the run's first request
  for (const auto& run : *runs) {
    if (rows.size() >= count_max) break;
    const std::uint64_t skipped = first_row > begin ? first_row - begin : 0;
    if (skipped < run.record_count) {
      CRAWLSTORE_TRY(const auto read, inside.pending_run(from, run));
      for (std::size_t i = skipped; i < read->count() && rows.size() < count_max; ++i) {
        CRAWLSTORE_TRY(auto row, read->request(i, bytes_max));
        row.row = begin + i;
        rows.push_back(std::move(row));
      }
    }
    begin += run.record_count;
  }
  return rows;
}

Result<KeyPlace> find_key(const DrumView& view, Key16 key) {
  auto& inside = Inside::of(view);
  KeyPlace place;
  place.bucket = inside.bucket_of(key.head);
  CRAWLSTORE_TRY(const auto row, row_of(view, key));
  // The first key that is not below it may begin the next bucket.
  if (row < inside.first_rows[place.bucket + 1]) {
    CRAWLSTORE_TRY(auto found, keys_at(view, row, 1));
    if (found.front().key == key) place.stored = std::move(found.front());
  }
  CRAWLSTORE_TRY(find_pending(inside, key, place));
  return place;
}

}  // namespace crawlstore
