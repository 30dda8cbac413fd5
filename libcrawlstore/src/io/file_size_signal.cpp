// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - The thread's mask after the destructor is the one before the constructor.
// - A SIGXFSZ that was pending before stays pending; one that was raised in between does not.
// - errno is left alone.

#include "io/file_size_signal.h"

#include <cerrno>
#include <ctime>

#include <sys/resource.h>

namespace crawlstore::io {
namespace {

sigset_t only_sigxfsz() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

FileSizeSignalBlock::FileSizeSignalBlock() {
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return;
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
  const sigset_t blocked = only_sigxfsz();
  active_ = ::pthread_sigmask(SIG_BLOCK, &blocked, &earlier_mask_) == 0;
}

FileSizeSignalBlock::~FileSizeSignalBlock() {
  if (!active_) return;
  const int saved_errno = errno;
  if (!was_pending_) {
    const sigset_t ours = only_sigxfsz();
    const struct timespec at_once = {};
    while (::sigtimedwait(&ours, nullptr, &at_once) == -1 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &earlier_mask_, nullptr);
  errno = saved_errno;
}

}  // namespace crawlstore::io
