// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <crawlstore/storage.h>

#include "io/open_descriptor.h"
#include "io/system_storage.h"

namespace crawlstore {
namespace {

/// A later chdir() must not change what the path means.
std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failure);
  return failure ? path : absolute.string();
}

tl::unexpected<Error> not_a_regular_file(mode_t mode) {
  return fail(Errc::kNotACrawlFile, S_ISDIR(mode) ? "a folder" : "a FIFO, socket or device");
}

}  // namespace

Result<std::unique_ptr<Storage>> open_storage(const std::string& path, OpenMode mode) {
  const std::string absolute = absolute_path(path);
  struct stat status = {};
  // Opening a device can already do something: ask first. The opened file is asked again.
  if (::stat(absolute.c_str(), &status) != 0) return fail_errno(errno, "cannot open the file");
  if (!S_ISREG(status.st_mode)) return not_a_regular_file(status.st_mode);
  const int access = mode == OpenMode::kWrite ? O_RDWR : O_RDONLY;
  int descriptor = io::open_descriptor(absolute.c_str(), access | O_NOCTTY | O_NONBLOCK);
  if (descriptor == -1 && errno == EWOULDBLOCK) {
    // Somebody holds a lease on the file: wait until the system has taken it away.
    descriptor = io::open_descriptor(absolute.c_str(), access | O_NOCTTY);
  }
  if (descriptor == -1) return fail_errno(errno, "cannot open the file");
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return not_a_regular_file(status.st_mode);
  }
  return std::make_unique<io::SystemStorage>(descriptor, absolute, mode);
}

}  // namespace crawlstore
