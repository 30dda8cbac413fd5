// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the file holds the first spilled_bytes_ bytes, tail_ those after them.
#include "cli/spool.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace crawlstore::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

/// A file that no path leads to; -1 and errno.
int open_nameless(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file != -1 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  std::string path = folder + "/.crawlstore-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named != -1) ::unlink(path.c_str());
  return named;
}

}  // namespace

Spool::Spool(std::string folder, std::size_t memory_bytes)
    : folder_(std::move(folder)), memory_bytes_(memory_bytes) {}

Spool::~Spool() {
  if (file_ != -1) ::close(file_);
}

Result<void> Spool::spill() {
  if (file_ == -1) file_ = open_nameless(folder_);
  if (file_ == -1) return fail_errno(errno, "a file for verdicts that wait");
  std::string_view rest = tail_;
  while (!rest.empty()) {
    const ssize_t written =
        ::pwrite(file_, rest.data(), rest.size(), static_cast<off_t>(spilled_bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail_errno(errno, "a file for verdicts that wait");
    rest.remove_prefix(static_cast<std::size_t>(written));
    spilled_bytes_ += static_cast<std::uint64_t>(written);
  }
  tail_.clear();
  return {};
}

Result<void> Spool::drain_file(const std::function<Result<void>(std::string_view)>& visit) const {
  std::string block(std::min<std::uint64_t>(kReadBytes, spilled_bytes_), '\0');
  std::uint64_t offset = 0;
  while (offset < spilled_bytes_) {
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), spilled_bytes_ - offset);
    const ssize_t length = ::pread(file_, block.data(), wanted, static_cast<off_t>(offset));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return fail_errno(errno, "a file for verdicts that wait");
    if (length == 0) return fail(Errc::kIo, "the file for verdicts that wait was cut");
    CRAWLSTORE_TRY(visit({block.data(), static_cast<std::size_t>(length)}));
    offset += static_cast<std::uint64_t>(length);
  }
  return {};
}

Result<void> Spool::drain(const std::function<Result<void>(std::string_view)>& visit) {
  Result<void> done = drain_file(visit);
  if (done && !tail_.empty()) done = visit(tail_);
  drop();
  return done;
}

void Spool::drop() {
  tail_.clear();
  spilled_bytes_ = 0;
}

}  // namespace crawlstore::cli
