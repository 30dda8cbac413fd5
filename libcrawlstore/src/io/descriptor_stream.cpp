// SPDX-License-Identifier: Apache-2.0
#include "io/descriptor_stream.h"

#include <cerrno>

#include <unistd.h>

namespace crawlstore::io {

Result<std::size_t> read_some(int descriptor, std::span<std::byte> into) {
  for (;;) {
    const ssize_t got = ::read(descriptor, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return fail_errno(errno, "a stream cannot be read");
  }
}

Result<void> write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return fail_errno(errno, "a stream cannot be written");
    }
  }
  return {};
}

}  // namespace crawlstore::io
