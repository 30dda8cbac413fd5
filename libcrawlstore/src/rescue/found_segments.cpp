// SPDX-License-Identifier: Apache-2.0
#include "rescue/found_segments.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "format/frontier_layout.h"
#include "format/layout.h"
#include "format/step_run.h"
#include "rescue/places.h"

namespace crawlstore::rescue {
namespace {

/// Ids of runs from `begin` on, below `end`, whose places another run took.
struct Replaced {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Whether a table that was written with this id knows the run, or knew those that it replaced.
bool is_known(const FoundRun& run, RunId table) {
  return run.run.run_id < table || (run.label.first != 0 && run.label.first <= table.value);
}

}  // namespace

FoundSegments::FoundSegments(Storage& storage, std::vector<FoundRun> runs)
    : storage_(storage), runs_(std::move(runs)) {
  for (const FoundRun& run : runs_) by_segment_[run.label.segment].push_back(&run);
}

const FoundRun* FoundSegments::find(const PartName& part, RunId id) const {
  const auto found = by_segment_.find(part.id);
  if (found == by_segment_.end()) return nullptr;
  const auto place = std::ranges::lower_bound(found->second, id, {},
                                              [](const FoundRun* run) { return run->run.run_id; });
  const bool is_there = place != found->second.end() && (*place)->run.run_id == id &&
                        (*place)->label.kind == part.kind && (*place)->label.owner == part.owner;
  return is_there ? *place : nullptr;
}

FoundSegments::Runs FoundSegments::of(const PartName& part) const {
  const auto found = by_segment_.find(part.id);
  if (found == by_segment_.end()) return {};
  Runs runs = found->second;
  std::erase_if(runs, [&part](const FoundRun* run) {
    return run->label.kind != part.kind || run->label.owner != part.owner;
  });
  return runs;
}

std::vector<format::RunRef> FoundSegments::newest(const PartName& part, RunId table,
                                                  std::uint64_t count) const {
  std::vector<format::RunRef> kept;
  const Runs runs = of(part);
  for (auto run = runs.rbegin(); run != runs.rend() && count != 0; ++run) {
    if ((*run)->run.run_id > table) continue;
    if ((*run)->run.record_count > count) break;
    count -= (*run)->run.record_count;
    kept.push_back((*run)->run);
  }
  std::ranges::reverse(kept);
  return kept;
}

std::vector<format::RunRef> FoundSegments::not_replaced(const PartName& part, const PartName& other,
                                                        RunId table) const {
  std::vector<Replaced> replaced;
  const auto note = [&](const PartName& of_part, bool is_before_gone) {
    for (const FoundRun* run : of(of_part)) {
      if (run->label.first == 0 || !is_known(*run, table)) continue;
      replaced.push_back({run->label.first, run->run.run_id.value - (is_before_gone ? 1 : 0)});
    }
  };
  note(part, false);
  // Joined links and gone links have ids that follow each other.
  if (other.id) note(other, other.kind == SegmentKind::kGoneLinks);
  std::ranges::sort(replaced, std::greater(), &Replaced::end);
  std::vector<format::RunRef> kept;
  auto range = replaced.begin();
  std::uint64_t lowest = ~std::uint64_t{0};  // of the ranges that end above a run
  const Runs runs = of(part);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const std::uint64_t id = (*run)->run.run_id.value;
    for (; range != replaced.end() && range->end > id; ++range) {
      lowest = std::min(lowest, range->begin);
    }
    if (id < lowest && is_known(**run, table)) kept.push_back((*run)->run);
  }
  std::ranges::reverse(kept);
  return kept;
}

std::vector<format::RunRef> FoundSegments::covering(const PartName& part, std::uint64_t begin,
                                                    std::uint64_t end) const {
  std::vector<format::RunRef> kept;
  Places places;
  const Runs runs = of(part);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const auto numbers = numbers_of(**run);
    if (!numbers || numbers->length_bytes == 0 || numbers->offset_bytes < begin ||
        numbers->length_bytes > end || numbers->offset_bytes > end - numbers->length_bytes) {
      continue;
    }
    if (places.take(*numbers)) kept.push_back((*run)->run);
  }
  std::ranges::reverse(kept);
  return kept;
}

std::optional<Extent> FoundSegments::numbers_of(const FoundRun& run) const {
  const std::uint64_t count = run.run.record_count;
  if (run.label.kind == SegmentKind::kPageOrigins) {
    if (run.run.payload_bytes < sizeof(format::OriginFooter)) return std::nullopt;
    const auto footer =
        load<format::OriginFooter>(run, run.run.payload_bytes - sizeof(format::OriginFooter));
    if (footer.magic != format::kOriginRunMagic) return std::nullopt;
    return Extent{footer.first_page, count};
  }
  if (run.label.kind == SegmentKind::kFrontierGroups) {
    const auto header = load<format::GroupRunHeader>(run, 0);
    if (header.magic != format::kGroupRunMagic) return std::nullopt;
    return Extent{header.first_group, count};
  }
  const auto header = load<format::StepRunHeader>(run, 0);
  if (header.magic != format::kStepRunMagic || header.flags != 0) return std::nullopt;
  return Extent{header.first_step, count};
}

void FoundSegments::read(const FoundRun& run, std::uint64_t place,
                         std::span<std::byte> into) const {
  if (place > run.run.payload_bytes || into.size() > run.run.payload_bytes - place) return;
  const auto got = storage_.read(run.run.offset_bytes + place, into);
  if (!got || *got < into.size()) std::ranges::fill(into, std::byte{0});
}

}  // namespace crawlstore::rescue
