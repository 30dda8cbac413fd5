// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `crawlstore shards split`: makes two files of a shard, each with half of its hosts.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crawlstore::cli {

struct SplitOptions {
  std::vector<std::string> paths;  ///< FILE, LOWER, UPPER
  std::string database;            ///< whose pages queues have
  std::vector<std::string> left;   ///< kinds of parts that the new files may lack
  std::optional<std::uint64_t> memory_bytes;
  bool as_json = false;
  bool quiet = false;
};

/// Words of --leave.
const std::vector<std::string>& split_leave_words();
/// The paragraph of the help.
extern const char* const kSplitFooter;

/// Returns the exit code. Both new files are there as a whole, or neither.
int split_shard(const SplitOptions& options);

}  // namespace crawlstore::cli
