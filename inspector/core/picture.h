// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A picture in memory.

#include <cstdint>
#include <vector>

namespace crawlstore::inspector {

/// Pixels by rows from the top left, each 0xAABBGGRR; alpha is always 255.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint32_t> pixels;

  Picture() = default;
  Picture(int width_px, int height_px, std::uint32_t colour)
      : width(width_px),
        height(height_px),
        pixels(static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px), colour) {}
  [[nodiscard]] std::uint32_t* row(int y) {
    return pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
  bool operator==(const Picture&) const = default;
};

}  // namespace crawlstore::inspector
