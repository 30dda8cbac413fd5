// SPDX-License-Identifier: Apache-2.0
#include "model/store_view.h"

#include <algorithm>

#include <crawlstore/shard.h>

#include "model/pages_view.h"
#include "model/verify_view.h"

namespace crawlstore::model {
namespace {

constexpr const char* kUrlDrum = "urls";

Cell id_cell(std::uint64_t id) {
  return id == 0 ? Cell{} : Cell{id};
}

std::vector<Field> store_fields(const StoreInfo& info) {
  return {
      {"format_version", Unit::kId, std::uint64_t{info.format_version}},
      {"uuid", Unit::kText, to_string(info.uuid)},
      {"generation", Unit::kId, info.generation.value},
      {"created_us", Unit::kTimeUs, info.created_us},
      {"commit_time_us", Unit::kTimeUs, info.commit_time_us},
      {"features_compat", Unit::kBits, info.features_compat},
      {"features_ro_compat", Unit::kBits, info.features_ro_compat},
      {"features_incompat", Unit::kBits, info.features_incompat},
      {"has_previous", Unit::kFlag, info.has_previous},
      {"file_bytes", Unit::kBytes, info.file_bytes},
      {"high_water_bytes", Unit::kBytes, info.high_water_bytes},
      {"live_bytes", Unit::kBytes, info.live_bytes},
      {"directory_bytes", Unit::kBytes, info.directory_bytes},
      {"held_bytes", Unit::kBytes, info.held_bytes},
      {"free_bytes", Unit::kBytes, info.free_bytes},
      {"segment_count", Unit::kCount, info.segment_count},
  };
}

Table pins_table(const std::vector<PinInfo>& pins, std::int64_t ignored_pid) {
  Table table{
      "pins", {{"generation", Unit::kId}, {"held_bytes", Unit::kBytes}, {"pid", Unit::kId}}, {}};
  for (const PinInfo& pin : pins) {
    if (pin.pid != 0 && pin.pid == ignored_pid) continue;
    table.rows.push_back({pin.generation.value, pin.held_bytes,
                          id_cell(static_cast<std::uint64_t>(std::max<std::int64_t>(0, pin.pid)))});
  }
  return table;
}

Cell commit_time(Generation generation, const StoreInfo& current,
                 const std::optional<StoreInfo>& previous) {
  if (generation == current.generation) return current.commit_time_us;
  if (previous && generation == previous->generation) return previous->commit_time_us;
  return {};
}

}  // namespace

Result<std::vector<DrumInfo>> drums_with_fresh_keys(const Snapshot& snapshot) {
  CRAWLSTORE_TRY(auto drums, list_drums(snapshot));
  const std::vector<SegmentInfo> segments = snapshot.segments();
  for (const SegmentInfo& fresh : segments) {
    if (fresh.kind != SegmentKind::kFreshKeys) continue;
    const auto owner = std::ranges::find(segments, fresh.owner, &SegmentInfo::id);
    if (owner == segments.end()) continue;
    const auto drum = std::ranges::find(drums, owner->name, &DrumInfo::name);
    if (drum == drums.end()) continue;
    drum->key_count += fresh.record_count();
    drum->partition_bytes += fresh.allocated_bytes();
  }
  return drums;
}

Table drums_table(const std::vector<DrumInfo>& drums) {
  Table table{"drums",
              {{"name", Unit::kText},
               {"id", Unit::kId},
               {"key_count", Unit::kCount},
               {"bytes_per_key", Unit::kRatio},
               {"pending_count", Unit::kCount},
               {"result_count", Unit::kCount},
               {"unparsed_count", Unit::kCount},
               {"normalizer", Unit::kText},
               {"bucket_count", Unit::kCount},
               {"merge_count", Unit::kCount},
               {"next_sequence", Unit::kCount},
               {"partition_bytes", Unit::kBytes},
               {"pending_bytes", Unit::kBytes},
               {"key_bytes", Unit::kId},
               {"value_bytes", Unit::kId},
               {"key_scheme", Unit::kText},
               {"merge_bytes", Unit::kBytes},
               {"merge_requests", Unit::kCount},
               {"partition_keys_max", Unit::kCount}},
              {}};
  const auto stated = [](std::uint64_t threshold) {
    return threshold == 0 ? Cell{} : Cell{threshold};
  };
  for (const DrumInfo& drum : drums) {
    table.rows.push_back({drum.name, drum.id.value, drum.key_count, drum.bytes_per_key(),
                          drum.pending_count, drum.result_count, drum.unparsed_count,
                          drum.normalizer, drum.bucket_count, drum.merge_count, drum.next_sequence,
                          drum.partition_bytes, drum.pending_bytes, std::uint64_t{drum.key_bytes},
                          static_cast<std::int64_t>(drum.value_bytes),
                          std::string(name_of(drum.key_scheme)), stated(drum.merge_bytes),
                          stated(drum.merge_requests), stated(drum.partition_keys_max)});
  }
  return table;
}

Result<Document> info_view(const Snapshot& snapshot, const VerifyReport* health,
                           std::int64_t ignored_pid, std::optional<Error>& problem) {
  CRAWLSTORE_TRY(const auto info, snapshot.info());
  CRAWLSTORE_TRY(const auto pins, snapshot.pins());
  const auto drums = drums_with_fresh_keys(snapshot);
  const auto databases = page_databases(snapshot);
  if (!databases) problem = databases.error();
  if (!drums) problem = drums.error();

  const auto shard = read_shard(snapshot);
  if (!shard) problem = shard.error();

  Document document{store_fields(info), {}};
  if (shard && !shard->is_alone()) {
    document.fields.push_back({"shard", Unit::kText, to_text(*shard)});
  }
  const auto add = [&document](Field field, bool is_known) {
    if (!is_known) field.value = {};
    document.fields.push_back(std::move(field));
  };
  const auto known_drums = drums.value_or(std::vector<DrumInfo>());
  const auto urls = std::ranges::find(known_drums, kUrlDrum, &DrumInfo::name);
  const DrumInfo of_urls = urls == known_drums.end() ? DrumInfo{} : *urls;
  add({"key_count", Unit::kCount, of_urls.key_count}, drums.has_value());
  add({"bytes_per_key", Unit::kRatio, of_urls.bytes_per_key()}, drums.has_value());
  const auto known_databases = databases.value_or(std::vector<PagesInfo>());
  for (Field& field : default_database_fields(known_databases)) {
    add(std::move(field), databases.has_value());
  }
  if (health != nullptr) {
    document.fields.push_back({"health", Unit::kText, std::string(glance_of(*health))});
  }
  document.tables.push_back(drums_table(known_drums));
  document.tables.push_back(page_databases_table(known_databases));
  document.tables.push_back(pins_table(pins, ignored_pid));
  return document;
}

Table held_table(const std::vector<HeldInfo>& held) {
  Table table{"held",
              {{"offset_bytes", Unit::kOffset},
               {"length_bytes", Unit::kBytes},
               {"born", Unit::kId},
               {"retired", Unit::kId}},
              {}};
  for (const HeldInfo& entry : held) {
    table.rows.push_back({entry.extent.offset_bytes, entry.extent.length_bytes, entry.born.value,
                          entry.retired.value});
  }
  return table;
}

Table runs_table(const SegmentInfo& segment) {
  Table table{"runs",
              {{"run_id", Unit::kId},
               {"offset_bytes", Unit::kOffset},
               {"length_bytes", Unit::kBytes},
               {"born", Unit::kId},
               {"payload_bytes", Unit::kBytes},
               {"record_count", Unit::kCount}},
              {}};
  for (const RunInfo& run : segment.runs) {
    table.rows.push_back({run.run_id.value, run.extent.offset_bytes, run.extent.length_bytes,
                          run.born.value, run.payload_bytes, run.record_count});
  }
  return table;
}

Document segments_view(const Snapshot& snapshot, std::optional<SegmentKind> kind) {
  Table segments{"segments",
                 {{"id", Unit::kId},
                  {"kind", Unit::kText},
                  {"storage_class", Unit::kText},
                  {"owner", Unit::kId},
                  {"name", Unit::kText},
                  {"run_count", Unit::kCount},
                  {"record_count", Unit::kCount},
                  {"payload_bytes", Unit::kBytes},
                  {"allocated_bytes", Unit::kBytes}},
                 {}};
  Table runs{"runs",
             {{"segment", Unit::kId},
              {"run_id", Unit::kId},
              {"offset_bytes", Unit::kOffset},
              {"length_bytes", Unit::kBytes},
              {"born", Unit::kId},
              {"payload_bytes", Unit::kBytes},
              {"record_count", Unit::kCount}},
             {}};
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (kind && segment.kind != *kind) continue;
    segments.rows.push_back({segment.id.value, std::string(name_of(segment.kind)),
                             std::string(name_of(segment.storage_class)),
                             id_cell(segment.owner.value), segment.name,
                             std::uint64_t{segment.runs.size()}, segment.record_count(),
                             segment.payload_bytes(), segment.allocated_bytes()});
    for (const RunInfo& run : segment.runs) {
      runs.rows.push_back({segment.id.value, run.run_id.value, run.extent.offset_bytes,
                           run.extent.length_bytes, run.born.value, run.payload_bytes,
                           run.record_count});
    }
  }
  return {{{"generation", Unit::kId, snapshot.generation().value}},
          {std::move(segments), std::move(runs)}};
}

Result<Document> pins_view(const Snapshot& snapshot, const std::optional<StoreInfo>& previous,
                           std::int64_t ignored_pid, const ProcessNames& names) {
  CRAWLSTORE_TRY(const auto info, snapshot.info());
  CRAWLSTORE_TRY(const auto pins, snapshot.pins());
  Table table{"pins",
              {{"generation", Unit::kId},
               {"commit_time_us", Unit::kTimeUs},
               {"held_bytes", Unit::kBytes},
               {"pid", Unit::kId},
               {"command", Unit::kText}},
              {}};
  for (const PinInfo& pin : pins) {
    if (pin.pid != 0 && pin.pid == ignored_pid) continue;
    const std::string command = pin.pid > 0 ? names(pin.pid) : std::string();
    table.rows.push_back({pin.generation.value, commit_time(pin.generation, info, previous),
                          pin.held_bytes,
                          id_cell(static_cast<std::uint64_t>(std::max<std::int64_t>(0, pin.pid))),
                          command.empty() ? Cell{} : Cell{command}});
  }
  return Document{{{"generation", Unit::kId, info.generation.value},
                   {"held_bytes", Unit::kBytes, info.held_bytes}},
                  {std::move(table)}};
}

}  // namespace crawlstore::model
