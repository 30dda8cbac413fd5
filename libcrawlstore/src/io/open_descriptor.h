// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

namespace crawlstore::io {

/// open(2) with O_CLOEXEC, again after EINTR. Never gives 0, 1 or 2, even where those are closed:
/// what a program then prints would go into the store. -1 and errno.
int open_descriptor(const char* path, int flags, mode_t mode = 0);

}  // namespace crawlstore::io
