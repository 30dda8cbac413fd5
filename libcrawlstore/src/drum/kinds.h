// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kinds of segments that a DRUM is made of.

#include <vector>

#include "container/kind.h"

namespace crawlstore::drum {

std::vector<container::Kind> kinds();

}  // namespace crawlstore::drum
