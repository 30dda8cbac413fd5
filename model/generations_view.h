// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <crawlstore/tools/generations.h>

#include "model/table.h"

namespace crawlstore::model {

/// The table `superblocks`: one row a copy, as they lie in the file.
Table superblocks_table(const std::vector<GenerationInfo>& copies);

}  // namespace crawlstore::model
