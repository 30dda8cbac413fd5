// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The ranks of an MPI communicator as the shards of a crawl: rank i is shard i.

#include <cstdint>

#include <mpi.h>

#include <crawlstore/shard_peers.h>

namespace crawlstore::mpi {

/// Threads: the one that initialised MPI. Errors of MPI itself end the job, as its default is.
class MpiPeers final : public ShardPeers {
 public:
  static constexpr std::uint64_t kRoundBytes = std::uint64_t{64} << 20;

  /// On all ranks at once.
  ///   round_bytes  sent at once at most, all receivers together, as counts of MPI end at 2 GiB;
  ///                that of the rank which has the least
  explicit MpiPeers(MPI_Comm comm, std::uint64_t round_bytes = kRoundBytes);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  ///   errors  kCancelled: another shard gave up; the offset is its index
  [[nodiscard]] Result<void> exchange(const std::vector<Bytes>& to,
                                      std::vector<Bytes>& from) override;

  /// Makes the next exchange() of all others fail. Without effect when another one has given up.
  void give_up();

 private:
  Result<void> exchange_lengths(const std::vector<std::uint64_t>& to,
                                std::vector<std::uint64_t>& from);
  void move_round(const std::vector<Bytes>& to, std::vector<Bytes>& from, std::uint64_t offset);

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  std::uint64_t piece_bytes_;  // of a round, to one receiver
  bool has_ended_ = false;
};

}  // namespace crawlstore::mpi
