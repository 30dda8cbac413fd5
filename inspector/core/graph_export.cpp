// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/graph_export.h"

#include <algorithm>
#include <cmath>

#include "inspector/core/atomic_file.h"

namespace crawlstore::inspector {
namespace {

constexpr std::uint32_t kWhite = 0xffffffff;
constexpr float kMargin = 40;

/// The white that is left where an edge covers the pixel: grey of 0x40 at most.
std::uint32_t shade(std::uint8_t cover) {
  const std::uint32_t grey = 255U - cover * 3U / 4U;
  return 0xff000000U | grey << 16U | grey << 8U | grey;
}

void draw_disc(Picture& picture, float x, float y, float radius, std::uint32_t rgb) {
  const std::uint32_t colour =
      0xff000000U | (rgb & 0xffU) << 16U | (rgb & 0xff00U) | (rgb >> 16U & 0xffU);
  const int top = std::max(0, static_cast<int>(y - radius));
  const int bottom = std::min(picture.height - 1, static_cast<int>(y + radius));
  const int left = std::max(0, static_cast<int>(x - radius));
  const int right = std::min(picture.width - 1, static_cast<int>(x + radius));
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) {
      const float dx = static_cast<float>(column) + 0.5F - x;
      const float dy = static_cast<float>(row) + 0.5F - y;
      if (dx * dx + dy * dy <= radius * radius) picture.row(row)[column] = colour;
    }
  }
}

struct Box {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/// Beside its node: to the right, or where that is outside, to the left.
Box place_of_label(const Mask& text, float x, float y, float radius) {
  constexpr int kGap = 4;
  Box box;
  box.left = static_cast<int>(x + radius) + kGap;
  if (box.left + text.width > kGraphPictureSide) {
    box.left = std::max(0, static_cast<int>(x - radius) - kGap - text.width);
  }
  box.top = std::clamp(static_cast<int>(y) - text.height / 2, 0,
                       std::max(0, kGraphPictureSide - text.height));
  box.right = std::min(box.left + text.width, kGraphPictureSide);
  box.bottom = std::min(box.top + text.height, kGraphPictureSide);
  return box;
}

/// Near-black letters; what is behind them is made paler, so that they can be read over edges.
void draw_label(Picture& picture, const Mask& text, const Box& box) {
  constexpr std::uint32_t kInk = 0x20;
  for (int y = box.top; y < box.bottom; ++y) {
    std::uint32_t* row = picture.row(y);
    for (int x = box.left; x < box.right; ++x) {
      const std::uint32_t cover =
          text.pixels[static_cast<std::size_t>((y - box.top) * text.width + x - box.left)];
      std::uint32_t mixed = 0xff000000U;
      for (const unsigned shift : {0U, 8U, 16U}) {
        const std::uint32_t behind = ((row[x] >> shift & 0xffU) + 3 * 0xffU) / 4;
        mixed |= (kInk * cover + behind * (255 - cover)) / 255 << shift;
      }
      row[x] = mixed;
    }
  }
}

}  // namespace

Picture graph_picture(const DrawnGraph& drawn) {
  Picture picture(kGraphPictureSide, kGraphPictureSide, kWhite);
  if (drawn.points.empty()) return picture;
  const auto [left, right] = std::ranges::minmax(drawn.points, {}, &model::GraphPoint::x);
  const auto [top, bottom] = std::ranges::minmax(drawn.points, {}, &model::GraphPoint::y);
  const float side = std::max({right.x - left.x, bottom.y - top.y, 0.1F});
  const float zoom = (static_cast<float>(kGraphPictureSide) - 2 * kMargin) / side;
  const auto x_of = [&, low = left.x](std::uint32_t node) {
    return kMargin + (drawn.points[node].x - low) * zoom;
  };
  const auto y_of = [&, low = top.y](std::uint32_t node) {
    return kMargin + (drawn.points[node].y - low) * zoom;
  };
  std::vector<Line> lines;
  for (const model::GraphEdge& edge : drawn.graph.edges) {
    lines.push_back({x_of(edge.from), y_of(edge.from), x_of(edge.to), y_of(edge.to)});
  }
  Mask mask(kGraphPictureSide, kGraphPictureSide);
  // More edges, paler ones.
  const auto opacity = static_cast<std::uint8_t>(
      std::max(16.0, 110 / std::sqrt(1 + static_cast<double>(lines.size()) / 1000)));
  draw_lines(mask, lines, opacity, [] { return true; });
  std::ranges::transform(mask.pixels, picture.pixels.begin(), shade);
  const auto radius_of = [&](std::uint32_t node) {
    return std::clamp(drawn.looks[node].radius * zoom, 2.0F, 16.0F);
  };
  for (std::uint32_t i = 0; i < drawn.points.size(); ++i) {
    draw_disc(picture, x_of(i), y_of(i), radius_of(i), drawn.looks[i].rgb);
  }
  std::vector<Box> taken;
  for (const auto& [node, text] : drawn.labels) {
    const Box box = place_of_label(text, x_of(node), y_of(node), radius_of(node));
    if (std::ranges::any_of(taken, [&](const Box& other) { return overlap(box, other); })) continue;
    draw_label(picture, text, box);
    taken.push_back(box);
  }
  return picture;
}

std::string export_graph(
    const DrawnGraph& drawn, const std::string& path,
    const std::function<std::string(const Picture&, const std::string&)>& write_png) {
  if (path.ends_with(".png")) {
    return write_png ? write_png(graph_picture(drawn), path) : "no pictures can be written here";
  }
  AtomicFile file(path);
  file.write(path.ends_with(".svg") ? model::graph_svg(drawn.graph, drawn.points, drawn.looks)
                                    : model::graph_dot(drawn.graph, drawn.scores));
  return file.finish();
}

}  // namespace crawlstore::inspector
