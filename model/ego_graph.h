// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The neighbourhood of a page or of a host in the graph of links, as far as a budget goes.
/// Ownership: plain values. Threads: pure functions over a view; any.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>

#include "model/host_rows.h"

namespace crawlstore::model {

struct GraphNode {
  std::uint64_t page = 0;        ///< of a host: the page of its smallest key, as in hosts_table()
  std::string host;              ///< of its URL
  std::string label;             ///< the URL, or the host; "page 7" where there are no URLs
  std::uint32_t distance = 0;    ///< links from the centre, going the way that was asked for
  PageState state{};             ///< of the page
  std::uint32_t depth = 0;       ///< of the page
  float score = 0;               ///< of the page
  std::uint64_t page_count = 1;  ///< of a host: its pages
  /// Neighbours, going that way, that are not in the graph; nullopt = not counted.
  std::optional<std::uint64_t> hidden_count;
};

struct GraphEdge {
  std::uint32_t from = 0;  ///< place in nodes
  std::uint32_t to = 0;
  std::uint64_t link_count = 1;
};

struct EgoGraph {
  std::vector<GraphNode> nodes;  ///< the centre first
  std::vector<GraphEdge> edges;  ///< by from, then to; each once, none from a node to itself
  bool is_of_hosts = false;
  /// In a graph of hosts, the pages of those in the graph that were not looked at; in one of pages
  /// 0.
  std::uint64_t unseen_page_count = 0;
};

enum class GraphDirection : std::uint8_t { kOut, kIn, kBoth };

struct EgoGraphOptions {
  GraphDirection direction = GraphDirection::kBoth;
  std::uint32_t depth = 1;      ///< links from the centre, 1 to 3
  std::size_t nodes_max = 300;  ///< at least 1
  /// Pages, or of hosts pages of them, whose neighbours are wanted beyond the depth, in the order
  /// in which they were asked for: each adds kExpandedMax nodes over the budget.
  std::vector<std::uint64_t> expanded;
  static constexpr std::size_t kExpandedMax = 20;
  /// Pages of a host that are looked at, at most, in the order of their keys.
  std::size_t host_pages_max = 1000;
  /// By which of more pages the best are chosen; nothing: by the scores of their records.
  std::optional<ScoreView> scores = std::nullopt;
};

/// Pages around a page. If there are more neighbours than room, those with the best scores come. At
/// most 10,000 are looked at (200 and more: 50 for each there is room for). Each level leaves room
/// for the next ones, and has after all the room that these do not need. So the budget is used up
/// as long as there are pages within the depth. All links among the nodes are edges.
///   errors  kInvalidArgument: no page has this index; kTypeMismatch: the scores are of hosts or
///           domains; kCancelled; of damage
///   cost    links and a record of each node, a record or score of each neighbour that is looked at
Result<EgoGraph> page_graph(const PageView& view, std::uint64_t centre,
                            const EgoGraphOptions& options, const PagesProgress& progress);

/// Hosts around a host: an edge stands for all links between pages of two hosts. The first
/// host_pages_max pages of a host are looked at, and the first 1,000 links of a page. If there are
/// more hosts than room, those with most links come. Edges are those of the hosts that were looked
/// at: not those among hosts at the last level.
///   errors  kInvalidArgument: no page is of this host; kCancelled; of damage
///   cost    links of each page that is looked at, a URL of each page at their other end, and a key
///           of each page of a host that is not
Result<EgoGraph> host_graph(const PageView& view, std::string_view host,
                            const EgoGraphOptions& options, const PagesProgress& progress);

// --- for both -----------------------------------------------------------------------------------

/// The number of nodes that a level may add, so that as many levels after it find room.
std::size_t room_of_level(std::size_t nodes_max, std::size_t node_count, std::size_t levels_left);

/// The distance of each node along the edges; one that no edge leads to keeps its own.
void find_distances(EgoGraph& graph, GraphDirection direction);

}  // namespace crawlstore::model
