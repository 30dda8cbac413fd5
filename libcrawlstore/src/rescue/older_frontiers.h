// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Frontiers of a generation that is older than the newest.

#include <vector>

#include <crawlstore/tools/recover.h>

#include "container/reader.h"

namespace crawlstore::rescue {

/// The steps that frontiers made in commits behind the generation that is taken, and frontiers that
/// were made there.
///   newest  nullptr: its directory cannot be read, so that nobody knows how many steps there are
std::vector<Loss> lost_with_commits(container::Reader& taken, container::Reader* newest);

}  // namespace crawlstore::rescue
