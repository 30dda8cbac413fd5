// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Locations of what a generation does not have. Pure functions; any thread.

#include <string>

#include "inspector/core/location.h"
#include "model/crawl_file.h"

namespace crawlstore::inspector {

/// Says in a sentence that there is no such thing, and what there is instead. Returns "" if it is
/// there, and where only its panel can tell: of keys, hosts and rows, and of what damage may hide.
std::string why_absent(const model::FileView& view, const Location& location);

}  // namespace crawlstore::inspector
