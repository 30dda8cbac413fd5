// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <crawlstore/tools/drum_statistics.h>

#include "base/inside.h"
#include "drum/drum_view_impl.h"
#include "drum/log_rules.h"

namespace crawlstore {
namespace {

/// Counts gaps over one bucket after another.
class GapCount {
 public:
  GapCount(DrumView::Impl& view, const GapOptions& options) : view_(view), options_(options) {}

  Result<void> run() {
    const std::size_t first = options_.bucket.value_or(0);
    const std::size_t end = options_.bucket ? first + 1 : view_.buckets.size();
    total_ = view_.first_rows[end] - view_.first_rows[first];
    for (std::size_t b = first; b < end; ++b) CRAWLSTORE_TRY(count_bucket(b));
    return {};
  }

  GapHistogram histogram;

 private:
  static constexpr std::uint64_t kKeysPerCall = 8192;

  Result<void> count_bucket(std::size_t b) {
    const auto& bucket = view_.buckets[b];
    if (!bucket.partition) return {};
    CRAWLSTORE_TRY(const auto entry, view_.segment(bucket.partition));
    auto& reader = Inside::of(view_.snapshot);
    const auto& run = entry->runs.front();
    drum::PartitionCursor cursor(
        *reader.storage(), container::run_name(reader.identity(), bucket.partition, run.run_id),
        run, bucket.key_count, view_.shape());
    CRAWLSTORE_TRY(count_all(cursor, b));
    return cursor.finish();
  }

  Result<void> count_all(drum::PartitionCursor& cursor, std::size_t b) {
    CRAWLSTORE_TRY(cursor.start(view_.buckets[b].first_key, view_.last_head(b)));
    while (!cursor.at_end()) {
      const auto heads = cursor.keys();
      count_keys(heads);
      CRAWLSTORE_TRY(tell(heads.size()));
      CRAWLSTORE_TRY(cursor.advance(heads.size()));
    }
    return {};
  }

  void count_keys(std::span<const std::uint64_t> heads) {
    for (const std::uint64_t head : heads) {
      const std::uint64_t gap = head - last_;
      last_ = head;
      if (histogram.key_count++ == 0) continue;
      if (gap == 0) {
        ++histogram.shared_head_count;
      } else {
        ++histogram.counts[static_cast<std::size_t>(std::bit_width(gap) - 1)];
      }
    }
  }

  Result<void> tell(std::uint64_t key_count) {
    untold_ += key_count;
    if (untold_ < kKeysPerCall && histogram.key_count != total_) return {};
    untold_ = 0;
    if (!options_.progress || options_.progress(histogram.key_count, total_)) return {};
    return fail(Errc::kCancelled, "the count was stopped");
  }

  DrumView::Impl& view_;
  const GapOptions& options_;
  std::uint64_t total_ = 0;
  std::uint64_t untold_ = 0;
  std::uint64_t last_ = 0;
};

tl::unexpected<Error> no_bucket() {
  return fail(Errc::kInvalidArgument, "the DRUM has no bucket of this number");
}

}  // namespace

double PartitionInfo::bits_per_key() const {
  if (key_count == 0) return 0;
  return 8 * static_cast<double>(payload_bytes) / static_cast<double>(key_count);
}

Result<PartitionInfo> partition_info(const DrumView& view, std::uint64_t bucket) {
  auto& inside = Inside::of(view);
  CRAWLSTORE_TRY(Inside::of(inside.snapshot).storage()->check_process());
  if (bucket >= inside.buckets.size()) return no_bucket();
  const SegmentId id = inside.buckets[bucket].partition;
  if (!id) return PartitionInfo{};
  CRAWLSTORE_TRY(const auto lookup, inside.partition(id));
  const auto& run = lookup->reader().run();
  return PartitionInfo{id, lookup->footer().key_count, lookup->footer().block_count,
                       run.payload_bytes, run.extent().length_bytes};
}

Result<GapHistogram> gap_histogram(const DrumView& view, const GapOptions& options) {
  auto& inside = Inside::of(view);
  CRAWLSTORE_TRY(Inside::of(inside.snapshot).storage()->check_process());
  if (options.bucket && *options.bucket >= inside.buckets.size()) return no_bucket();
  GapCount count(inside, options);
  CRAWLSTORE_TRY(count.run());
  return count.histogram;
}

Result<BucketFill> bucket_fill(const DrumView& view, std::uint64_t bucket) {
  const auto& inside = Inside::of(view);
  CRAWLSTORE_TRY(Inside::of(inside.snapshot).storage()->check_process());
  if (bucket >= inside.buckets.size()) return no_bucket();
  BucketFill fill;
  drum::LogSize log;
  const auto& chosen = inside.buckets[bucket];
  if (chosen.key_log) {
    CRAWLSTORE_TRY(const auto entry, inside.segment(chosen.key_log));
    log.run_count = entry->runs.size();
    log.newest_run_requests = entry->runs.back().record_count;
    for (const auto& run : entry->runs) {
      log.key_bytes += run.payload_bytes;
      log.request_count += run.record_count;
    }
  }
  if (chosen.aux_log) {
    CRAWLSTORE_TRY(const auto entry, inside.log(chosen.aux_log));
    for (const auto& run : entry->runs) log.aux_bytes += run.payload_bytes;
  }
  fill.key_log_bytes = log.key_bytes;
  fill.aux_log_bytes = log.aux_bytes;
  fill.run_count = log.run_count;
  const DrumInfo& info = inside.info;
  if (info.merge_bytes != 0 || info.merge_requests != 0) {
    fill.merge_ratio = drum::merge_ratio(log, {info.merge_bytes, info.merge_requests});
  }
  if (info.partition_keys_max != 0) {
    fill.split_ratio =
        static_cast<double>(chosen.key_count) / static_cast<double>(info.partition_keys_max);
  }
  return fill;
}

}  // namespace crawlstore
