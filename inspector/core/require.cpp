// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/require.h"

#include <cstdlib>

#include <fmt/format.h>

namespace crawlstore::inspector {

void require(bool holds, const char* text) {
  if (holds) return;
  fmt::print(stderr, "crawlstore-inspector: bug: {}\n", text);
  std::abort();
}

}  // namespace crawlstore::inspector
