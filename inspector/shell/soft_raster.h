// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Draws what Dear ImGui wants drawn into a picture, on the processor: no window, no OpenGL. Equal
/// input gives equal pixels, on every machine: so the pictures of tests can be compared exactly.

#include <cstdint>

#include <imgui.h>

#include "inspector/shell/picture.h"

namespace crawlstore::inspector {

/// A texture of one byte a pixel: white of that opacity. Not owned.
struct AlphaTexture {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
};

/// Draws over `picture`. All commands use the one texture, the font atlas; callbacks are skipped.
///   cost  proportional to the pixels covered; 5 to 10 ms for a full window of 1280 x 800
void draw(const ImDrawData& data, const AlphaTexture& texture, Picture& picture);

}  // namespace crawlstore::inspector
