// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Places for the nodes of a graph, by the spring model of Fruchterman and Reingold ("Graph Drawing
/// by Force-directed Placement", Software: Practice and Experience 21, 1991), as Boost has it.
/// Threads: pure functions; any.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/ego_graph.h"

namespace crawlstore::model {

struct GraphPoint {
  float x = 0;
  float y = 0;
  bool operator==(const GraphPoint&) const = default;
};

/// The side of the square that nodes with a distance of about 1 have room in.
float layout_side(std::size_t node_count);

/// A place for each node, in a square around (0, 0) of layout_side(). Equal input, equal places on
/// one machine.
///   starts    where nodes begin, by their place in the graph; nullopt = beside a neighbour that
///             has a place, else around the centre by distance. Given places move less
///   progress  called before each of the rounds; false = stop there: the places are usable
///   cost      100 rounds over pairs of nodes that are near each other and over edges; 300 nodes
///             take some 20 ms, 10,000 with 50,000 edges some seconds
std::vector<GraphPoint> lay_out(const EgoGraph& graph,
                                const std::vector<std::optional<GraphPoint>>& starts,
                                const PagesProgress& progress);

}  // namespace crawlstore::model
