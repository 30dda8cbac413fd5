// SPDX-License-Identifier: Apache-2.0
#include "model/diff_view.h"

#include <fmt/format.h>

#include "model/key_text.h"

namespace crawlstore::model {
namespace {

/// Bytes of a value that are shown at most.
constexpr std::size_t kValueBytesShown = 64;

std::string change_name(Change change) {
  return std::string(name_of(change));
}

/// In hexadecimal digits; the last ones may be left out.
std::string value_text(std::span<const std::byte> value) {
  std::string text;
  for (const std::byte byte : value.first(std::min(value.size(), kValueBytesShown))) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return value.size() > kValueBytesShown ? text + "..." : text;
}

std::string runs_text(const std::vector<RunId>& runs) {
  std::string text;
  for (const RunId run : runs) text += (text.empty() ? "" : " ") + std::to_string(run.value);
  return text;
}

std::string presence(const DrumDiff& drum) {
  if (drum.in_old != drum.in_new) return change_name(drum.in_new ? Change::kAdded : Change::kGone);
  if (drum.shape_differs) return "other_shape";
  if (drum.seed_differs) return "other_seed";
  return drum.differs() ? change_name(Change::kChanged) : "equal";
}

Table drums_table(const std::vector<DrumDiff>& drums) {
  Table table{"drums",
              {{"name", Unit::kText},
               {"change", Unit::kText},
               {"old_key_count", Unit::kCount},
               {"new_key_count", Unit::kCount},
               {"added_key_count", Unit::kCount},
               {"gone_key_count", Unit::kCount},
               {"changed_value_count", Unit::kCount},
               {"added_request_count", Unit::kCount},
               {"gone_request_count", Unit::kCount},
               {"old_result_count", Unit::kCount},
               {"new_result_count", Unit::kCount}},
              {}};
  for (const DrumDiff& drum : drums) {
    table.rows.push_back({drum.name, presence(drum), drum.old_key_count, drum.new_key_count,
                          drum.added_key_count, drum.gone_key_count, drum.changed_value_count,
                          drum.added_request_count, drum.gone_request_count, drum.old_result_count,
                          drum.new_result_count});
  }
  return table;
}

}  // namespace

DiffView::DiffView(const DiffViewOptions& options)
    : options_(options),
      segments_{"segments",
                {{"id", Unit::kId},
                 {"change", Unit::kText},
                 {"kind", Unit::kText},
                 {"owner", Unit::kId},
                 {"name", Unit::kText},
                 {"old_bytes", Unit::kBytes},
                 {"new_bytes", Unit::kBytes},
                 {"added_runs", Unit::kText},
                 {"gone_runs", Unit::kText}},
                {}},
      buckets_{"buckets",
               {{"drum", Unit::kText},
                {"first_key", Unit::kText},
                {"added_request_count", Unit::kCount},
                {"gone_request_count", Unit::kCount}},
               {}},
      keys_{"keys",
            {{"drum", Unit::kText},
             {"change", Unit::kText},
             {"key", Unit::kText},
             {"old_value", Unit::kText},
             {"new_value", Unit::kText}},
            {}},
      requests_{"requests",
                {{"drum", Unit::kText},
                 {"change", Unit::kText},
                 {"sequence", Unit::kCount},
                 {"key", Unit::kText}},
                {}} {}

void DiffView::add(Table& table, std::vector<Cell> row) const {
  if (table.rows.size() < options_.rows_max) table.rows.push_back(std::move(row));
}

DiffSink DiffView::sink() {
  DiffSink sink;
  sink.segment = [this](const SegmentDiff& segment) {
    add(segments_,
        {segment.id.value, change_name(segment.change), std::string(name_of(segment.kind)),
         segment.owner ? Cell{segment.owner.value} : Cell{}, std::string(segment.name),
         segment.old_bytes, segment.new_bytes, runs_text(segment.added_runs),
         runs_text(segment.gone_runs)});
  };
  sink.bucket = [this](const BucketDiff& bucket) {
    add(buckets_, {std::string(bucket.drum), format_key({bucket.first_key}, false),
                   bucket.added_count, bucket.gone_count});
  };
  if (!options_.with_keys) return sink;
  sink.key = [this](const KeyDiff& key) {
    if (keys_.rows.size() == options_.rows_max) return;
    const bool is_added = key.change == Change::kAdded;
    const bool is_gone = key.change == Change::kGone;
    add(keys_, {std::string(key.drum), change_name(key.change), format_key(key.key, key.is_wide),
                is_added ? Cell{} : Cell{value_text(key.old_value)},
                is_gone ? Cell{} : Cell{value_text(key.new_value)}});
  };
  sink.request = [this](const RequestDiff& request) {
    if (requests_.rows.size() == options_.rows_max) return;
    add(requests_, {std::string(request.drum), change_name(request.change), request.sequence,
                    format_key(request.key, request.is_wide)});
  };
  return sink;
}

Result<Document> DiffView::document(const Snapshot& older, const Snapshot& newer,
                                    const DiffReport& report) const {
  CRAWLSTORE_TRY(const auto old_info, older.info());
  CRAWLSTORE_TRY(const auto new_info, newer.info());
  return Document{{{"is_different", Unit::kFlag, report.differs()},
                   {"is_same_store", Unit::kFlag, report.is_same_store},
                   {"old_uuid", Unit::kText, to_string(old_info.uuid)},
                   {"new_uuid", Unit::kText, to_string(new_info.uuid)},
                   {"old_generation", Unit::kId, old_info.generation.value},
                   {"new_generation", Unit::kId, new_info.generation.value},
                   {"old_commit_time_us", Unit::kTimeUs, old_info.commit_time_us},
                   {"new_commit_time_us", Unit::kTimeUs, new_info.commit_time_us},
                   {"added_segment_count", Unit::kCount, report.added_segment_count},
                   {"gone_segment_count", Unit::kCount, report.gone_segment_count},
                   {"changed_segment_count", Unit::kCount, report.changed_segment_count}},
                  {drums_table(report.drums), segments_, buckets_, keys_, requests_}};
}

}  // namespace crawlstore::model
