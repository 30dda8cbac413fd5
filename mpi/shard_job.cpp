// SPDX-License-Identifier: Apache-2.0
#include "mpi/shard_job.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <crawlstore/shard.h>

#include "cli/console.h"

namespace crawlstore::mpi {
namespace {

/// The files that the patterns name, sorted, each once.
std::vector<std::string> files_of(const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) {
    glob_t found{};
    if (::glob(pattern.c_str(), GLOB_NOCHECK, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

struct ShardFile {
  std::string path;
  Shard shard{};
};

/// Those of them that are there, by shard. errors  as Snapshot::open(); the path is noted
Result<std::vector<ShardFile>> shard_files(const std::vector<std::string>& patterns,
                                           std::string& path) {
  std::vector<ShardFile> files;
  for (const std::string& candidate : files_of(patterns)) {
    if (::access(candidate.c_str(), F_OK) != 0) continue;  // on another machine
    path = candidate;
    CRAWLSTORE_TRY(const auto snapshot, Snapshot::open(candidate));
    CRAWLSTORE_TRY(const Shard shard, read_shard(snapshot));
    files.push_back({candidate, shard});
  }
  path.clear();
  if (files.empty()) return fail(Errc::kUnknownName, "no file of a shard is there");
  std::ranges::sort(files, {}, [](const ShardFile& file) { return file.shard.index; });
  return files;
}

/// The ranks of this machine.
struct Neighbours {
  int rank = 0;
  int size = 1;
};

Neighbours find_neighbours() {
  MPI_Comm near = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  Neighbours found;
  MPI_Comm_rank(near, &found.rank);
  MPI_Comm_size(near, &found.size);
  MPI_Comm_free(&near);
  return found;
}

/// The file of this rank: of all files the one of its number, of those of its machine the one in
/// its place among the ranks there.
Result<ShardFile> choose(const std::vector<ShardFile>& files, const Neighbours& near) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const ShardFile& file : files) {
    if (file.shard.count != static_cast<std::uint32_t>(size)) {
      return fail(Errc::kInvalidArgument,
                  "the crawl has another number of shards than ranks run: mpirun -np SHARDS");
    }
  }
  const bool sees_all = files.size() == static_cast<std::size_t>(size);
  const auto place = static_cast<std::size_t>(sees_all ? rank : near.rank);
  if (!sees_all && files.size() != static_cast<std::size_t>(near.size)) {
    return fail(Errc::kInvalidArgument,
                "it is not clear whose the files are: name those of all shards, or, on each "
                "machine, as many as ranks run there");
  }
  return files[place];
}

/// Fails where a rank has an error: the first one with that, the others as they cannot begin.
Result<void> check_all(const std::optional<Error>& error) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int failed = error ? rank : size;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (failed == size) return {};
  if (failed == rank) return tl::unexpected<Error>(*error);
  return fail(Errc::kCancelled, "another rank cannot begin");
}

}  // namespace

MpiSession::MpiSession(int& count, char**& words) {
  int provided = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

Result<ShardJob> ShardJob::open(const std::vector<std::string>& patterns, std::uint64_t round_bytes,
                                std::string& problem) {
  ShardJob job;
  const Neighbours near = find_neighbours();
  job.thread_count_ = std::max(
      1U, std::thread::hardware_concurrency() / static_cast<unsigned>(std::max(near.size, 1)));
  std::optional<Error> error;
  ShardFile mine;
  const auto files = shard_files(patterns, problem);
  if (files) {
    auto chosen = choose(*files, near);
    if (chosen) {
      mine = std::move(*chosen);
    } else {
      error = chosen.error();
    }
  } else {
    error = files.error();
  }
  CRAWLSTORE_TRY(check_all(error));
  job.path_ = mine.path;
  MPI_Comm_split(MPI_COMM_WORLD, 0, static_cast<int>(mine.shard.index), &job.comm_);
  job.peers_ = std::make_unique<MpiPeers>(job.comm_, round_bytes);
  if (job.shard() != mine.shard.index) {
    error = fail(Errc::kInvalidArgument, "shards are missing, as others are there twice").value();
  }
  CRAWLSTORE_TRY(check_all(error));
  return job;
}

ShardJob::ShardJob(ShardJob&& other) noexcept
    : path_(std::move(other.path_)),
      comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      peers_(std::move(other.peers_)),
      thread_count_(other.thread_count_) {}

ShardJob::~ShardJob() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

Result<std::vector<ShardRow>> ShardJob::gather(const std::vector<std::uint64_t>& numbers) {
  const std::size_t number_bytes = numbers.size() * sizeof(std::uint64_t);
  MpiPeers::Bytes row(number_bytes + path_.size());
  std::memcpy(row.data(), numbers.data(), number_bytes);
  std::memcpy(row.data() + number_bytes, path_.data(), path_.size());
  const std::vector<MpiPeers::Bytes> to(static_cast<std::size_t>(peers_->size()), row);
  std::vector<MpiPeers::Bytes> from;
  CRAWLSTORE_TRY(peers_->exchange(to, from));
  std::vector<ShardRow> rows;
  for (const MpiPeers::Bytes& bytes : from) {
    if (bytes.size() < number_bytes) {
      return fail(Errc::kInvalidArgument, "a shard reports something else");
    }
    ShardRow& one = rows.emplace_back();
    one.numbers.resize(numbers.size());
    std::memcpy(one.numbers.data(), bytes.data(), number_bytes);
    one.path.resize(bytes.size() - number_bytes);
    std::memcpy(one.path.data(), bytes.data() + number_bytes, one.path.size());
  }
  return rows;
}

bool RankProgressLines::is_time() {
  const auto now = Clock::now();
  if (quiet_ || now < next_) return false;
  next_ = now + kPatience;
  return true;
}

bool RankProgressLines::update(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (is_time()) {
    const auto share =
        total == 0
            ? 0
            : std::min(100.0 * static_cast<double>(done) / static_cast<double>(total), 100.0);
    cli::note(fmt::format("shard {}: {} {:.0f} %", shard_, what, share));
  }
  return stop_.requested() == 0;
}

bool RankProgressLines::update_iteration(std::uint32_t iteration, double residual) {
  if (iteration == 0) {
    if (is_time()) cli::note(fmt::format("shard {}: reading links", shard_));
  } else if (shard_ == 0 && is_time()) {
    cli::note(fmt::format("iteration {}, residual {:.2e}", iteration, residual));
  }
  return stop_.requested() == 0;
}

}  // namespace crawlstore::mpi
