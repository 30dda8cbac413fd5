// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_view.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/frontier_rule.h"
#include "service/core/crawl.h"

namespace crawlstore::model {
namespace {

Cell rule_cell(const std::optional<FrontierRule>& rule) {
  return rule ? Cell(format_rule(*rule)) : Cell();
}

/// Whether a table has the bodies of its items as they are.
bool has_bodies(ItemRows rows) {
  return rows.is_for_json || !rows.has_url_records;
}

Table items_of(std::string name, std::vector<Column> first, ItemRows rows) {
  Table table{std::move(name), std::move(first), {}};
  if (rows.has_url_records) {
    table.columns.push_back({"url", Unit::kText});
    table.columns.push_back({"created_us", Unit::kTimeUs});
    table.columns.push_back({"metadata_bytes", Unit::kBytes});
  }
  table.columns.push_back({"priority", Unit::kExact});
  table.columns.push_back({"attempt_count", Unit::kCount});
  if (rows.is_for_json) table.columns.push_back({"priority_text", Unit::kText});
  if (has_bodies(rows)) table.columns.push_back({"body", Unit::kText});
  return table;
}

Cell created_cell(std::uint64_t time_s) {
  constexpr std::uint64_t kMsPerSecond = 1000;
  return time_s <= service::Crawl::kTimeMaxS ? time_cell(time_s * kMsPerSecond) : Cell();
}

/// Adds what all tables of items have behind their first columns.
template <class Item>
void add_item(Table& table, std::vector<Cell> first, const Item& item, ItemRows rows) {
  if (rows.has_url_records) {
    const auto record = service::decode(item.body, item.group);
    first.push_back(record ? Cell(record->url) : Cell());
    first.push_back(record ? created_cell(record->created_s) : Cell());
    first.push_back(record ? Cell(std::uint64_t{record->metadata.size()}) : Cell());
  }
  first.emplace_back(item.priority);
  first.emplace_back(std::uint64_t{item.attempt});
  if (rows.is_for_json) first.emplace_back(fmt::to_string(item.priority));
  if (has_bodies(rows)) first.emplace_back(std::string(item.body));
  table.rows.push_back(std::move(first));
}

}  // namespace

Cell time_cell(std::uint64_t time_ms) {
  return time_ms == 0 ? Cell() : Cell(static_cast<std::int64_t>(time_ms * 1000));
}

ReadableFrontiers readable_frontiers(const Snapshot& snapshot) {
  auto frontiers = FrontierView::list(snapshot);
  if (frontiers) return {std::move(*frontiers), std::nullopt};
  ReadableFrontiers found{{}, frontiers.error()};
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind != SegmentKind::kFrontier) continue;
    found.frontiers.push_back({.id = segment.id, .name = segment.name});
  }
  std::ranges::sort(found.frontiers, {}, &FrontierInfo::name);
  return found;
}

std::vector<Field> frontier_fields(const FrontierView& frontier, std::int64_t wall_us) {
  const FrontierInfo& info = frontier.info();
  std::vector<Field> fields{
      {"name", Unit::kText, info.name},
      {"group_count", Unit::kCount, info.group_count},
      {"waiting_count", Unit::kCount, info.waiting_count},
      {"leased_count", Unit::kCount, info.leased_count},
      {"clock_us", Unit::kTimeUs, time_cell(info.clock_ms)},
      {"next_due_us", Unit::kTimeUs, time_cell(frontier.next_due_ms().value_or(0))},
      {"default_rule", Unit::kText, format_rule(info.default_rule)}};
  const double ahead =
      seconds_from(static_cast<std::uint64_t>(wall_us) / 1000, info.time_at_ms(wall_us));
  if (ahead > 1) fields.push_back({"clock_ahead_seconds", Unit::kSeconds, ahead});
  if (!info.pages.empty()) fields.push_back({"pages", Unit::kText, info.pages});
  return fields;
}

std::vector<Field> group_fields(const FrontierGroup& group) {
  return {{"group", Unit::kText, group.key},
          {"waiting_count", Unit::kCount, group.waiting_count},
          {"later_count", Unit::kCount, group.later_count},
          {"leased_count", Unit::kCount, group.leased_count},
          {"put_count", Unit::kCount, group.put_count},
          {"finished_count", Unit::kCount, group.finished_count},
          {"next_visit_us", Unit::kTimeUs, time_cell(group.soft_time_ms)},
          {"hard_visit_us", Unit::kTimeUs, time_cell(group.hard_time_ms)},
          {"failure_count", Unit::kCount, std::uint64_t{group.failure_count}},
          {"rule", Unit::kText, rule_cell(group.rule)}};
}

std::vector<Field> due_group_fields(const GroupState& state, const FrontierRule& default_rule,
                                    std::uint64_t now_ms) {
  std::vector<Field> fields = group_fields(state.group);
  fields.push_back({"due_in_seconds", Unit::kFromNow, due_cell(state, default_rule, now_ms)});
  fields.push_back({"why", Unit::kText, why_not_now(state, default_rule, now_ms)});
  return fields;
}

Table frontiers_table(std::span<const FrontierInfo> frontiers) {
  Table table{"frontiers",
              {{"name", Unit::kText},
               {"id", Unit::kId},
               {"group_count", Unit::kCount},
               {"waiting_count", Unit::kCount},
               {"leased_count", Unit::kCount},
               {"step_count", Unit::kCount},
               {"run_count", Unit::kCount},
               {"allocated_bytes", Unit::kBytes}},
              {}};
  for (const FrontierInfo& info : frontiers) {
    table.rows.push_back({info.name, info.id.value, info.group_count, info.waiting_count,
                          info.leased_count, info.step_count, std::uint64_t{info.run_count},
                          info.allocated_bytes});
  }
  return table;
}

Table due_frontiers_table(const Snapshot& snapshot, std::optional<Error>& problem) {
  const ReadableFrontiers found = readable_frontiers(snapshot);
  if (!problem) problem = found.problem;
  Table table = frontiers_table(found.frontiers);
  table.columns.insert(table.columns.end(), {{"item_run_count", Unit::kCount},
                                             {"bytes_per_item", Unit::kRatio},
                                             {"clock_us", Unit::kTimeUs},
                                             {"next_due_us", Unit::kTimeUs}});
  for (std::size_t i = 0; i < found.frontiers.size(); ++i) {
    std::vector<Cell>& row = table.rows[i];
    const auto view = FrontierView::open(snapshot, found.frontiers[i].name);
    if (!view) {
      if (!problem) problem = view.error();
      row.insert(row.end(), {Cell{}, Cell{}, Cell{}, Cell{}});
      continue;
    }
    const FrontierInfo& info = view->info();
    const std::uint64_t item_count = info.waiting_count + info.leased_count;
    row.emplace_back(std::uint64_t{info.item_run_count});
    row.push_back(item_count == 0 ? Cell{}
                                  : Cell{static_cast<double>(info.allocated_bytes) /
                                         static_cast<double>(item_count)});
    row.push_back(time_cell(info.clock_ms));
    row.push_back(time_cell(view->next_due_ms().value_or(0)));
  }
  return table;
}

Table groups_table(const FrontierView& frontier, std::size_t count) {
  Table table{"groups", {}, {}};
  for (const Field& field : group_fields({})) table.columns.push_back({field.name, field.unit});
  frontier.for_each_group([&](const FrontierGroup& group) {
    if (table.rows.size() == count) return false;
    std::vector<Cell> row;
    for (Field& field : group_fields(group)) row.push_back(std::move(field.value));
    table.rows.push_back(std::move(row));
    return true;
  });
  return table;
}

Result<Table> leases_table(const FrontierView& frontier, ItemRows rows,
                           std::optional<std::string_view> group) {
  const std::vector<Column> first{
      {"id", Unit::kId}, {"group", Unit::kText}, {"until_us", Unit::kTimeUs}};
  Table table = items_of("leases", first, rows);
  CRAWLSTORE_TRY(frontier.for_each_lease([&](const FrontierEntry& entry) {
    if (table.rows.size() == rows.count) return false;
    if (group && entry.group != *group) return true;
    const std::uint64_t until_ms = entry.until_ms.value_or(0);
    add_item(table, {entry.id, std::string(entry.group), time_cell(until_ms)}, entry, rows);
    return true;
  }));
  return table;
}

Result<Table> later_table(const FrontierView& frontier, ItemRows rows) {
  const std::vector<Column> first{
      {"id", Unit::kId}, {"group", Unit::kText}, {"not_before_us", Unit::kTimeUs}};
  Table table = items_of("items", first, rows);
  CRAWLSTORE_TRY(frontier.for_each_later([&](const FrontierEntry& entry) {
    if (table.rows.size() == rows.count) return false;
    add_item(table, {entry.id, std::string(entry.group), time_cell(entry.not_before_ms)}, entry,
             rows);
    return true;
  }));
  return table;
}

Result<Table> waiting_items_table(const FrontierView& frontier, std::string_view group,
                                  ItemRows rows) {
  const std::vector<Column> first{{"id", Unit::kId}, {"not_before_us", Unit::kTimeUs}};
  Table table = items_of("items", first, rows);
  CRAWLSTORE_TRY(frontier.for_each_waiting(group, [&](const FrontierEntry& entry) {
    if (table.rows.size() == rows.count) return false;
    add_item(table, {entry.id, time_cell(entry.not_before_ms)}, entry, rows);
    return true;
  }));
  return table;
}

Table taken_table(std::span<const TakenItem> items) {
  const ItemRows rows{items.size(), true};
  Table table = items_of("items", {{"id", Unit::kId}, {"group", Unit::kText}}, rows);
  for (const TakenItem& item : items) add_item(table, {item.id, item.group}, item, rows);
  return table;
}

}  // namespace crawlstore::model
