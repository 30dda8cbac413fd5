// SPDX-License-Identifier: Apache-2.0
#include "cli/input_size.h"

#include <sys/stat.h>
#include <unistd.h>

namespace crawlstore::cli {

InputSize::InputSize(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const off_t position = ::lseek(descriptor, 0, SEEK_CUR);
  if (position >= 0 && position < status.st_size) {
    bytes_ = static_cast<std::uint64_t>(status.st_size - position);
  }
}

double InputSize::fraction(std::uint64_t bytes_read) const {
  return bytes_ == 0 ? -1 : static_cast<double>(bytes_read) / static_cast<double>(bytes_);
}

}  // namespace crawlstore::cli
