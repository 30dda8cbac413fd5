// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many lines as one picture, drawn on the processor by whichever thread: what is too much to be
/// drawn anew in each frame. Equal input gives equal pixels.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace crawlstore::inspector {

/// The share of each pixel that is covered, 0 to 255: a picture of one colour that is chosen later.
struct Mask {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  ///< by rows from the top left

  Mask() = default;
  Mask(int width_px, int height_px)
      : width(width_px),
        height(height_px),
        pixels(static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px)) {}
  bool operator==(const Mask&) const = default;
};

struct Line {
  float x0 = 0;
  float y0 = 0;
  float x1 = 0;
  float y1 = 0;
};

/// Draws lines of one pixel's width with smooth edges; where they cross, they cover more.
///   opacity    of one line
///   is_wanted  asked now and then; false = stop there
///   cost       a few operations for each pixel along the lines, as far as they are inside
///   source     X. Wu, "An Efficient Antialiasing Technique", SIGGRAPH 1991
void draw_lines(Mask& mask, std::span<const Line> lines, std::uint8_t opacity,
                const std::function<bool()>& is_wanted);

}  // namespace crawlstore::inspector
