// SPDX-License-Identifier: Apache-2.0
//
// Invariants: rollback() leaves every reference of N-1 with the `born` it had, so that the reuse
// rule stays right for pins of older generations; rollback_damaged() never needs directory N.
#include "container/rollback.h"

#include <algorithm>

#include "container/superblocks.h"

namespace crawlstore::container {

Result<Generation> rollback(Writer& writer) {
  CRAWLSTORE_TRY(writer.prepare());
  const auto set = read_superblocks(writer.storage(), writer.identity().uuid);
  if (!set) return tl::unexpected<Error>(set.error());
  const auto* previous = set->previous();
  if (previous == nullptr) {
    return fail(Errc::kNoPreviousGeneration, "there is no previous generation in this file");
  }
  const auto directory =
      load_previous_directory(writer.storage(), writer.identity().uuid, *previous, writer.policy());
  if (!directory) return tl::unexpected<Error>(directory.error());

  // The content of N-1, as changes against N: segments of N-1 with the `born` they had, and
  // removals. Extents that only N-1 refers to are in list(N); commit_restored() takes them off it.
  writer.drop_changes();
  writer.directory()->for_each_segment([&](const format::SegmentEntry& entry) {
    if ((*directory)->find(entry.id) == nullptr) writer.remove(entry.id);
  });
  std::vector<Extent> restored;
  (*directory)->for_each_segment([&](const format::SegmentEntry& entry) {
    const auto* current = writer.directory()->find(entry.id);
    if (current != nullptr && *current == entry) return;
    for (const auto& run : entry.runs) {
      const auto* live = current == nullptr ? nullptr : current->find_run(run.run_id);
      if (live == nullptr || *live != run) restored.push_back(run.extent());
    }
    auto copy = entry;
    if (!writer.policy().rollback_keeps_born) {
      for (auto& run : copy.runs) run.born = writer.directory()->generation().next();
    }
    writer.put(std::move(copy));
  });
  auto committed = writer.commit_restored(restored);
  if (!committed) writer.drop_changes();
  return committed;
}

Result<Generation> rollback_damaged(std::unique_ptr<Storage> storage, WriterOptions options) {
  const auto identity = read_identity(*storage);
  if (!identity) return tl::unexpected<Error>(identity.error());
  const auto set = read_superblocks(*storage, identity->uuid);
  if (!set) return tl::unexpected<Error>(set.error());
  if (load_directory(*storage, identity->uuid, *set->winner(), options.policy)) {
    return fail(Errc::kInvalidArgument, "the newest generation is whole; roll back from it");
  }
  options.past_damaged_winner = true;
  auto writer = Writer::open(std::move(storage), options);
  if (!writer) return tl::unexpected<Error>(writer.error());
  return (*writer)->commit(true);
}

}  // namespace crawlstore::container
