// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Words as a mask, for pictures that jobs draw: fonts belong to the drawing thread.

#include <string_view>

#include <imgui.h>

#include "inspector/core/line_raster.h"

namespace crawlstore::inspector {

/// A line of text as the font has its letters; on the thread that draws. Letters that the atlas has
/// not, look as they do on the screen: Fonts::want() them a frame before.
Mask text_mask(const ImFont& font, std::string_view text);

}  // namespace crawlstore::inspector
