// SPDX-License-Identifier: Apache-2.0

#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace crawlstore::base {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: crawlstore: assertion failed: %s\n", file, line, expression);
  std::fflush(stderr);
  std::abort();
}

}  // namespace crawlstore::base
