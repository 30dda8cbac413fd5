// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The forecast of the file around the runs of a DRUM: the places of extents, and the writes of
/// commits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <crawlstore/types.h>

namespace crawlstore::model {

inline std::uint64_t whole(double amount) {
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, amount)));
}

/// The places of extents in a store (best fit, the lowest of equals), and so the growth of the
/// file.
class FileForecast {
 public:
  Extent reserve(double bytes);
  /// Keeps the first `bytes` of what was reserved.
  void give_back(Extent& extent, double bytes);
  /// The next commit no longer refers to it; the one behind that frees it.
  void retire(Extent extent) { retired_.push_back(extent); }
  void commit(double bytes);
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  using Offsets = std::map<std::uint64_t, std::uint64_t>;

  void release(Extent extent);
  Offsets::iterator forget(Offsets::iterator place);

  // The free extents, no two of which touch.
  Offsets free_;                                                 // offset -> length
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_length_;  // (length, offset)
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

}  // namespace crawlstore::model
