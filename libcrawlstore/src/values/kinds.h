// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container/kind.h"

namespace crawlstore::values {

/// The kind of segments of small values.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::values
