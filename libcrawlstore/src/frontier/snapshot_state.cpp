// SPDX-License-Identifier: Apache-2.0
#include "frontier/snapshot_state.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/inside.h"
#include "container/reader.h"
#include "frontier/check_call.h"
#include "frontier/stored_frontier.h"

namespace crawlstore::frontier {
namespace {

Result<void> read_run(const Snapshot& snapshot, const format::SegmentEntry& segment,
                      const format::RunRef& run, std::vector<std::byte>& payload) {
  container::Reader& reader = Inside::of(snapshot);
  return container::read_run(*reader.storage(),
                             container::run_name(reader.identity(), segment.id, run.run_id), run,
                             payload);
}

Result<FrontierSegments> frontier_segments(const Snapshot& snapshot,
                                           const format::SegmentEntry& entry) {
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(read_run(snapshot, entry, entry.runs.front(), payload));
  return read_segments(Inside::of(snapshot).directory(), entry, payload);
}

FrontierInfo info_of(const Snapshot& snapshot, const FrontierSegments& found) {
  FrontierInfo info{.id = found.frontier->id,
                    .name = found.frontier->name,
                    .has_own_ids = found.table.has_own_ids,
                    .pages = found.table.pages,
                    .group_count = found.table.group_count,
                    .waiting_count = found.table.waiting_count,
                    .leased_count = found.table.leased_count,
                    .clock_ms = found.table.clock_ms,
                    .commit_time_us = Inside::of(snapshot).directory().superblock.commit_time_us,
                    .step_count = found.table.step_count,
                    .default_rule = frontier_rule(found.table.default_rule)};
  if (found.items != nullptr) info.item_run_count = found.items->runs.size();
  for (const auto* const segment : {found.frontier, found.groups, found.items, found.steps}) {
    if (segment == nullptr) continue;
    if (segment != found.frontier) info.run_count += segment->runs.size();
    for (const format::RunRef& run : segment->runs) {
      info.allocated_bytes += run.extent().length_bytes;
    }
  }
  return info;
}

}  // namespace

std::vector<const format::SegmentEntry*> list_frontiers(const Snapshot& snapshot) {
  std::vector<const format::SegmentEntry*> entries;
  Inside::of(snapshot).directory().for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind == SegmentKind::kFrontier) entries.push_back(&entry);
  });
  std::ranges::sort(entries, {}, &format::SegmentEntry::name);
  return entries;
}

Result<FrontierInfo> read_info(const Snapshot& snapshot, const format::SegmentEntry& entry) {
  CRAWLSTORE_TRY(const auto found, frontier_segments(snapshot, entry));
  return info_of(snapshot, found);
}

Result<SnapshotState> read_snapshot_state(const Snapshot& snapshot,
                                          const format::SegmentEntry& entry) {
  CRAWLSTORE_TRY(const auto found, frontier_segments(snapshot, entry));
  std::vector<std::byte> payload;
  const auto read = [&](const format::SegmentEntry& segment,
                        const format::RunRef& run) -> Result<std::span<const std::byte>> {
    CRAWLSTORE_TRY(read_run(snapshot, segment, run, payload));
    return std::span<const std::byte>(payload);
  };
  const auto open_items = [&](const format::SegmentEntry& segment, const format::RunRef& run) {
    return ItemRun::open(
        std::make_shared<const container::Run>(Inside::of(snapshot).run_reader(segment.id, run)));
  };
  CRAWLSTORE_TRY(auto stored, read_state(found, read, open_items));
  return SnapshotState{snapshot, info_of(snapshot, found), std::move(stored.state)};
}

FrontierGroup group_of(const State& state, std::uint32_t number) {
  const Group& of = state.groups()[number];
  FrontierGroup group{.key = std::string(state.groups().key(number)),
                      .waiting_count = of.items.size() + state.runs().count(number),
                      .later_count = of.later_count,
                      .leased_count = of.leased_count,
                      .put_count = of.put_count,
                      .finished_count = of.finished_count,
                      .soft_time_ms = of.soft_time,
                      .hard_time_ms = of.hard_time,
                      .failure_count = of.failure_count};
  if (state.groups().has_setting(number)) {
    const GroupSetting& setting = state.groups().setting(number);
    FrontierRule rule = frontier_rule(setting.rule);
    rule.blocked_until_ms = setting.blocked_until;
    rule.is_active = setting.is_active;
    if (setting.parent) rule.parent = state.groups().key(*setting.parent);
    group.rule = rule;
  }
  return group;
}

}  // namespace crawlstore::frontier
