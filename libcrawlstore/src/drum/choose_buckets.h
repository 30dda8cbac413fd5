// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/drum_options.h>

#include "drum/shape.h"

namespace crawlstore::drum {

/// Returns the number of buckets of a new DRUM whose bucket_count is 0: spec/design.md, cost model.
std::uint32_t choose_buckets(const DrumOptions& options, Shape shape);

}  // namespace crawlstore::drum
