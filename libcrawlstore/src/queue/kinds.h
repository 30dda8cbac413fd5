// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container/kind.h"

namespace crawlstore::queue {

/// The rows of queues and of their runs.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::queue
