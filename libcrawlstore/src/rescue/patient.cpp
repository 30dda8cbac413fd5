// SPDX-License-Identifier: Apache-2.0
#include "rescue/patient.h"

#include <algorithm>
#include <iterator>

#include <crawlstore/snapshot.h>

#include "base/inside.h"
#include "rescue/borrowed_storage.h"

namespace crawlstore::rescue {

bool Patient::has_damage(const format::SegmentEntry& entry) const {
  bool found = false;
  writer.directory()->for_each_segment([&](const format::SegmentEntry& other) {
    if (other.id != entry.id && other.owner != entry.id) return;
    found = found ||
            std::ranges::any_of(other.runs, [this](const auto& run) { return is_damaged(run); });
  });
  return found;
}

void Patient::remove(const format::SegmentEntry& entry) {
  const SegmentId id = entry.id;
  writer.directory()->for_each_segment([&](const format::SegmentEntry& other) {
    if (other.owner != id) return;
    writer.remove(other.id);
    if (other.kind != SegmentKind::kScoreArray) return;
    lose({LostPart::kScores, other.name, 0, 0, other.runs.front().record_count,
          damage_of(other.runs.front(), other.id)});
  });
  writer.remove(id);
}

void Patient::forget(const std::vector<bool>& pages) {
  std::vector<std::uint64_t> more;
  for (std::uint64_t page = 0; page < pages.size(); ++page) {
    if (pages[page]) more.push_back(page);
  }
  std::vector<std::uint64_t> all;
  std::ranges::set_union(forgotten, more, std::back_inserter(all));
  forgotten = std::move(all);
}

std::vector<format::SegmentEntry> Patient::segments(SegmentKind kind) const {
  std::vector<format::SegmentEntry> all;
  writer.directory()->for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind == kind) all.push_back(entry);
  });
  return all;
}

Snapshot Patient::snapshot() const {
  return Inside::make<Snapshot>(container::Reader::open_unpublished(
      std::make_shared<BorrowedStorage>(copy), writer.identity(), writer.directory()));
}

namespace {

/// Leaves damaged segments of a kind out of which each has one run.
Result<void> leave_out(Patient& patient, SegmentKind kind, LostPart part) {
  for (const auto& entry : patient.segments(kind)) {
    const auto& run = entry.runs.front();
    if (!patient.is_damaged(run)) continue;
    patient.writer.remove(entry.id);
    patient.lose({part, entry.name, 0, 0, run.record_count, damage_of(run, entry.id)});
  }
  CRAWLSTORE_TRY(patient.writer.commit());
  return {};
}

}  // namespace

Result<void> repair_scores(Patient& patient) {
  return leave_out(patient, SegmentKind::kScoreArray, LostPart::kScores);
}

Result<void> repair_values(Patient& patient) {
  return leave_out(patient, SegmentKind::kValues, LostPart::kValues);
}

}  // namespace crawlstore::rescue
