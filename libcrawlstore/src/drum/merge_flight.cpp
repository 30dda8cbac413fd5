// SPDX-License-Identifier: Apache-2.0
#include "drum/merge_flight.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "drum/sort_requests.h"

namespace crawlstore::drum {
namespace {

/// Partitions that are fetched from the disk before their merge.
constexpr std::size_t kReadAhead = 4;

}  // namespace

MergeFlight::MergeFlight(container::Writer& writer, std::vector<MergeJob> jobs, bool ends_slice)
    : writer_(writer), ends_slice_(ends_slice), outcomes_(jobs.size()) {
  for (std::size_t i = 0; i < jobs.size(); ++i) outcomes_[i].job = std::move(jobs[i]);
}

void MergeFlight::depart() {
  try {
    other_ = std::async(std::launch::async, [this] { return merge_some(); });
  } catch (const std::system_error&) {  // without a thread, arrive() makes the merges
  }
}

/// Makes merges until none is left to take. Runs on any thread.
Result<void> MergeFlight::merge_some() {
  SortedRequests sorted;
  for (std::size_t i = 0; (i = taken_count_.fetch_add(1)) < outcomes_.size();) {
    // The disk fetches the next partitions meanwhile.
    const std::size_t ahead_end = std::min(i + kReadAhead + 1, outcomes_.size());
    for (std::size_t ahead = i == 0 ? 1 : i + kReadAhead; ahead < ahead_end; ++ahead) {
      if (const auto& run = outcomes_[ahead].job.old_run) writer_.storage().prefetch(run->extent());
    }
    const auto merged = merge_bucket(writer_.storage(), writer_.identity(), sorted, outcomes_[i]);
    if (merged) continue;
    taken_count_ = outcomes_.size();  // the rest is in vain
    return merged;
  }
  return {};
}

Result<void> MergeFlight::arrive() {
  const Result<void> own = merge_some();
  const Result<void> other = other_.valid() ? other_.get() : Result<void>{};
  return own ? other : own;
}

}  // namespace crawlstore::drum
