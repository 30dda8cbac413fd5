// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container/kind.h"

namespace crawlstore::frontier {

/// The rows of frontiers and of their logs.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::frontier
