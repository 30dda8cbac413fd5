// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <vector>

#include "container/writer.h"
#include "drum/bucket_merge.h"

namespace crawlstore::drum {

/// Merges under way, on a thread of their own and on the one that waits for them: each is made by
/// the thread that takes it first.
class MergeFlight {
 public:
  /// `ends_slice`: whether more of the last job's bucket is to come.
  MergeFlight(container::Writer& writer, std::vector<MergeJob> jobs, bool ends_slice);
  MergeFlight(const MergeFlight&) = delete;
  MergeFlight& operator=(const MergeFlight&) = delete;

  /// Starts a thread, if there is one to be had.
  void depart();
  /// Returns when the merges are made, and makes those not yet taken.
  Result<void> arrive();
  [[nodiscard]] bool ends_slice() const { return ends_slice_; }
  /// Whole after arrive().
  [[nodiscard]] std::vector<MergeOutcome>& outcomes() { return outcomes_; }

 private:
  Result<void> merge_some();

  container::Writer& writer_;
  const bool ends_slice_;
  std::vector<MergeOutcome> outcomes_;
  std::atomic<std::size_t> taken_count_{0};
  std::future<Result<void>> other_;  // last: ends before the outcomes go
};

}  // namespace crawlstore::drum
