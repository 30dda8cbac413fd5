// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph as text for other programs. Labels stand as graph_text.h has them. Threads: pure
/// functions; any.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ego_graph.h"
#include "model/graph_layout.h"
#include "model/graph_scores.h"

namespace crawlstore::model {

/// A directed graph in Graphviz's language: a node a line with its label, state, depth and score,
/// and with what an array says of it as `score:NAME`, where it has a score there; then an edge a
/// line; of hosts with the number of links.
std::string graph_dot(const EgoGraph& graph, const std::optional<GraphScores>& scores);

/// The look of a node.
struct NodeLook {
  std::uint32_t rgb = 0;  ///< 0xRRGGBB
  float radius = 0;       ///< in units of the layout
  bool has_label = false;
};

/// A picture of the layout, with a title for each node.
///   points, looks  one for each node
std::string graph_svg(const EgoGraph& graph, const std::vector<GraphPoint>& points,
                      const std::vector<NodeLook>& looks);

}  // namespace crawlstore::model
