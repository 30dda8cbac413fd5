// SPDX-License-Identifier: Apache-2.0
#include "drum/open_drum.h"

#include <algorithm>

#include <crawlstore/tools/merge_rules.h>

namespace crawlstore::drum {

DrumOptions OpenDrum::current_options() const {
  const MutexLock lock(mutex);
  return options;
}

bool OpenDrum::merges_from_memory() const {
  return !options.log_first && options.durability != Durability::kRequest &&
         options.array_elements == 0 && options.array_aux_bytes == 0 && options.bucket_bytes == 0;
}

std::uint64_t OpenDrum::slice_requests_max() const {
  const auto value = static_cast<std::uint64_t>(std::max(0, shape.value_bytes));
  return drum::slice_requests_max(options.memory_bytes, value + shape.key_bytes - 8U);
}

MergeThresholds OpenDrum::merge_thresholds() const {
  if (options.bucket_bytes != 0) return {.bytes = options.bucket_bytes};
  return {.requests = slice_requests_max()};
}

bool OpenDrum::calls_for_merge(const Bucket& bucket) const {
  if (bucket.pending.keys.size() == bucket.locked_run_count) return false;
  return drum::calls_for_merge(bucket.pending.size_after(bucket.locked_run_count),
                               merge_thresholds());
}

}  // namespace crawlstore::drum
