// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/drum_options.h>

#include "drum/shape.h"

namespace crawlstore::drum {

/// How many buckets a new DRUM gets of which bucket_count says 0: spec/design.md, cost model.
std::uint32_t choose_buckets(const DrumOptions& options, Shape shape);

}  // namespace crawlstore::drum
