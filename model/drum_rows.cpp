// SPDX-License-Identifier: Apache-2.0
#include "model/drum_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "model/bucket_bars.h"
#include "model/key_text.h"

namespace crawlstore::model {
namespace {

constexpr std::size_t kValueShown = 64;

std::span<const std::byte> beginning(std::span<const std::byte> value) {
  return value.first(std::min(value.size(), kValueShown));
}

/// Whether there is more than this cell shows.
bool is_cut(const Cell& cell, std::size_t shown_max) {
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr && text->size() > shown_max;
}

std::string hex(std::span<const std::byte> bytes, std::uint64_t full_bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", byte);
  if (full_bytes > bytes.size()) text += fmt::format(" ... {} bytes", full_bytes);
  return text;
}

/// Auxiliaries are URLs mostly: as text; the table escapes what is none.
std::string text_of(std::span<const std::byte> bytes, std::uint64_t full_bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += static_cast<char>(byte);
  if (full_bytes > bytes.size()) text += fmt::format(" ... {} bytes", full_bytes);
  return text;
}

std::string_view operation_name(DrumOperation operation) {
  switch (operation) {
    case DrumOperation::kCheck:
      return "check";
    case DrumOperation::kUpdate:
      return "update";
    case DrumOperation::kCheckUpdate:
      return "check_update";
  }
  return "unknown";
}

class KeyRows final : public TableSource {
 public:
  KeyRows(DrumView view, std::uint64_t bucket) : view_(std::move(view)) {
    const auto& buckets = view_.buckets();
    if (bucket >= buckets.size()) return;
    count_ = buckets[bucket].key_count;
    for (std::uint64_t i = 0; i < bucket; ++i) first_ += buckets[i].key_count;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override { return count_; }
  [[nodiscard]] Result<std::vector<Row>> rows(std::uint64_t first,
                                              std::size_t count_max) const override {
    const std::uint64_t begin = std::min(first, count_);
    const auto count = std::min<std::uint64_t>(count_max, count_ - begin);
    CRAWLSTORE_TRY(const auto found, keys_at(view_, first_ + begin, count));
    std::vector<Row> rows;
    rows.reserve(found.size());
    for (const KeyRow& key : found) {
      rows.push_back({key.row, format_key(key.key, view_.info().key_bytes > 8),
                      hex(beginning(key.value), key.value_bytes), key.partition.value,
                      key.block_offset_bytes});
    }
    return rows;
  }
  [[nodiscard]] Result<Row> whole_row(std::uint64_t number, Row row) const override {
    constexpr std::size_t kValue = 2;
    if (row.size() <= kValue || !is_cut(row[kValue], 2 * kValueShown)) return row;
    CRAWLSTORE_TRY(const auto found, keys_at(view_, first_ + number, 1));
    if (found.empty()) return row;
    CRAWLSTORE_TRY(const auto value, view_.lookup(found.front().key));
    if (value) row[kValue] = hex(*value, value->size());
    return row;
  }

 private:
  DrumView view_;
  std::uint64_t first_ = 0;  // row of the bucket's first key
  std::uint64_t count_ = 0;
  std::string name_ = "keys";
  std::vector<Column> columns_{{"row", Unit::kCount},
                               {"key", Unit::kText},
                               {"value", Unit::kText},
                               {"partition", Unit::kId},
                               {"block_offset_bytes", Unit::kOffset}};
};

class PendingRows final : public TableSource {
 public:
  PendingRows(DrumView view, std::uint64_t bucket) : view_(std::move(view)), bucket_(bucket) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override {
    return bucket_ < view_.buckets().size() ? view_.buckets()[bucket_].pending_count : 0;
  }
  [[nodiscard]] Result<std::vector<Row>> rows(std::uint64_t first,
                                              std::size_t count_max) const override {
    if (bucket_ >= view_.buckets().size()) return std::vector<Row>();
    CRAWLSTORE_TRY(const auto found, pending_at(view_, bucket_, first, count_max));
    std::vector<Row> rows;
    rows.reserve(found.size());
    for (const PendingRow& request : found) {
      rows.push_back(row_of(request, beginning(request.value)));
    }
    return rows;
  }
  [[nodiscard]] Result<Row> whole_row(std::uint64_t number, Row row) const override {
    const bool is_whole = row.size() != columns_.size() ||
                          (!is_cut(row[3], kRowBytesMax) && !is_cut(row[4], 2 * kValueShown));
    if (is_whole) return row;
    CRAWLSTORE_TRY(const auto found, pending_at(view_, bucket_, number, 1, SIZE_MAX));
    if (found.empty()) return row;
    return row_of(found.front(), found.front().value);
  }

 private:
  [[nodiscard]] Row row_of(const PendingRow& request, std::span<const std::byte> value) const {
    return {request.sequence,
            std::string(operation_name(request.operation)),
            format_key(request.key, view_.info().key_bytes > 8),
            text_of(request.aux, request.aux_bytes),
            hex(value, request.value_bytes),
            std::uint64_t{request.consumer.value},
            request.run.value,
            request.run_offset_bytes};
  }

  DrumView view_;
  std::uint64_t bucket_;
  std::string name_ = "pending";
  std::vector<Column> columns_{{"sequence", Unit::kCount}, {"operation", Unit::kText},
                               {"key", Unit::kText},       {"aux", Unit::kText},
                               {"value", Unit::kText},     {"consumer", Unit::kId},
                               {"run_id", Unit::kId},      {"run_offset_bytes", Unit::kOffset}};
};

}  // namespace

Table buckets_table(const DrumView& view, const std::vector<SegmentInfo>& segments) {
  Table table{"buckets",
              {{"bucket", Unit::kId},
               {"first_key", Unit::kText},
               {"key_count", Unit::kCount},
               {"merge_ratio", Unit::kRatio},
               {"mark", Unit::kText},
               {"partition_bytes", Unit::kBytes},
               {"bits_per_key", Unit::kRatio},
               {"pending_count", Unit::kCount},
               {"key_log_bytes", Unit::kBytes},
               {"aux_log_bytes", Unit::kBytes},
               {"log_run_count", Unit::kCount},
               {"partition", Unit::kId},
               {"key_log", Unit::kId},
               {"aux_log", Unit::kId}},
              {}};
  std::map<SegmentId, const SegmentInfo*> by_id;
  for (const SegmentInfo& segment : segments) by_id[segment.id] = &segment;
  const SegmentInfo none;
  const auto find = [&](SegmentId id) -> const SegmentInfo& {
    const auto found = by_id.find(id);
    return found == by_id.end() ? none : *found->second;
  };
  const auto id_cell = [](SegmentId id) { return id ? Cell{id.value} : Cell{}; };
  const std::vector<BucketBar> bars = bucket_bars(view).bars;
  std::uint64_t number = 0;
  for (const DrumView::Bucket& bucket : view.buckets()) {
    const auto fill = bucket_fill(view, number);
    Cell ratio;
    if (fill && fill->merge_ratio) ratio = *fill->merge_ratio;
    const BucketMark mark = bars[number].mark;
    const SegmentInfo& partition = find(bucket.partition);
    const SegmentInfo& key_log = find(bucket.key_log);
    const auto bits = 8.0 * static_cast<double>(partition.payload_bytes());
    table.rows.push_back(
        {number++, format_key(Key16(bucket.first_key), false), bucket.key_count, ratio,
         mark == BucketMark::kNone ? Cell{} : Cell{std::string(name_of(mark))},
         partition.allocated_bytes(),
         bucket.key_count == 0 ? Cell{} : Cell{bits / static_cast<double>(bucket.key_count)},
         bucket.pending_count, key_log.allocated_bytes(), find(bucket.aux_log).allocated_bytes(),
         std::uint64_t{key_log.runs.size()}, id_cell(bucket.partition), id_cell(bucket.key_log),
         id_cell(bucket.aux_log)});
  }
  return table;
}

std::shared_ptr<const TableSource> key_rows(const DrumView& view, std::uint64_t bucket) {
  return std::make_shared<KeyRows>(view, bucket);
}

std::shared_ptr<const TableSource> pending_rows(const DrumView& view, std::uint64_t bucket) {
  return std::make_shared<PendingRows>(view, bucket);
}

Document key_place_view(const DrumView& view, Key16 key, const KeyPlace& place,
                        const std::optional<std::uint64_t>& page) {
  const std::string found = place.stored && place.pending_count > 0 ? "partition and log"
                            : place.stored                          ? "partition"
                            : place.pending_count > 0               ? "log"
                            : page ? "fresh keys, which no bucket has yet"
                                   : "not in the file";
  Document document{{{"key", Unit::kText, format_key(key, view.info().key_bytes > 8)},
                     {"found_in", Unit::kText, found},
                     {"bucket", Unit::kId, place.bucket},
                     {"pending_count", Unit::kCount, place.pending_count}},
                    {}};
  if (page) document.fields.push_back({"page", Unit::kId, *page});
  if (place.stored) {
    document.fields.push_back({"row", Unit::kCount, place.stored->row});
    document.fields.push_back({"partition", Unit::kId, place.stored->partition.value});
    document.fields.push_back(
        {"block_offset_bytes", Unit::kOffset, place.stored->block_offset_bytes});
    document.fields.push_back(
        {"value", Unit::kText, hex(beginning(place.stored->value), place.stored->value_bytes)});
  }
  if (place.pending) {
    document.fields.push_back({"sequence", Unit::kCount, place.pending->sequence});
    document.fields.push_back(
        {"operation", Unit::kText, std::string(operation_name(place.pending->operation))});
    document.fields.push_back({"run_offset_bytes", Unit::kOffset, place.pending->run_offset_bytes});
    document.fields.push_back(
        {"aux", Unit::kText, text_of(place.pending->aux, place.pending->aux_bytes)});
  }
  return document;
}

Result<std::optional<std::uint64_t>> page_of_key(
    const PageView& pages, Key16 key,
    const std::function<bool(std::uint64_t done, std::uint64_t total)>& progress) {
  constexpr std::uint64_t kKeysBetweenReports = 4096;
  std::optional<std::uint64_t> found;
  std::uint64_t done = 0;
  bool is_cancelled = false;
  CRAWLSTORE_TRY(pages.for_each_key([&](Key16 other, std::uint64_t page) {
    if (other == key) found = page;
    is_cancelled = done++ % kKeysBetweenReports == 0 && !progress(done, pages.info().page_count);
    return other < key && !is_cancelled;
  }));
  if (is_cancelled) return fail(Errc::kCancelled, "it was cancelled");
  return found;
}

Table gaps_table(const GapHistogram& histogram) {
  Table table{"gaps", {{"gap_log2", Unit::kId}, {"key_count", Unit::kCount}}, {}};
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] > 0) {
      table.rows.push_back({std::uint64_t{i}, histogram.counts[i]});
    }
  }
  return table;
}

}  // namespace crawlstore::model
