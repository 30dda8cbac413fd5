// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/graph_export.h"

#include <algorithm>
#include <cmath>

#include "inspector/core/atomic_file.h"
#include "inspector/core/line_raster.h"

namespace crawlstore::inspector {
namespace {

constexpr std::uint32_t kWhite = 0xffffffff;
constexpr float kMargin = 40;

/// How much of white is left where an edge covers the pixel: grey of 0x40 at most.
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
  constexpr std::uint8_t kOpacity = 110;
  draw_lines(mask, lines, kOpacity, [] { return true; });
  std::ranges::transform(mask.pixels, picture.pixels.begin(), shade);
  for (std::uint32_t i = 0; i < drawn.points.size(); ++i) {
    const float radius = std::clamp(drawn.looks[i].radius * zoom, 2.0F, 16.0F);
    draw_disc(picture, x_of(i), y_of(i), radius, drawn.looks[i].rgb);
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
                                    : model::graph_dot(drawn.graph));
  return file.finish();
}

}  // namespace crawlstore::inspector
