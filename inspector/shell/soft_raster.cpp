// SPDX-License-Identifier: Apache-2.0
#include "inspector/shell/soft_raster.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace crawlstore::inspector {
namespace {

/// Corners are rounded to 1/256 of a pixel; from there on coverage is integer arithmetic.
constexpr std::int64_t kSubpixels = 256;

struct Clip {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

struct Target {
  Picture& picture;
  const AlphaTexture& texture;
  Clip clip;
};

std::uint32_t channel(std::uint32_t colour, unsigned shift) {
  return colour >> shift & 255U;
}

/// x / 255, rounded, for x up to 255 * 255.
std::uint32_t divide_by_255(std::uint32_t x) {
  return (x + 128 + ((x + 128) >> 8U)) >> 8U;
}

void blend(std::uint32_t& pixel, std::uint32_t colour, std::uint32_t alpha) {
  if (alpha == 0) return;
  std::uint32_t result = 0xff000000U;
  for (const unsigned shift : {0U, 8U, 16U}) {
    const std::uint32_t mixed =
        divide_by_255(channel(colour, shift) * alpha + channel(pixel, shift) * (255 - alpha));
    result |= mixed << shift;
  }
  pixel = result;
}

std::uint32_t texel(const AlphaTexture& texture, float u, float v) {
  const int x =
      std::clamp(static_cast<int>(u * static_cast<float>(texture.width)), 0, texture.width - 1);
  const int y =
      std::clamp(static_cast<int>(v * static_cast<float>(texture.height)), 0, texture.height - 1);
  return texture.pixels[y * texture.width + x];
}

struct Corner {
  std::int64_t x = 0;
  std::int64_t y = 0;
  const ImDrawVert* vertex = nullptr;
};

Corner corner_of(const ImDrawVert& vertex) {
  return {std::llround(vertex.pos.x * static_cast<float>(kSubpixels)),
          std::llround(vertex.pos.y * static_cast<float>(kSubpixels)), &vertex};
}

/// Twice the signed area of a, b and the point.
std::int64_t edge(const Corner& a, const Corner& b, std::int64_t x, std::int64_t y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/// A point on this edge belongs to the triangle: so neighbours share no pixel and leave none.
bool owns_edge(const Corner& a, const Corner& b) {
  return (a.y == b.y && b.x > a.x) || b.y < a.y;
}

int first_pixel(std::int64_t subpixels) {
  return static_cast<int>((subpixels - kSubpixels / 2 + kSubpixels - 1) >> 8);
}

/// Colour and texture in the middle of a pixel, from the weights of the corners.
void shade(const Target& target, std::uint32_t& pixel, const std::array<Corner, 3>& corners,
           const std::array<double, 3>& weights) {
  std::array<double, 4> colour{};
  double u = 0;
  double v = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const ImDrawVert& vertex = *corners[i].vertex;
    for (unsigned c = 0; c < 4; ++c) colour[c] += weights[i] * channel(vertex.col, 8 * c);
    u += weights[i] * static_cast<double>(vertex.uv.x);
    v += weights[i] * static_cast<double>(vertex.uv.y);
  }
  std::uint32_t packed = 0;
  for (unsigned c = 0; c < 3; ++c) {
    packed |= static_cast<std::uint32_t>(std::lround(colour[c])) << (8 * c);
  }
  const auto opacity = static_cast<std::uint32_t>(std::lround(colour[3]));
  const std::uint32_t cover = texel(target.texture, static_cast<float>(u), static_cast<float>(v));
  blend(pixel, packed, divide_by_255(opacity * cover));
}

void draw_triangle(const Target& target, std::array<Corner, 3> corners) {
  std::int64_t area = edge(corners[0], corners[1], corners[2].x, corners[2].y);
  if (area == 0) return;
  if (area < 0) {
    std::swap(corners[1], corners[2]);
    area = -area;
  }
  const auto [low_x, high_x] = std::minmax({corners[0].x, corners[1].x, corners[2].x});
  const auto [low_y, high_y] = std::minmax({corners[0].y, corners[1].y, corners[2].y});
  const int left = std::max(first_pixel(low_x), target.clip.left);
  const int right = std::min(first_pixel(high_x) + 1, target.clip.right);
  const int top = std::max(first_pixel(low_y), target.clip.top);
  const int bottom = std::min(first_pixel(high_y) + 1, target.clip.bottom);
  for (int y = top; y < bottom; ++y) {
    std::uint32_t* row = target.picture.row(y);
    for (int x = left; x < right; ++x) {
      const std::int64_t middle_x = x * kSubpixels + kSubpixels / 2;
      const std::int64_t middle_y = y * kSubpixels + kSubpixels / 2;
      std::array<double, 3> weights{};
      bool is_inside = true;
      for (std::size_t i = 0; i < 3 && is_inside; ++i) {
        const Corner& a = corners[(i + 1) % 3];
        const Corner& b = corners[(i + 2) % 3];
        const std::int64_t distance = edge(a, b, middle_x, middle_y);
        is_inside = distance > 0 || (distance == 0 && owns_edge(a, b));
        weights[i] = static_cast<double>(distance) / static_cast<double>(area);
      }
      if (is_inside) shade(target, row[x], corners, weights);
    }
  }
}

/// The two triangles of a, b, c, d are an upright rectangle of one colour: a letter, or an area.
bool is_rectangle(const ImDrawVert& a, const ImDrawVert& b, const ImDrawVert& c,
                  const ImDrawVert& d) {
  return a.pos.y == b.pos.y && b.pos.x == c.pos.x && c.pos.y == d.pos.y && d.pos.x == a.pos.x &&
         a.pos.x < c.pos.x && a.pos.y < c.pos.y && a.uv.y == b.uv.y && b.uv.x == c.uv.x &&
         c.uv.y == d.uv.y && d.uv.x == a.uv.x && a.col == b.col && b.col == c.col && c.col == d.col;
}

void draw_rectangle(const Target& target, const ImDrawVert& a, const ImDrawVert& c) {
  const Corner low = corner_of(a);
  const Corner high = corner_of(c);
  const int left = std::max(first_pixel(low.x), target.clip.left);
  const int right = std::min(first_pixel(high.x), target.clip.right);
  const int top = std::max(first_pixel(low.y), target.clip.top);
  const int bottom = std::min(first_pixel(high.y), target.clip.bottom);
  const float u_step = (c.uv.x - a.uv.x) / (c.pos.x - a.pos.x);
  const float v_step = (c.uv.y - a.uv.y) / (c.pos.y - a.pos.y);
  const bool is_area = a.uv.x == c.uv.x && a.uv.y == c.uv.y;
  const std::uint32_t opacity = channel(a.col, 24);
  const std::uint32_t area_alpha = divide_by_255(opacity * texel(target.texture, a.uv.x, a.uv.y));
  for (int y = top; y < bottom; ++y) {
    std::uint32_t* row = target.picture.row(y);
    const float v = a.uv.y + (static_cast<float>(y) + 0.5F - a.pos.y) * v_step;
    if (is_area && area_alpha == 255) {
      if (left < right) std::fill(row + left, row + right, a.col | 0xff000000U);
      continue;
    }
    for (int x = left; x < right; ++x) {
      const float u = a.uv.x + (static_cast<float>(x) + 0.5F - a.pos.x) * u_step;
      const std::uint32_t alpha =
          is_area ? area_alpha : divide_by_255(opacity * texel(target.texture, u, v));
      blend(row[x], a.col, alpha);
    }
  }
}

void draw_command(const ImDrawList& list, const ImDrawCmd& command, const Target& target) {
  const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
  const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
  for (unsigned i = 0; i + 3 <= command.ElemCount; i += 3, index += 3) {
    const bool is_quad = i + 6 <= command.ElemCount && index[3] == index[0] && index[4] == index[2];
    if (is_quad && is_rectangle(vertices[index[0]], vertices[index[1]], vertices[index[2]],
                                vertices[index[5]])) {
      draw_rectangle(target, vertices[index[0]], vertices[index[2]]);
      i += 3;
      index += 3;
      continue;
    }
    draw_triangle(target, {corner_of(vertices[index[0]]), corner_of(vertices[index[1]]),
                           corner_of(vertices[index[2]])});
  }
}

}  // namespace

void draw(const ImDrawData& data, const AlphaTexture& atlas, const FindTexture& find,
          Picture& picture) {
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImDrawList& list = *data.CmdLists[i];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback != nullptr) continue;
      const Clip clip{std::clamp(static_cast<int>(command.ClipRect.x), 0, picture.width),
                      std::clamp(static_cast<int>(command.ClipRect.y), 0, picture.height),
                      std::clamp(static_cast<int>(command.ClipRect.z), 0, picture.width),
                      std::clamp(static_cast<int>(command.ClipRect.w), 0, picture.height)};
      if (clip.left >= clip.right || clip.top >= clip.bottom) continue;
      const AlphaTexture texture = command.TextureId == nullptr ? atlas
                                   : find != nullptr            ? find(command.TextureId)
                                                                : AlphaTexture{};
      if (texture.pixels != nullptr) draw_command(list, command, {picture, texture, clip});
    }
  }
}

}  // namespace crawlstore::inspector
