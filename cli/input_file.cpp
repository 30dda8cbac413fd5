// SPDX-License-Identifier: Apache-2.0
#include "cli/input_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace crawlstore::cli {

InputFile::InputFile(const std::string& path)
    : descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0 || !S_ISDIR(status.st_mode)) return;
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  descriptor_ = -1;
  errno = EISDIR;
}

InputFile::~InputFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

}  // namespace crawlstore::cli
