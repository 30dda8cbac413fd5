// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Draws what Dear ImGui wants drawn into a picture, on the processor: no window, no OpenGL. Equal
/// input gives equal pixels, on every machine: so the pictures of tests can be compared exactly.

#include <cstdint>
#include <functional>

#include <imgui.h>

#include "inspector/core/picture.h"

namespace crawlstore::inspector {

/// A texture of one byte a pixel: white of that opacity. Not owned.
struct AlphaTexture {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
};

/// The texture that a command names; not the font atlas.
using FindTexture = std::function<AlphaTexture(ImTextureID id)>;

/// Draws over `picture`. Commands use the font atlas, which is the texture of the ID 0, or one that
/// `find` knows; callbacks are skipped.
///   cost  proportional to the pixels covered; 5 to 10 ms for a full window of 1280 x 800
void draw(const ImDrawData& data, const AlphaTexture& atlas, const FindTexture& find,
          Picture& picture);

}  // namespace crawlstore::inspector
