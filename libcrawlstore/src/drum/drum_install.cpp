// SPDX-License-Identifier: Apache-2.0
//
// Puts the outcomes of a merge into the state: partitions and logs.
#include <algorithm>
#include <utility>

#include "drum/drum_impl.h"

namespace crawlstore {
Result<void> DrumCore::Impl::install_outcome(Group& group, drum::MergeOutcome& outcome) {
  const std::size_t index = drum.state.bucket_of(outcome.job.first_key);
  drum::Bucket& bucket = drum.state.buckets[index];
  const auto& job = outcome.job;
  splits_under_way -= job.piece_writers.size() - 1;
  // Count the runs now: since the merge began, a commit may have logged sealed requests.
  const std::size_t run_count = job.is_last_slice ? bucket.locked_run_count : job.key_runs.size();
  bucket.pending.drop_front(run_count);
  bucket.locked_run_count -= run_count;
  if (job.is_last_slice) bucket.is_planned = false;
  if (!outcome.changed) return {};
  if (outcome.pieces.empty()) {  // no key stays; the id goes when a commit has removed the segment
    bucket.partition_run.reset();
    bucket.lookup = nullptr;
    bucket.key_count = 0;
    return {};
  }

  for (std::size_t i = 0; i < outcome.pieces.size(); ++i) {
    const auto& piece = outcome.pieces[i];
    const auto place = drum.state.buckets.begin() + static_cast<std::ptrdiff_t>(index + i);
    drum::Bucket& written = i == 0 ? *place : *drum.state.buckets.insert(place, drum::Bucket());
    if (i != 0) written.first_key = piece.first_key;
    written.partition = job.piece_segments[i];
    written.partition_run = store->writer->runs->add(written.partition, piece.run);
    written.lookup = nullptr;
    outcome.job.piece_writers[i].give_back();
    written.key_count = piece.key_count;
  }
  if (outcome.pieces.size() == 1) return {};
  group.report.split_count += outcome.pieces.size() - 1;
  return redistribute(index, outcome.pieces.size());
}

Result<void> DrumCore::Impl::install(Group& group) {
  for (auto& outcome : group.outcomes) CRAWLSTORE_TRY(install_outcome(group, outcome));
  CRAWLSTORE_TRY(delivery.keep(group.absent));
  drum.dirty = true;
  return {};
}

}  // namespace crawlstore
