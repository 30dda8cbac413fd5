// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/line_raster.h"

#include <algorithm>
#include <cmath>

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kAskEvery = 1024;

/// A part of a line: 0 is its start, 1 its end.
struct Part {
  float begin = 0;
  float end = 1;
};

/// Cuts the part down to what lies between two values of a coordinate (Liang and Barsky); false =
/// nothing.
bool clip(float start, float way, float low, float high, Part& part) {
  if (way == 0) return start >= low && start <= high;
  float enters = (low - start) / way;
  float leaves = (high - start) / way;
  if (enters > leaves) std::swap(enters, leaves);
  part.begin = std::max(part.begin, enters);
  part.end = std::min(part.end, leaves);
  return part.begin <= part.end;
}

bool clip(Line& line, const Mask& mask) {
  const float dx = line.x1 - line.x0;
  const float dy = line.y1 - line.y0;
  if (!std::isfinite(dx) || !std::isfinite(dy)) return false;
  Part part;
  if (!clip(line.x0, dx, -1, static_cast<float>(mask.width), part)) return false;
  if (!clip(line.y0, dy, -1, static_cast<float>(mask.height), part)) return false;
  line = {line.x0 + part.begin * dx, line.y0 + part.begin * dy, line.x0 + part.end * dx,
          line.y0 + part.end * dy};
  return true;
}

void cover(Mask& mask, int x, int y, float share) {
  if (x < 0 || y < 0 || x >= mask.width || y >= mask.height || share <= 0) return;
  std::uint8_t& pixel =
      mask.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(mask.width) +
                  static_cast<std::size_t>(x)];
  const float left = 255.0F - static_cast<float>(pixel);
  pixel = static_cast<std::uint8_t>(255.0F - left * (1 - share));
}

/// A step along the longer way at a time, two pixels across it.
void draw_line(Mask& mask, Line line, float opacity) {
  const bool is_steep = std::abs(line.y1 - line.y0) > std::abs(line.x1 - line.x0);
  if (is_steep) line = {line.y0, line.x0, line.y1, line.x1};
  if (line.x0 > line.x1) line = {line.x1, line.y1, line.x0, line.y0};
  const float length = line.x1 - line.x0;
  const float slope = length == 0 ? 0 : (line.y1 - line.y0) / length;
  const int begin = static_cast<int>(std::floor(line.x0));
  const int end = static_cast<int>(std::floor(line.x1));
  for (int x = begin; x <= end; ++x) {
    const float y = line.y0 + slope * (static_cast<float>(x) - line.x0);
    const float low = std::floor(y);
    const int across = static_cast<int>(low);
    const float below = y - low;
    cover(mask, is_steep ? across : x, is_steep ? x : across, opacity * (1 - below));
    cover(mask, is_steep ? across + 1 : x, is_steep ? x : across + 1, opacity * below);
  }
}

}  // namespace

void draw_lines(Mask& mask, std::span<const Line> lines, std::uint8_t opacity,
                const std::function<bool()>& is_wanted) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % kAskEvery == 0 && !is_wanted()) return;
    Line line = lines[i];
    if (clip(line, mask)) draw_line(mask, line, static_cast<float>(opacity) / 255);
  }
}

}  // namespace crawlstore::inspector
