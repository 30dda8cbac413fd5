// SPDX-License-Identifier: Apache-2.0
#include "model/frontiers_diff.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/frontier_rule.h"
#include "model/frontier_view.h"

namespace crawlstore::model {
namespace {

Cell item_state_cell(const std::optional<FrontierEntry>& entry) {
  if (!entry) return {};
  if (entry->until_ms) return std::string("leased");
  return entry->not_before_ms == 0 ? std::string("waiting") : std::string("later");
}

Cell item_time_cell(const std::optional<FrontierEntry>& entry) {
  return entry ? time_cell(entry->until_ms.value_or(entry->not_before_ms)) : Cell{};
}

Cell priority_cell(const std::optional<FrontierEntry>& entry) {
  return entry ? Cell{entry->priority} : Cell{};
}

Cell attempt_cell(const std::optional<FrontierEntry>& entry) {
  return entry ? Cell{std::uint64_t{entry->attempt}} : Cell{};
}

Cell failure_cell(const std::optional<FrontierGroup>& group) {
  return group ? Cell{std::uint64_t{group->failure_count}} : Cell{};
}

Cell group_rule_cell(const std::optional<FrontierGroup>& group) {
  return group && group->rule ? Cell{format_rule(*group->rule)} : Cell{};
}

Table empty_items() {
  return {"frontier_items",
          {{"frontier", Unit::kText},
           {"change", Unit::kText},
           {"id", Unit::kId},
           {"old_state", Unit::kText},
           {"new_state", Unit::kText},
           {"old_priority", Unit::kExact},
           {"new_priority", Unit::kExact},
           {"old_attempt_count", Unit::kCount},
           {"new_attempt_count", Unit::kCount},
           {"old_item_time_us", Unit::kTimeUs},
           {"new_item_time_us", Unit::kTimeUs},
           {"fields", Unit::kText},
           {"group", Unit::kText},
           {"body", Unit::kText}},
          {}};
}

Table empty_groups() {
  return {"frontier_groups",
          {{"frontier", Unit::kText},
           {"change", Unit::kText},
           {"old_failure_count", Unit::kCount},
           {"new_failure_count", Unit::kCount},
           {"old_rule", Unit::kText},
           {"new_rule", Unit::kText},
           {"group", Unit::kText}},
          {}};
}

std::string change_of(const FrontierDiff& found) {
  if (!found.in_old) return "added";
  if (!found.in_new) return "gone";
  return found.differs() ? "changed" : "equal";
}

Table frontier_rows(const std::vector<FrontierDiff>& frontiers) {
  Table table{"frontiers",
              {{"name", Unit::kText},
               {"change", Unit::kText},
               {"is_by_body", Unit::kFlag},
               {"is_default_rule_different", Unit::kFlag},
               {"old_waiting_count", Unit::kCount},
               {"new_waiting_count", Unit::kCount},
               {"old_leased_count", Unit::kCount},
               {"new_leased_count", Unit::kCount},
               {"old_group_count", Unit::kCount},
               {"new_group_count", Unit::kCount},
               {"added_item_count", Unit::kCount},
               {"gone_item_count", Unit::kCount},
               {"leased_item_count", Unit::kCount},
               {"returned_item_count", Unit::kCount},
               {"changed_item_count", Unit::kCount},
               {"added_group_count", Unit::kCount},
               {"gone_group_count", Unit::kCount},
               {"changed_group_count", Unit::kCount},
               {"slowed_group_count", Unit::kCount}},
              {}};
  for (const FrontierDiff& found : frontiers) {
    const auto& [was, is] = std::pair(found.old_info, found.new_info);
    table.rows.push_back({found.name, change_of(found), found.by_body, found.default_rule_differs,
                          was.waiting_count, is.waiting_count, was.leased_count, is.leased_count,
                          was.group_count, is.group_count, found.added_item_count,
                          found.gone_item_count, found.leased_item_count, found.returned_item_count,
                          found.changed_item_count, found.added_group_count, found.gone_group_count,
                          found.changed_group_count, found.slowed_group_count});
  }
  return table;
}

/// Removes what was told of a frontier that was left out later.
void forget_rows(Table& table, const std::string& frontier) {
  std::erase_if(table.rows,
                [&](const std::vector<Cell>& row) { return row.front() == Cell{frontier}; });
}

}  // namespace

Result<void> add_frontiers_diff(const Snapshot& older, const Snapshot& newer,
                                const FrontiersDiffHow& how, Document& document) {
  Table groups = empty_groups();
  Table items = empty_items();
  const std::size_t rows_max = how.view.rows_max;
  FrontiersDiffSink sink;
  sink.failed = how.failed;
  sink.group = [&](const FrontierGroupDiff& group) {
    if (groups.rows.size() >= rows_max) return;
    const FrontierGroup& any = group.newer ? *group.newer : *group.older;
    groups.rows.push_back({std::string(group.frontier), std::string(name_of(group.change)),
                           failure_cell(group.older), failure_cell(group.newer),
                           group_rule_cell(group.older), group_rule_cell(group.newer), any.key});
  };
  const auto add_item = [&](const FrontierItemDiff& item) {
    if (items.rows.size() >= rows_max) return false;
    const FrontierEntry& any = item.newer ? *item.newer : *item.older;
    items.rows.push_back({std::string(item.frontier), std::string(name_of(item.change)), any.id,
                          item_state_cell(item.older), item_state_cell(item.newer),
                          priority_cell(item.older), priority_cell(item.newer),
                          attempt_cell(item.older), attempt_cell(item.newer),
                          item_time_cell(item.older), item_time_cell(item.newer),
                          item.fields.text(), std::string(item.group), std::string(any.body)});
    return items.rows.size() < rows_max;
  };
  if (rows_max != 0) sink.item = add_item;
  DiffGaps* const gaps = how.view.gaps;
  CRAWLSTORE_TRY(auto frontiers,
                 diff_frontiers(older, newer, sink, {how.progress, gaps != nullptr}));
  std::erase_if(frontiers, [&](const FrontierDiff& found) {
    if (!found.old_error && !found.new_error) return false;
    if (found.old_error) gaps->add(false, "frontier", found.name, *found.old_error);
    if (found.new_error) gaps->add(true, "frontier", found.name, *found.new_error);
    forget_rows(groups, found.name);
    forget_rows(items, found.name);
    return true;
  });
  for (const FrontierDiff& found : frontiers) {
    if (found.differs()) document.fields.front().value = true;
  }
  document.tables.push_back(frontier_rows(frontiers));
  document.tables.push_back(std::move(groups));
  document.tables.push_back(std::move(items));
  return {};
}

}  // namespace crawlstore::model
