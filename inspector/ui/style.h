// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inspector/core/palette.h"

namespace crawlstore::inspector {

/// Sets the style of ImGui's current context: flat, dense, and of the palette's colours.
void apply_style(const Palette& palette, float scale);

}  // namespace crawlstore::inspector
