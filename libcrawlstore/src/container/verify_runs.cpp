// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "container/run_scan.h"
#include "container/tile_tree.h"
#include "container/verify.h"

namespace crawlstore::container {
namespace {

bool has_run(const format::SegmentEntry* entry, const RunKey& key) {
  const auto* other = entry == nullptr ? nullptr : entry->find_run(key.run);
  return other != nullptr && RunKey::of(*entry, *other) == key;
}

/// Sorted extents, touching ones joined.
std::vector<Extent> joined(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end());
  std::vector<Extent> all;
  for (const Extent& extent : extents) {
    if (!all.empty() && all.back().end_bytes() == extent.offset_bytes) {
      all.back().length_bytes += extent.length_bytes;
    } else {
      all.push_back(extent);
    }
  }
  return all;
}

bool is_inside(const std::vector<Extent>& areas, Extent extent) {
  auto place = std::upper_bound(
      areas.begin(), areas.end(), extent.offset_bytes,
      [](std::uint64_t offset, const Extent& area) { return offset < area.offset_bytes; });
  return place != areas.begin() && extent.end_bytes() <= (--place)->end_bytes();
}

/// The labels of the runs of a segment, as far as the directory tells.
std::vector<format::RunLabel> known_labels(const format::SegmentEntry& entry) {
  const std::uint64_t first = entry.storage_class == StorageClass::kBlob ? 0 : format::kAnyFirst;
  std::vector<format::RunLabel> labels;
  labels.reserve(entry.runs.size());
  for (const auto& run : entry.runs) labels.push_back(label_of(entry, run.run_id, first));
  if (entry.tree_order.empty()) return labels;
  const TileTree tree(entry);
  for (std::size_t position = 0; position < entry.tree_order.size(); ++position) {
    labels[entry.tree_order[position]].first = TileTree::first_tile(tree.place_of(position));
  }
  return labels;
}

/// The padding in a whole piece of a run: behind the payload, or between last level and end.
bool padding_is_zero(const RunTask& task, const format::ChecksumTree& tree, const RunPiece& piece) {
  const std::uint64_t start = piece.extent.offset_bytes - task.run.offset_bytes;
  const std::uint64_t end = start + piece.bytes.size();
  std::uint64_t padding = end;
  std::uint64_t padding_end = end;
  if (end == tree.padded_payload_bytes) padding = tree.payload_bytes;
  if (end == tree.extent_bytes) {
    padding = tree.levels.back().offset_bytes + tree.levels.back().length_bytes();
    padding_end = end - sizeof(format::RunEnd);
  }
  const auto bytes = piece.bytes.subspan(padding - start, padding_end - padding);
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

std::vector<RunTask> runs_of(const Directory* newest, const Directory* previous) {
  std::vector<RunTask> tasks;
  if (newest != nullptr) {
    newest->for_each_segment([&](const format::SegmentEntry& entry) {
      const auto labels = known_labels(entry);
      for (std::size_t i = 0; i < entry.runs.size(); ++i) {
        const auto& run = entry.runs[i];
        tasks.push_back(
            {RunKey::of(entry, run), labels[i], run, FindingKind::kDamaged, newest->generation()});
      }
    });
  }
  if (previous != nullptr) {
    previous->for_each_segment([&](const format::SegmentEntry& entry) {
      const auto* current = newest == nullptr ? nullptr : newest->find(entry.id);
      const auto labels = known_labels(entry);
      for (std::size_t i = 0; i < entry.runs.size(); ++i) {
        const auto& run = entry.runs[i];
        const RunKey key = RunKey::of(entry, run);
        if (has_run(current, key)) continue;
        tasks.push_back(
            {key, labels[i], run, FindingKind::kReducedRedundancy, previous->generation()});
      }
    });
  }
  std::sort(tasks.begin(), tasks.end(), [](const RunTask& a, const RunTask& b) {
    return a.run.offset_bytes < b.run.offset_bytes;
  });
  return tasks;
}

Result<std::set<RunKey>> verify_runs(Verification& verification,
                                     const std::vector<RunTask>& tasks) {
  std::set<RunKey> damaged;
  for (const RunTask& task : tasks) {
    const auto name = run_name(verification.identity, task.key.segment, task.run.run_id);
    const auto tree = format::checksum_tree(task.run.payload_bytes);
    const auto scanned =
        scan_run(verification.storage, name, task.run, [&](const RunPiece& piece) -> Result<void> {
          if (!piece.is_whole()) {
            damaged.insert(task.key);
            CRAWLSTORE_TRY(verification.found_or_fail(task.kind, task.generation, piece.error));
          }
          if (piece.is_whole() && !padding_is_zero(task, tree, piece)) {
            verification.found(task.kind, task.generation,
                               {Errc::kSegmentInvalid, 0, task.key.segment,
                                piece.extent.offset_bytes, kPaddingText});
          }
          if (piece.is_whole() && piece.extent.end_bytes() == task.run.extent().end_bytes()) {
            const auto end = format::check_run_end(piece.bytes, verification.identity.uuid,
                                                   task.label, task.run);
            if (!end) verification.found(task.kind, task.generation, end.error());
          }
          verification.report.checked_bytes += piece.extent.length_bytes;
          return verification.advance(piece.extent.length_bytes);
        });
    if (!scanned) return tl::unexpected<Error>(scanned.error());
  }
  return damaged;
}

void verify_kept(Verification& verification, const Directory& newest, const Directory& previous) {
  auto used = newest.live_extents();
  newest.for_each_held([&used](const format::HeldExtent& held) { used.push_back(held.extent); });
  const auto areas = joined(std::move(used));
  for (const Extent& extent : previous.live_extents()) {
    if (is_inside(areas, extent)) continue;
    verification.found(FindingKind::kReducedRedundancy, previous.generation(),
                       {Errc::kDirectoryInvalid,
                        0,
                        {},
                        extent.offset_bytes,
                        "the newest generation takes an extent of the previous one for free"});
  }
}

}  // namespace crawlstore::container
