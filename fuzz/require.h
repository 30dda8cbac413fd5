// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a fuzz target says that an invariant does not hold: the process ends, in all builds.

#include <cstdlib>

namespace crawlstore::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace crawlstore::fuzz
