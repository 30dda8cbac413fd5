// SPDX-License-Identifier: Apache-2.0
// The shapes of desktop/crawlstore-inspector.svg, in its units: 64 a side. The test compares both.
#include "inspector/shell/icon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "inspector/core/palette.h"

namespace crawlstore::inspector {
namespace {

constexpr float kSide = 64;
constexpr int kSamples = 4;  // a side of a pixel

struct IconPoint {
  float x = 0;
  float y = 0;
};

struct IconBox {
  IconPoint low;
  IconPoint high;
  Colour colour = 0;
};

/// A line with round ends; a disc where both ends are the same.
struct IconStroke {
  IconPoint from;
  IconPoint to;
  float width = 0;
  Colour colour = 0;
};

constexpr std::array kSegments{
    IconBox{{4, 4}, {36, 16}, rgb(0x1f6fb2)},  IconBox{{40, 4}, {60, 16}, rgb(0x5ba4dd)},
    IconBox{{4, 20}, {20, 32}, rgb(0xf0a020)}, IconBox{{24, 20}, {60, 32}, rgb(0x1f6fb2)},
    IconBox{{4, 36}, {28, 48}, rgb(0x5ba4dd)}, IconBox{{32, 36}, {60, 48}, rgb(0x1f6fb2)},
    IconBox{{4, 52}, {48, 60}, rgb(0x1f6fb2)},
};
// The glass: its rim reaches half a stroke beyond the disc of 12, and half a stroke into it.
constexpr std::array kGlass{
    IconStroke{{47, 47}, {56, 56}, 14, rgb(0xffffff)},
    IconStroke{{38, 38}, {38, 38}, 32, rgb(0xffffff)},
    IconStroke{{38, 38}, {38, 38}, 29, rgb(0x2d3440)},
    IconStroke{{38, 38}, {38, 38}, 19, rgb(0xffe9b8)},
    IconStroke{{48, 48}, {56, 56}, 8, rgb(0x2d3440)},
};
constexpr IconBox kSeen{{30, 34}, {46, 42}, rgb(0xf0a020)};

bool holds(const IconBox& box, IconPoint at) {
  return at.x >= box.low.x && at.x < box.high.x && at.y >= box.low.y && at.y < box.high.y;
}

bool holds(const IconStroke& stroke, IconPoint at) {
  const IconPoint way{stroke.to.x - stroke.from.x, stroke.to.y - stroke.from.y};
  const IconPoint apart{at.x - stroke.from.x, at.y - stroke.from.y};
  const float length_squared = way.x * way.x + way.y * way.y;
  const float part =
      length_squared > 0
          ? std::clamp((apart.x * way.x + apart.y * way.y) / length_squared, 0.0F, 1.0F)
          : 0;
  return std::hypot(apart.x - part * way.x, apart.y - part * way.y) <= stroke.width / 2;
}

/// The colour of the topmost shape there; 0 = none.
Colour colour_at(IconPoint at) {
  Colour colour = 0;
  for (const IconBox& box : kSegments) {
    if (holds(box, at)) colour = box.colour;
  }
  for (const IconStroke& stroke : kGlass) {
    if (holds(stroke, at)) colour = stroke.colour;
  }
  return holds(kSeen, at) ? kSeen.colour : colour;
}

/// The mean of a pixel's samples: of their colours where they are covered, of alpha over all.
Colour pixel_at(int x, int y, float unit) {
  std::array<std::uint32_t, 3> sums{};
  std::uint32_t covered = 0;
  for (int i = 0; i < kSamples * kSamples; ++i) {
    const auto place = [unit](int pixel, int sample) {
      return (static_cast<float>(pixel) + (static_cast<float>(sample) + 0.5F) / kSamples) * unit;
    };
    const Colour colour = colour_at({place(x, i % kSamples), place(y, i / kSamples)});
    if (colour == 0) continue;
    ++covered;
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += colour >> (8 * c) & 0xffU;
  }
  if (covered == 0) return 0;
  Colour pixel = 255 * covered / (kSamples * kSamples) << 24U;
  for (std::size_t c = 0; c < sums.size(); ++c) pixel |= sums[c] / covered << (8 * c);
  return pixel;
}

}  // namespace

Picture draw_icon(int size) {
  Picture picture(size, size, 0);
  const float unit = kSide / static_cast<float>(size);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) picture.row(y)[x] = pixel_at(x, y, unit);
  }
  return picture;
}

}  // namespace crawlstore::inspector
