// SPDX-License-Identifier: Apache-2.0

#include "io/ofd_locks.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace crawlstore::io {
namespace {

struct ByteRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

struct flock lock_request(short type, ByteRange range) {
  struct flock request = {};  // l_pid must be 0 for open-file-description locks
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = static_cast<off_t>(range.from);
  request.l_len = static_cast<off_t>(range.to - range.from);
  return request;
}

int fcntl_retrying(int descriptor, int command, struct flock& request) {
  for (;;) {
    if (::fcntl(descriptor, command, &request) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

tl::unexpected<Error> lock_failure(int system_errno) {
  switch (system_errno) {
    case EINVAL:
    case ENOLCK:
    case EOPNOTSUPP:
    case ENOSYS:
      return tl::unexpected<Error>(
          Error{Errc::kNoLocks, system_errno, {}, Error::kNoOffset, "cannot lock the file"});
    default:
      return fail_errno(system_errno, "cannot lock the file");
  }
}

/// The part of the lock that lies in `asked`. A length of 0 means "to the end of all files".
ByteRange clip(const struct flock& lock, ByteRange asked) {
  const auto start = static_cast<std::uint64_t>(lock.l_start);
  const auto length = static_cast<std::uint64_t>(lock.l_len);
  const std::uint64_t end = length == 0 ? asked.to : start + length;
  return {std::max(start, asked.from), std::min(end, asked.to)};
}

}  // namespace

Result<void> try_lock_byte(int descriptor, std::uint64_t byte, LockKind kind) {
  const short type = kind == LockKind::kShared ? F_RDLCK : F_WRLCK;
  struct flock request = lock_request(type, {byte, byte + 1});
  const int failure = fcntl_retrying(descriptor, F_OFD_SETLK, request);
  if (failure == 0) return {};
  if (failure == EAGAIN || failure == EACCES) {
    return fail(Errc::kLocked, "the lock is held by somebody else");
  }
  return lock_failure(failure);
}

void unlock_byte(int descriptor, std::uint64_t byte) {
  struct flock request = lock_request(F_UNLCK, {byte, byte + 1});
  (void)fcntl_retrying(descriptor, F_OFD_SETLK, request);
}

Result<std::vector<std::uint64_t>> locked_bytes(int descriptor, std::uint64_t from,
                                                std::uint64_t to, std::uint64_t count_max) {
  std::vector<std::uint64_t> found;
  std::vector<ByteRange> open_ranges;
  if (from < to) open_ranges.push_back({from, to});
  while (!open_ranges.empty()) {
    const ByteRange asked = open_ranges.back();
    open_ranges.pop_back();
    // An exclusive request conflicts with shared locks too; GETLK only asks.
    struct flock request = lock_request(F_WRLCK, asked);
    const int failure = fcntl_retrying(descriptor, F_OFD_GETLK, request);
    if (failure != 0) return lock_failure(failure);
    if (request.l_type == F_UNLCK) continue;
    // The system names some conflicting lock, not the first: look on both sides of it.
    const ByteRange locked = clip(request, asked);
    if (locked.from >= locked.to) return fail(Errc::kNoLocks, "the system named no locked byte");
    if (found.size() + (locked.to - locked.from) > count_max) {
      return fail(Errc::kBusyPinned, "somebody has locked a great part of the file");
    }
    for (std::uint64_t byte = locked.from; byte < locked.to; ++byte) found.push_back(byte);
    if (asked.from < locked.from) open_ranges.push_back({asked.from, locked.from});
    if (locked.to < asked.to) open_ranges.push_back({locked.to, asked.to});
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace crawlstore::io
