// SPDX-License-Identifier: Apache-2.0
//
// Invariants: runs in `entries` are known ones, found ones, or made-up ones that lie after the end
// of the file; no two have the same id.
#include "rescue/found_parts.h"

#include <algorithm>
#include <utility>

#include "container/run_io.h"
#include "container/tile_tree.h"
#include "format/frontier_table.h"
#include "format/key_block.h"
#include "format/layout.h"
#include "format/queue_table.h"
#include "format/record_tile.h"
#include "format/request_run.h"
#include "format/tile_node.h"

namespace crawlstore::rescue {
namespace {

using format::RunRef;
using format::SegmentEntry;

constexpr std::size_t kRootsTriedMax = 8;  // of the tree of a tiled segment
/// More generations than there can be: a node may be of any time.
constexpr Generation kAnyTime{kIdsMax - 2};

std::uint64_t record_count_of(const std::vector<RunRef>& runs) {
  std::uint64_t count = 0;
  for (const RunRef& run : runs) count += run.record_count;
  return count;
}

}  // namespace

FoundParts::FoundParts(Storage& in, const format::Identity& of, const FoundSegments& runs,
                       std::uint64_t size)
    : storage_(in),
      identity_(of),
      found_(runs),
      file_bytes_(size),
      next_place_(format::round_up(std::max(size, format::kDataStart), format::kUnitBytes)) {
  if (!runs.all().empty()) numbers.next_run_id = runs.all().back().run.run_id.value + 1;
}

void FoundParts::complete(SegmentId owner) {
  const SegmentEntry entry = entries.at(owner);
  const RunRef& run = entry.runs.front();
  std::vector<std::byte> payload;
  const auto name = container::run_name(identity_, owner, run.run_id);
  if (!container::read_run(storage_, name, run, payload)) return;
  switch (entry.kind) {
    case SegmentKind::kPages:
      if (const auto table = format::parse_pages_table(payload)) {
        complete_pages(owner, run.run_id, *table);
      }
      return;
    case SegmentKind::kDrum:
      if (const auto table = format::parse_drum_table(payload)) {
        complete_drum(owner, run.run_id, *table);
      }
      return;
    case SegmentKind::kQueue:
      return complete_queue(owner, payload);
    default:
      return complete_frontier(owner, payload);
  }
}

// Page databases

void FoundParts::complete_pages(SegmentId id, RunId run, const format::PagesTable& table) {
  const std::size_t before = entries.size() + trees.size();
  const PartName origins{table.origins, SegmentKind::kPageOrigins, id};
  if (!has(origins)) {
    add_log(origins, found_.covering(origins, 0, table.page_count), table.page_count);
  }
  const PartName records{table.records, SegmentKind::kPageRecords, id};
  if (!has(records)) add_records(records, table.page_count);
  complete_links(table, id, run);
  const PartName events{table.events, SegmentKind::kPageEvents, id};
  if (!has(events)) {
    add_log(events, found_.newest(events, run, table.event_count), table.event_count);
  }
  // Keys are made anew from URLs: nothing tells fresh ones from those that are in the DRUM.
  const PartName fresh{table.fresh_keys, SegmentKind::kFreshKeys, id};
  if (!has(fresh)) add(fresh, StorageClass::kLog, {});
  // The index of contents is made anew from records.
  const PartName contents{table.contents, SegmentKind::kPageContents, id};
  if (!has(contents)) add(contents, StorageClass::kLog, {});
  if (found_owners.contains(id)) {
    drop_unnamed(id, {table.origins, table.records, table.out_links, table.in_links,
                      table.gone_links, table.events, table.fresh_keys, table.contents});
  }
  const bool is_changed = found_owners.contains(id) || entries.size() + trees.size() != before;
  if (table.keys) {
    const auto drum = entries.find(table.keys);
    if (drum == entries.end()) {
      add({table.keys, SegmentKind::kDrum, {}}, StorageClass::kBlob, {lost_run(1)});
    } else if (is_changed && drum->second.kind == SegmentKind::kDrum) {
      drum->second.runs = {lost_run(1)};
    }
  }
  databases[id] = {table.keys, is_changed};
}

void FoundParts::complete_links(const format::PagesTable& table, SegmentId id, RunId run) {
  const PartName out{table.out_links, SegmentKind::kOutLinks, id};
  const PartName in{table.in_links, SegmentKind::kInLinks, id};
  const PartName gone{table.gone_links, SegmentKind::kGoneLinks, id};
  const bool is_linked = table.link_count != 0;
  const auto add_links = [&](const PartName& part, const PartName& other) {
    if (has(part)) return;
    const bool is_lost_if_empty = is_linked && part.kind != SegmentKind::kGoneLinks;
    add_log(part, found_.not_replaced(part, other, run), is_lost_if_empty ? 1 : 0);
  };
  add_links(out, {});
  add_links(in, gone);
  add_links(gone, in);
}

/// Takes the newest tree that is whole, else the newest run of each tile.
void FoundParts::add_records(const PartName& part, std::uint64_t page_count) {
  if (add_tree(part, page_count)) return;
  SegmentEntry entry{part.id, part.kind, StorageClass::kTiled, part.owner, {}, {}};
  container::DirectoryDamage::Tree tree{
      std::move(entry),
      {},
      {Errc::kDirectoryDamaged, 0, part.id, Error::kNoOffset, "the tree of these tiles is lost"}};
  const std::uint64_t tile_count = (page_count + format::kTilePagesMax - 1) / format::kTilePagesMax;
  if (tile_count <= file_bytes_ / format::kUnitBytes) tree.tiles.resize(tile_count);
  for (const FoundRun* run : found_.of(part)) {
    const std::uint64_t tile = run->label.first;
    if (tile >= tree.tiles.size()) continue;
    const std::uint64_t count =
        std::min<std::uint64_t>(format::kTilePagesMax, page_count - tile * format::kTilePagesMax);
    const bool is_tile = run->run.record_count == count &&
                         found_.load<std::uint64_t>(*run, 0) == format::kRecordTileMagic;
    if (is_tile) tree.tiles[tile] = run->run;
  }
  trees.push_back(std::move(tree));
}

bool FoundParts::add_tree(const PartName& part, std::uint64_t page_count) {
  const auto runs = found_.of(part);
  std::size_t tried = 0;
  for (auto run = runs.rbegin(); run != runs.rend() && tried < kRootsTriedMax; ++run) {
    if ((*run)->label.first != 0 || (*run)->run.record_count != page_count ||
        found_.load<std::uint64_t>(**run, 0) != format::kTileNodeMagic) {
      continue;
    }
    ++tried;
    SegmentEntry entry{part.id, part.kind, StorageClass::kTiled, part.owner, {}, {(*run)->run}};
    entry.runs.front().born = kAnyTime;
    container::TileLoader loader(storage_, identity_.uuid, next_place_);
    if (!loader.load(entry)) continue;
    entry.runs.back().born = {};
    const bool is_found = std::ranges::all_of(entry.runs, [&](const RunRef& ref) {
      const FoundRun* found = found_.find(part, ref.run_id);
      return found != nullptr && !claimed_.contains(ref.run_id) &&
             found->run.offset_bytes == ref.offset_bytes &&
             found->run.payload_bytes == ref.payload_bytes;
    });
    if (!is_found) continue;
    for (const RunRef& ref : entry.runs)
      numbers.max_born = std::max(numbers.max_born, ref.born.value);
    for (const RunRef& ref : entry.runs) claimed_.insert(ref.run_id);
    entries.emplace(part.id, std::move(entry));
    return true;
  }
  return false;
}

// DRUMs

void FoundParts::complete_drum(SegmentId id, RunId run, const format::DrumTable& table) {
  if (table.key_scheme == KeyScheme::kPage && found_owners.contains(id)) {
    entries.erase(id);  // its page database is lost
    return;
  }
  std::set<SegmentId> named;
  for (const auto& bucket : table.buckets) {
    const PartName keys{bucket.partition, SegmentKind::kDrumPartition, id};
    if (!has(keys)) {
      auto runs = found_.of(keys);
      std::erase_if(runs, [&](const FoundRun* one) {
        return one->run.record_count != bucket.key_count || one->run.run_id > run ||
               claimed_.contains(one->run.run_id);
      });
      // The least that a partition of so many keys has.
      const std::uint64_t bytes =
          (bucket.key_count / format::kBlockKeysMax + 1) * sizeof(format::KeyBlockHeader) +
          bucket.key_count * static_cast<std::uint64_t>(std::max(0, table.value_bytes));
      add(keys, StorageClass::kBlob,
          {runs.empty() ? lost_run(bucket.key_count, bytes) : runs.back()->run});
    }
    const PartName log{bucket.key_log, SegmentKind::kDrumKeyLog, id};
    if (!has(log)) {
      add_log(log, found_.newest(log, run, bucket.pending_count), bucket.pending_count);
    }
    const PartName auxes{bucket.aux_log, SegmentKind::kDrumAuxLog, id};
    if (!has(auxes)) {
      Runs runs;
      const auto key_log = entries.find(log.id);
      for (const FoundRun* one : found_.of(auxes)) {
        const bool is_of_run = key_log != entries.end() &&
                               key_log->second.find_run({one->run.run_id.value - 1}) != nullptr;
        if (is_of_run) runs.push_back(one->run);
      }
      add_log(auxes, std::move(runs), 0);
    }
    named.insert({keys.id, log.id, auxes.id});
  }
  for (const auto& consumer : table.consumers) {
    const PartName results{consumer.results, SegmentKind::kDrumResults, id};
    named.insert(results.id);
    if (has(results)) continue;
    add_log(results, found_.newest(results, run, consumer.result_count), consumer.result_count);
  }
  if (found_owners.contains(id)) drop_unnamed(id, named);
}

// Queues and frontiers

void FoundParts::complete_queue(SegmentId id, std::span<const std::byte> payload) {
  const auto table = format::parse_queue_table(payload);
  if (!table) return;
  const PartName part{table->entries, SegmentKind::kQueueEntries, id};
  if (has(part)) return;
  std::vector<RunId> ids = table->changes;
  for (const auto& run : table->runs) ids.push_back(run.run);
  add_named_log(part, ids, {});
}

void FoundParts::complete_frontier(SegmentId id, std::span<const std::byte> payload) {
  const auto table = format::parse_frontier_table(payload);
  if (!table) return;
  const PartName groups{table->groups, SegmentKind::kFrontierGroups, id};
  // Groups that came last are in journals.
  if (!has(groups)) add_log(groups, found_.covering(groups, 0, table->group_count), 0);
  const PartName items{table->items, SegmentKind::kFrontierItems, id};
  if (!has(items)) {
    std::vector<RunId> ids;
    for (const auto& run : table->runs) ids.push_back(run.run);
    add_named_log(items, ids, {});
  }
  const PartName steps{table->steps, SegmentKind::kFrontierSteps, id};
  if (has(steps)) return;
  std::uint64_t oldest = table->pieces.empty() ? 0 : table->step_count;
  for (const RunId piece : table->pieces) {
    const FoundRun* run = found_.find(steps, piece);
    if (run == nullptr) continue;
    oldest = std::min(oldest, found_.load<format::StepRunHeader>(*run, 0).first_step);
  }
  add_named_log(steps, table->pieces, found_.covering(steps, oldest + 1, table->step_count + 1));
}

// All

bool FoundParts::has(const PartName& part) {
  if (!part.id || part.id.value >= kIdsMax || entries.contains(part.id)) return true;
  const auto is_tree = [&part](const auto& tree) {
    return tree.entry.id == part.id && tree.entry.owner == part.owner;
  };
  if (std::ranges::any_of(trees, is_tree)) return true;
  const auto tree = std::ranges::find_if(orphans.trees, is_tree);
  if (tree != orphans.trees.end()) {
    trees.push_back(*tree);
    return true;
  }
  const auto orphan = orphans.entries.find(part.id);
  const bool is_ours = orphan != orphans.entries.end() && orphan->second.owner == part.owner &&
                       orphan->second.kind == part.kind;
  if (is_ours) entries.insert(*orphan);
  return is_ours;
}

void FoundParts::claim(const SegmentEntry& entry) {
  for (const RunRef& run : entry.runs) claimed_.insert(run.run_id);
}

void FoundParts::add(const PartName& part, StorageClass storage_class, Runs runs) {
  SegmentEntry entry{part.id, part.kind, storage_class, part.owner, {}, std::move(runs)};
  claim(entry);
  entries.emplace(part.id, std::move(entry));
}

void FoundParts::add_log(const PartName& part, Runs runs, std::uint64_t record_count) {
  std::erase_if(runs, [this](const RunRef& run) { return claimed_.contains(run.run_id); });
  const std::size_t runs_max = format::kRunsPerLogMax - 1;
  if (runs.size() > runs_max) {
    runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(runs_max));
  }
  const std::uint64_t found = record_count_of(runs);
  // The least that a run of so many requests has.
  if (found < record_count) {
    runs.push_back(lost_run(record_count - found, (record_count - found) / 8 + 8));
  }
  add(part, StorageClass::kLog, std::move(runs));
}

void FoundParts::add_named_log(const PartName& part, const std::vector<RunId>& ids, Runs others) {
  Runs runs = std::move(others);
  for (const RunId id : ids) {
    const FoundRun* run = found_.find(part, id);
    runs.push_back(run != nullptr ? run->run : lost_run(1));
    runs.back().run_id = id;
    numbers.next_run_id = std::max(numbers.next_run_id, id.value + 1);
  }
  std::ranges::sort(runs, {}, &RunRef::run_id);
  const auto is_same = [](const RunRef& a, const RunRef& b) { return a.run_id == b.run_id; };
  runs.erase(std::unique(runs.begin(), runs.end(), is_same), runs.end());
  add_log(part, std::move(runs), 0);
}

/// Removes the segments that a directory has of an owner, and its table, which was found, has not.
void FoundParts::drop_unnamed(SegmentId owner, const std::set<SegmentId>& named) {
  std::erase_if(entries, [&](const auto& entry) {
    return entry.second.owner == owner && !named.contains(entry.first) &&
           entry.second.kind != SegmentKind::kScoreArray;
  });
}

RunRef FoundParts::lost_run(std::uint64_t record_count, std::uint64_t payload_bytes) {
  // It did fit into the file.
  const std::uint64_t bytes = std::clamp<std::uint64_t>(format::round_up(payload_bytes, 8), 8,
                                                        std::max<std::uint64_t>(8, file_bytes_));
  const RunRef run{next_place_, {}, {numbers.next_run_id++}, bytes, record_count, 0};
  next_place_ = run.extent().end_bytes();
  return run;
}

}  // namespace crawlstore::rescue
