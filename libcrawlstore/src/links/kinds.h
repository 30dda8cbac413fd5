// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kinds of segments that hold links.

#include <vector>

#include "container/kind.h"

namespace crawlstore::links {

std::vector<container::Kind> kinds();

}  // namespace crawlstore::links
