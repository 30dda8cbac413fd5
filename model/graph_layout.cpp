// SPDX-License-Identifier: Apache-2.0
// The one file that knows Boost's graphs.
#include "model/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/fruchterman_reingold.hpp>
#include <boost/graph/topology.hpp>
#include <boost/property_map/property_map.hpp>

namespace crawlstore::model {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
using Rectangle = boost::rectangle_topology<>;
using Point = Rectangle::point_type;
using Places =
    boost::iterator_property_map<std::vector<Point>::iterator,
                                 boost::property_map<Graph, boost::vertex_index_t>::const_type>;

constexpr std::uint64_t kRounds = 100;
/// With fewer nodes each pushes every other; with more, those near it.
constexpr std::size_t kAllPairsMax = 500;
/// The distance that nodes want from each other, times the square root of their number, in a square
/// of the side 1. So much of it stays free that few are pushed against its border.
constexpr double kDistance = 0.4;

/// The square around (0, 0) with the side 1.
class UnitSquare : public Rectangle {
 public:
  explicit UnitSquare(boost::minstd_rand& random) : Rectangle(random, -0.5, -0.5, 0.5, 0.5) {}
  /// Boost would divide nothing by nothing where forces are in balance.
  static Point adjust(const Point& place, const Rectangle::point_difference_type& way) {
    Point moved = place;
    for (std::size_t i = 0; i < 2; ++i) {
      if (std::isfinite(way[i])) moved[i] += way[i];
    }
    return moved;
  }
};

/// Weaker at nodes with many edges: so what surrounds a hub has as much room as anything else.
struct Attraction {
  double distance;
  template <class Edge>
  double operator()(Edge edge, double /*k*/, double length, const Graph& graph) const {
    const auto degree = std::max(boost::out_degree(boost::source(edge, graph), graph),
                                 boost::out_degree(boost::target(edge, graph), graph));
    return length * length / (distance * std::sqrt(static_cast<double>(degree)));
  }
};
struct Repulsion {
  double distance;
  template <class Vertex>
  double operator()(Vertex /*a*/, Vertex /*b*/, double /*k*/, double length,
                    const Graph& /*graph*/) const {
    return distance * distance / length;
  }
};

/// Pairs of nodes that are no farther apart than a cell of a grid is wide, whichever cells they are
/// in: a bound that followed the cells would show them as a pattern. At most kCellMax nodes of a
/// cell count, so that a crowd takes no longer than as many nodes apart. (Boost's own grid has
/// lists for cells and no such bound.)
class NearPairs {
 public:
  explicit NearPairs(const std::vector<Point>& places) : places_(places) {
    // Four nodes a cell, if they were spread evenly.
    side_ = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::sqrt(static_cast<double>(places.size())) / 2));
  }

  template <class ApplyForce>
  void operator()(const Graph& /*graph*/, ApplyForce apply_force) const {
    std::vector<std::vector<std::uint32_t>> cells(side_ * side_);
    for (std::uint32_t node = 0; node < places_.size(); ++node) {
      cells[row_of(places_[node][1]) * side_ + row_of(places_[node][0])].push_back(node);
    }
    for (std::uint32_t node = 0; node < places_.size(); ++node) {
      const std::size_t row = row_of(places_[node][1]);
      const std::size_t column = row_of(places_[node][0]);
      for (std::size_t y = row - std::min<std::size_t>(row, 1); y < std::min(row + 2, side_); ++y) {
        for (std::size_t x = column - std::min<std::size_t>(column, 1);
             x < std::min(column + 2, side_); ++x) {
          push_from(cells[y * side_ + x], node, apply_force);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kCellMax = 64;
  [[nodiscard]] std::size_t row_of(double place) const {
    const double cell = (place + 0.5) * static_cast<double>(side_);
    return std::min(side_ - 1, static_cast<std::size_t>(std::max(cell, 0.0)));
  }
  template <class ApplyForce>
  void push_from(const std::vector<std::uint32_t>& cell, std::uint32_t node,
                 ApplyForce& apply_force) const {
    const double reach = 1 / static_cast<double>(side_ * side_);
    const std::size_t step = cell.size() / kCellMax + 1;
    for (std::size_t i = node % step; i < cell.size(); i += step) {
      const double x = places_[cell[i]][0] - places_[node][0];
      const double y = places_[cell[i]][1] - places_[node][1];
      if (x * x + y * y < reach) apply_force(cell[i], node);
    }
  }

  const std::vector<Point>& places_;
  std::size_t side_;
};

/// The distance that nodes may move in a round, less each time; 0 ends it.
class Cooling {
 public:
  Cooling(double first, const PagesProgress& progress) : first_(first), progress_(progress) {}
  double operator()() {
    if (round_ >= kRounds || !progress_(round_, kRounds)) return 0;
    return first_ * (1 - static_cast<double>(round_++) / static_cast<double>(kRounds));
  }

 private:
  double first_;
  const PagesProgress& progress_;
  std::uint64_t round_ = 0;
};

/// A number in [0, 1) that depends on `value` only.
double scatter(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xBF58'476D'1CE4'E5B9;
  value = (value ^ (value >> 27U)) * 0x94D0'49BB'1331'11EB;
  return static_cast<double>((value ^ (value >> 31U)) >> 11U) * 0x1.0p-53;
}

Point point_at(double x, double y) {
  Point point;
  point[0] = x;
  point[1] = y;
  return point;
}

/// On a ring around (0, 0), at some place of it that no other node has.
Point on_ring(std::size_t node, double radius) {
  const double angle = 2 * std::numbers::pi * scatter(node + 1);
  const double distance = radius * (0.8 + 0.4 * scatter(node + 0x1'0000'0000));
  return point_at(distance * std::cos(angle), distance * std::sin(angle));
}

using Starts = std::vector<std::optional<GraphPoint>>;

std::optional<GraphPoint> start_of(const Starts& starts, std::size_t node) {
  return node < starts.size() ? starts[node] : std::nullopt;
}

std::vector<Point> first_places(const EgoGraph& graph, const Starts& starts, double scale) {
  std::uint32_t distance_max = 1;
  for (const GraphNode& node : graph.nodes) distance_max = std::max(distance_max, node.distance);
  std::vector<Point> places;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    places.push_back(on_ring(i, 0.35 * graph.nodes[i].distance / distance_max));
    if (const auto start = start_of(starts, i)) {
      places[i] =
          point_at(static_cast<double>(start->x) / scale, static_cast<double>(start->y) / scale);
    }
  }
  for (const GraphEdge& edge : graph.edges) {
    const bool knows_from = start_of(starts, edge.from).has_value();
    if (knows_from == start_of(starts, edge.to).has_value()) continue;
    const std::uint32_t known = knows_from ? edge.from : edge.to;
    const std::uint32_t other = knows_from ? edge.to : edge.from;
    const Point near = on_ring(other, 1 / scale);
    places[other] = point_at(places[known][0] + near[0], places[known][1] + near[1]);
  }
  return places;
}

/// Pages that link to each other hold each other once.
Graph springs_of(const EgoGraph& graph) {
  Graph springs(graph.nodes.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const GraphEdge& edge : graph.edges) pairs.emplace_back(std::minmax(edge.from, edge.to));
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [from, to] : pairs) boost::add_edge(from, to, springs);
  return springs;
}

}  // namespace

float layout_side(std::size_t node_count) {
  return std::sqrt(static_cast<float>(std::max<std::size_t>(node_count, 1))) /
         static_cast<float>(kDistance);
}

std::vector<GraphPoint> lay_out(const EgoGraph& graph, const Starts& starts,
                                const PagesProgress& progress) {
  const std::size_t count = graph.nodes.size();
  const auto scale = static_cast<double>(layout_side(count));
  const Graph springs = springs_of(graph);
  boost::minstd_rand random;  // for nodes on top of each other; always the same numbers
  const UnitSquare square(random);
  std::vector<Point> places = first_places(graph, starts, scale);
  for (Point& place : places) place = square.bound(place);
  const Places map(places.begin(), boost::get(boost::vertex_index, springs));
  std::vector<Rectangle::point_difference_type> ways(count);
  const auto way_map =
      boost::make_iterator_property_map(ways.begin(), boost::get(boost::vertex_index, springs));
  const bool is_continued =
      std::ranges::any_of(starts, [](const auto& start) { return start.has_value(); });
  const Cooling cooling(is_continued ? 0.0025 : 0.1, progress);
  const Attraction attraction{1 / scale};
  const Repulsion repulsion{1 / scale};
  if (count > kAllPairsMax) {
    boost::fruchterman_reingold_force_directed_layout(springs, map, square, attraction, repulsion,
                                                      NearPairs(places), cooling, way_map);
  } else if (count > 1) {
    boost::fruchterman_reingold_force_directed_layout(springs, map, square, attraction, repulsion,
                                                      boost::all_force_pairs(), cooling, way_map);
  }
  std::vector<GraphPoint> points;
  points.reserve(places.size());
  for (const Point& place : places) {
    points.push_back({static_cast<float>(place[0] * scale), static_cast<float>(place[1] * scale)});
  }
  return points;
}

}  // namespace crawlstore::model
