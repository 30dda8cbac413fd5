// SPDX-License-Identifier: Apache-2.0
#include "cli/input_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace crawlstore::cli {

InputFile::InputFile(const std::string& path)
    : descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

InputFile::~InputFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

}  // namespace crawlstore::cli
