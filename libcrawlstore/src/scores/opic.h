// SPDX-License-Identifier: Apache-2.0
#pragma once

/// OPIC (Abiteboul, Preda, Cobena 2003): pages have cash, and give it on to those that they link
/// to. The cash that a page has given so far tells how important it is, without a matrix and
/// without an end.

#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "scores/shard_sums.h"

namespace crawlstore::scores {

/// One update: pages give, each once, then finish() is called. All that is given is got, so that
/// the sum of cash stays, but for rounding; over shards, that of all of them. Ownership: what it is
/// made of outlives it. Threads: one; the order of the pages decides what each one has to give.
class OpicUpdate {
 public:
  /// By page; homes get what pages without links give, and what nobody knows the page of.
  OpicUpdate(std::span<double> cash, std::span<double> history, const std::vector<bool>& is_home)
      : cash_(cash), history_(history), is_home_(is_home) {}

  /// All cash of a page goes, in equal parts, to these pages; it may be one of them.
  ///   errors  kSegmentInvalid: a link leads to a page that does not exist; nothing is given
  Result<void> give(std::uint64_t page, std::span<const std::uint64_t> links);

  /// Gives what is elsewhere to its owners, and the rest to the homes.
  ///   shards      the others; nullptr if the file is alone
  ///   home_count  homes of all shards; there is one, but in a file without pages
  ///   errors  of `shards`
  Result<void> finish(ShardSums* shards, std::uint64_t home_count);

 private:
  std::span<double> cash_;
  std::span<double> history_;
  const std::vector<bool>& is_home_;
  double for_homes_ = 0;
};

}  // namespace crawlstore::scores
