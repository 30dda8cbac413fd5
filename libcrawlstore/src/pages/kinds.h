// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kinds of segments that a page database is made of, without its links.

#include <vector>

#include "container/kind.h"

namespace crawlstore::pages {

std::vector<container::Kind> kinds();

}  // namespace crawlstore::pages
