// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph as a file: text for Graphviz, a drawing, or a picture. Threads: any.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inspector/core/line_raster.h"
#include "inspector/core/picture.h"
#include "model/graph_drawing.h"

namespace crawlstore::inspector {

/// A node's name, drawn already: who has the fonts does that.
struct NodeLabel {
  std::uint32_t node = 0;
  Mask text;
};

struct DrawnGraph {
  const model::EgoGraph& graph;
  const std::optional<model::GraphScores>& scores;
  const std::vector<model::GraphPoint>& points;
  const std::vector<model::NodeLook>& looks;
  const std::vector<NodeLabel>& labels;  ///< for pictures, the most important first
};

/// Its edges, its nodes, and labels as far as they do not cover each other, on white;
/// kGraphPictureSide pixels wide and high.
inline constexpr int kGraphPictureSide = 1600;
Picture graph_picture(const DrawnGraph& drawn);

/// Writes it atomically, as the path ends: .dot, .svg, or .png by `write_png`. Returns what went
/// wrong; empty = nothing.
std::string export_graph(
    const DrawnGraph& drawn, const std::string& path,
    const std::function<std::string(const Picture&, const std::string&)>& write_png);

}  // namespace crawlstore::inspector
