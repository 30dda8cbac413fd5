// SPDX-License-Identifier: Apache-2.0
#include "io/open_descriptor.h"

#include <cerrno>

#include <unistd.h>

namespace crawlstore::io {

int open_descriptor(const char* path, int flags, mode_t mode) {
  int descriptor = -1;
  do {
    descriptor = ::open(path, flags | O_CLOEXEC, mode);
  } while (descriptor == -1 && errno == EINTR);
  if (descriptor == -1 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int system_errno = errno;
  ::close(descriptor);
  errno = system_errno;
  return moved;
}

}  // namespace crawlstore::io
