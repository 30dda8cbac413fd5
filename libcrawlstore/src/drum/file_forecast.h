// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What lies around the runs of a DRUM: where extents are placed, and what commits write.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "container/free_map.h"
#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::drum {

inline std::uint64_t whole(double amount) {
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, amount)));
}

/// Where extents lie, as container::Writer places them: how far the file grows.
class FileForecast {
 public:
  Extent reserve(double bytes) {
    const std::uint64_t length = format::round_up(whole(bytes), format::kUnitBytes);
    if (const auto found = free_.take(length)) return *found;
    const std::uint64_t step = container::growth_step(file_bytes_, length);
    const Extent extent{file_bytes_, length};
    free_.insert({extent.end_bytes(), step - length});
    file_bytes_ += step;
    return extent;
  }
  /// Keeps the first `bytes` of what was reserved.
  void give_back(Extent& extent, double bytes) {
    const std::uint64_t used =
        std::min(extent.length_bytes, format::round_up(whole(bytes), format::kUnitBytes));
    free_.insert({extent.offset_bytes + used, extent.length_bytes - used});
    extent.length_bytes = used;
  }
  /// The next commit no longer refers to it; the one behind that frees it.
  void retire(Extent extent) { retired_.push_back(extent); }
  void commit(double bytes) {
    const Extent directory = reserve(bytes);
    for (const Extent extent : held_) free_.insert(extent);
    held_ = std::exchange(retired_, {directory});
  }
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  container::FreeMap free_;
  std::vector<Extent> retired_;
  std::vector<Extent> held_;
  std::uint64_t file_bytes_ = std::uint64_t{64} << 10;
};

/// Segments and runs of the DRUM at a commit.
struct CommitWorkload {
  double buckets = 0;
  double partitions = 0;       ///< that have keys
  double logs = 0;             ///< that have runs
  double runs = 0;             ///< of these
  double changed_buckets = 0;  ///< in a row
  bool has_log_changes = false;
};

/// Bytes that a commit writes beside the runs: DRUM table, directory tables, root, held list; then
/// superblocks.
struct CommitBytes {
  double extents = 0;
  double superblocks = 0;
};
CommitBytes commit_bytes(const CommitWorkload& workload);

}  // namespace crawlstore::drum
