// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The scores that an array has for the pages of a graph, and the sizes of the pages by them.
/// Ownership: plain values. Threads: pure functions over a view; any.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/scores.h>

#include "model/ego_graph.h"

namespace crawlstore::model {

struct NodeScore {
  std::optional<double> score;  ///< nothing for a page that came since
  std::size_t rank = 0;         ///< 1 = the best node, equal scores share one; 0 = no score
  float size = 0;               ///< 0 to 1, by the logarithm of the score; without one 0
};

struct GraphScores {
  std::string name;              ///< of the array
  std::vector<NodeScore> nodes;  ///< by their place in the graph
  std::size_t scored_count = 0;  ///< nodes with a score
  double lowest = 0;             ///< of their scores
  double highest = 0;
};

/// The scores of the nodes of a graph of pages.
///   errors  kTypeMismatch: the array is of hosts or domains; kCancelled; of damage
///   cost    of each node what ScoreView::score() costs
Result<GraphScores> graph_scores(const EgoGraph& graph, const ScoreView& scores,
                                 const PagesProgress& progress);

/// Ranks and sizes: the lowest score above 0 has size 0, as 0 has, the highest 1; where all above 0
/// are equal, they have one half.
std::vector<NodeScore> scale_scores(std::span<const std::optional<double>> scores);

/// Returns the one of so many shades that stands for a size.
///   shade_count  at least 1
std::size_t shade_of(float size, std::size_t shade_count);

/// "0.0123, rank 3 of 14 shown", or that there is none.
std::string describe_score(const GraphScores& scores, std::size_t node);

}  // namespace crawlstore::model
