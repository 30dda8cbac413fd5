// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The way to the other shards of a crawl (shard.h), while a program runs on each of them: for
/// exchange_step() and for scores over shards (shard_scores.h). All shards make the same calls,
/// with the same options, in the same order; what carries the bytes is theirs. crawlstore-mpi uses
/// MPI, a test uses threads.
///
/// Ownership: as in crawlstore.hpp. Threads: one call at a time. Source: Valiant, "A
/// Bridging Model for Parallel Computation", 1990.

#include <cstddef>
#include <vector>

#include <crawlstore/error.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The shards, as one of them reaches all. Whoever derives from it carries bytes.
class ShardPeers {
 public:
  using Bytes = std::vector<std::byte>;

  ShardPeers() = default;
  virtual ~ShardPeers() = default;
  ShardPeers(const ShardPeers&) = delete;
  ShardPeers& operator=(const ShardPeers&) = delete;

  /// Sends bytes to each shard, and waits for those of all.
  ///   to      by shard; one's own are handed back
  ///   from    by shard; what is in it before is lost
  ///   errors  of the transport; kCancelled: another shard has ended its work with an error. Where
  ///           one has, the calls of all others have to fail, as they would wait for it for ever
  [[nodiscard]] virtual Result<void> exchange(const std::vector<Bytes>& to,
                                              std::vector<Bytes>& from) = 0;
};

}  // namespace crawlstore
#pragma GCC visibility pop
