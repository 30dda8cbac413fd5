// SPDX-License-Identifier: Apache-2.0
#include "mpi/mpi_peers.h"

#include <algorithm>
#include <cstddef>

namespace crawlstore::mpi {
namespace {

/// The length that a shard sends which gives up.
constexpr std::uint64_t kGaveUp = ~std::uint64_t{0};

}  // namespace

MpiPeers::MpiPeers(MPI_Comm comm, std::uint64_t round_bytes) : comm_(comm) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  const auto size = static_cast<std::uint64_t>(size_);
  piece_bytes_ = std::max<std::uint64_t>(std::min(round_bytes, kMost) / size, 1);
  MPI_Allreduce(MPI_IN_PLACE, &piece_bytes_, 1, MPI_UINT64_T, MPI_MIN, comm);
}

Result<void> MpiPeers::exchange_lengths(const std::vector<std::uint64_t>& to,
                                        std::vector<std::uint64_t>& from) {
  from.assign(to.size(), 0);
  MPI_Alltoall(to.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, comm_);
  const auto ended = std::ranges::find(from, kGaveUp);
  if (ended == from.end()) return {};
  has_ended_ = true;
  return fail(Errc::kCancelled, "another shard has ended its work: the one that is the offset",
              static_cast<std::uint64_t>(ended - from.begin()));
}

/// Moves the bytes behind `offset` of all messages, a piece of each.
void MpiPeers::move_round(const std::vector<Bytes>& to, std::vector<Bytes>& from,
                          std::uint64_t offset) {
  struct Side {
    std::vector<int> counts;
    std::vector<int> places;
    Bytes bytes;
  };
  const auto side_of = [&](const std::vector<Bytes>& messages) {
    Side side;
    side.counts.reserve(messages.size());
    side.places.reserve(messages.size());
    int place = 0;
    for (const Bytes& message : messages) {
      const std::uint64_t left = message.size() - std::min<std::uint64_t>(message.size(), offset);
      side.counts.push_back(static_cast<int>(std::min(left, piece_bytes_)));
      side.places.push_back(place);
      place += side.counts.back();
    }
    side.bytes.resize(static_cast<std::size_t>(place));
    return side;
  };
  Side sent = side_of(to);
  Side got = side_of(from);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (sent.counts[i] == 0) continue;
    std::copy_n(to[i].begin() + static_cast<std::ptrdiff_t>(offset), sent.counts[i],
                sent.bytes.begin() + sent.places[i]);
  }
  MPI_Alltoallv(sent.bytes.data(), sent.counts.data(), sent.places.data(), MPI_BYTE,
                got.bytes.data(), got.counts.data(), got.places.data(), MPI_BYTE, comm_);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (got.counts[i] == 0) continue;
    std::copy_n(got.bytes.begin() + got.places[i], got.counts[i],
                from[i].begin() + static_cast<std::ptrdiff_t>(offset));
  }
}

Result<void> MpiPeers::exchange(const std::vector<Bytes>& to, std::vector<Bytes>& from) {
  if (to.size() != static_cast<std::size_t>(size_)) {
    give_up();
    return fail(Errc::kInvalidArgument, "there are more shards, or fewer, than ranks of MPI");
  }
  std::vector<std::uint64_t> lengths;
  lengths.reserve(to.size());
  for (const Bytes& message : to) lengths.push_back(message.size());
  std::vector<std::uint64_t> coming;
  CRAWLSTORE_TRY(exchange_lengths(lengths, coming));
  from.resize(to.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i].resize(coming[i]);
  std::uint64_t longest = std::max(std::ranges::max(lengths), std::ranges::max(coming));
  MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_UINT64_T, MPI_MAX, comm_);
  for (std::uint64_t offset = 0; offset < longest; offset += piece_bytes_) {
    move_round(to, from, offset);
  }
  return {};
}

void MpiPeers::give_up() {
  if (has_ended_) return;
  has_ended_ = true;
  std::vector<std::uint64_t> from;
  (void)exchange_lengths(std::vector<std::uint64_t>(static_cast<std::size_t>(size_), kGaveUp),
                         from);
}

}  // namespace crawlstore::mpi
