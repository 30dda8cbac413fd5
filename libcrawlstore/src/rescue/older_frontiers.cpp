// SPDX-License-Identifier: Apache-2.0
#include "rescue/older_frontiers.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "container/run_io.h"
#include "format/frontier_table.h"

namespace crawlstore::rescue {
namespace {

using format::SegmentEntry;

constexpr const char* kCause = "a newer generation is damaged";

/// The number of the last step of a frontier; nothing: it cannot be read.
std::optional<std::uint64_t> step_count_of(container::Reader& reader, const SegmentEntry& entry) {
  std::vector<std::byte> payload;
  const auto& run = entry.runs.front();
  const auto name = container::run_name(reader.identity(), entry.id, run.run_id);
  if (!container::read_run(*reader.storage(), name, run, payload)) return std::nullopt;
  const auto table = format::parse_frontier_table(payload);
  return table ? std::optional(table->step_count) : std::nullopt;
}

const SegmentEntry* find(const container::Reader* reader, const SegmentEntry& entry) {
  const auto* const found = reader == nullptr ? nullptr : reader->directory().find(entry.id);
  return found != nullptr && found->kind == SegmentKind::kFrontier ? found : nullptr;
}

}  // namespace

std::vector<Loss> lost_with_commits(container::Reader& taken, container::Reader* newest) {
  std::vector<Loss> losses;
  const auto add = [&losses](LostPart part, const SegmentEntry& entry) -> Loss& {
    return losses.emplace_back(Loss{
        part, entry.name, 0, 0, 0, {Errc::kDirectoryDamaged, 0, {}, Error::kNoOffset, kCause}});
  };
  taken.directory().for_each_segment([&](const SegmentEntry& entry) {
    if (entry.kind != SegmentKind::kFrontier) return;
    const auto before = step_count_of(taken, entry);
    if (!before) return;  // it is lost itself
    const SegmentEntry* const later = find(newest, entry);
    const auto after = later == nullptr ? std::nullopt : step_count_of(*newest, *later);
    if (after && *after <= *before) return;
    Loss& loss = add(LostPart::kSteps, entry);
    loss.first = *before + 1;
    loss.end = after ? *after + 1 : 0;
    loss.count = after ? *after - *before : 0;
  });
  if (newest == nullptr) return losses;
  newest->directory().for_each_segment([&](const SegmentEntry& entry) {
    if (entry.kind != SegmentKind::kFrontier || find(&taken, entry) != nullptr) return;
    add(LostPart::kFrontier, entry);
  });
  return losses;
}

}  // namespace crawlstore::rescue
