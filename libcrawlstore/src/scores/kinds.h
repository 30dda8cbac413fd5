// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container/kind.h"

namespace crawlstore::scores {

/// The rows of this folder: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::scores
