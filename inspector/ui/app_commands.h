// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inspector/ui/app_parts.h"

namespace crawlstore::inspector {

/// Adds everything that can be done to the commands of the parts, which outlive them.
void add_commands(AppParts& parts);

}  // namespace crawlstore::inspector
