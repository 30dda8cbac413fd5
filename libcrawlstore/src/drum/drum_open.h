// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <crawlstore/drum_options.h>

#include "container/store_impl.h"
#include "drum/drum_state.h"

namespace crawlstore::drum {

/// errors  kInvalidArgument
Result<void> check_options(const DrumOptions& options);

/// Whether a DRUM of this shape fits these values and options.
[[nodiscard]] bool is_like(Shape shape, std::int32_t value_bytes, const DrumOptions& options);

/// Returns the state of the DRUM in the store's file, or of a new one. Requires the turn.
Result<DrumState> load_or_make(StoreImpl& store, std::string_view name, std::int32_t value_bytes,
                               const DrumOptions& options);

}  // namespace crawlstore::drum
