// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The ranks of a job, each with the file of its shard.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/store.h>

#include "cli/stop_signals.h"
#include "mpi/mpi_peers.h"

namespace crawlstore::mpi {

/// Begins and ends MPI. One in a process, outside of everything that uses MPI.
class MpiSession {
 public:
  MpiSession(int& count, char**& words);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

/// Numbers that one rank tells all, by column.
struct ShardRow {
  std::string path;
  std::vector<std::uint64_t> numbers;
};

/// Threads: that of MPI.
class ShardJob {
 public:
  /// Finds each rank's file, and puts the ranks into the order of their shards.
  ///   patterns     paths, or patterns of the shell. A rank that sees the files of all shards takes
  ///                that of its number; one that sees those of its machine alone takes one of them
  ///   round_bytes  as of MpiPeers
  ///   problem      takes the path of a file that cannot be read
  ///   errors  kUnknownName: there is no such file; kInvalidArgument: it is not known which file is
  ///           whose, or another number of ranks than shards runs; kCancelled: on another rank
  static Result<ShardJob> open(const std::vector<std::string>& patterns, std::uint64_t round_bytes,
                               std::string& problem);
  ~ShardJob();
  ShardJob(ShardJob&& other) noexcept;
  ShardJob& operator=(ShardJob&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] MpiPeers& peers() { return *peers_; }
  [[nodiscard]] std::uint32_t shard() const { return static_cast<std::uint32_t>(peers_->rank()); }
  /// Cores for this rank, where ranks of one machine share them evenly.
  [[nodiscard]] unsigned thread_count() const { return thread_count_; }

  /// The rows of all shards, in their order. errors  as MpiPeers::exchange()
  [[nodiscard]] Result<std::vector<ShardRow>> gather(const std::vector<std::uint64_t>& numbers);

 private:
  ShardJob() = default;

  std::string path_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<MpiPeers> peers_;
  unsigned thread_count_ = 1;
};

/// Says now and then on standard error how far a rank is, unless it is to be quiet.
class RankProgressLines {
 public:
  RankProgressLines(std::uint32_t shard, bool quiet, const cli::StopSignals& stop)
      : shard_(shard), quiet_(quiet), stop_(stop), next_(Clock::now() + kPatience) {}

  /// Returns false where a signal asks to stop.
  bool update(std::string_view what, std::uint64_t done, std::uint64_t total);
  /// The same of iterations, of which the first shard alone speaks.
  bool update_iteration(std::uint32_t iteration, double residual);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPatience{2};
  bool is_time();

  std::uint32_t shard_;
  bool quiet_;
  const cli::StopSignals& stop_;
  Clock::time_point next_;
};

}  // namespace crawlstore::mpi
