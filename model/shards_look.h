// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files that are looked at together as the shards of a crawl: each as far as it can be read, their
/// sums, what keeps them from being a whole crawl, and the best pages of all.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/shard_set.h>

#include "model/table_source.h"

namespace crawlstore::model {

struct ShardsQuestion {
  std::vector<std::string> paths;
  std::string database = "pages";
  /// Name of the arrays that tell the best pages; empty, or one that no file has: the usual one, or
  /// the first by name.
  std::string scores{};
  std::size_t best_max = 1000;
};

/// All in memory: it holds no pin.
struct ShardsLook {
  std::uint64_t page_count = 0;  ///< not elsewhere in their files
  std::uint64_t crawled_count = 0;
  std::uint64_t link_count = 0;
  /// Without the folder that all of the paths have in common; in the order of the question.
  std::vector<std::string> names;
  std::vector<std::string> shards;  ///< "1/3"; empty: the file cannot be read
  /// A row a file, by names: that of shards_view(), then the steps by which it is behind the shard
  /// that is furthest, and its length. The row of a file that cannot be read has its name alone.
  std::shared_ptr<const TableSource> rows;
  std::vector<std::string> unreadable;  ///< names, with why
  std::string problem;                  ///< of those that can be read: shards_problem()
  std::vector<std::string> arrays;      ///< names of arrays in any file, ascending
  std::string scores;                   ///< of these, by which the best are; empty: there is none
  std::shared_ptr<const TableSource> best;  ///< by rank; nullptr: best_problem says why
  std::string best_problem;

  [[nodiscard]] bool is_whole() const { return unreadable.empty() && problem.empty(); }
};

/// progress  files that were read, of all; false ends it
/// errors    kCancelled; all else is words of the look
Result<ShardsLook> look_at_shards(const ShardsQuestion& question,
                                  const std::function<bool(std::size_t, std::size_t)>& progress);

/// Another text: other content of one of the files. Reads the superblocks only.
std::string shards_trace(std::span<const std::string> paths);

/// The table `pages` of what ShardSet::top() returned. errors of damage
Result<Table> best_of_shards(const ShardSet& set, std::span<const ScoredShardPage> best);

}  // namespace crawlstore::model
