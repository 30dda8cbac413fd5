// SPDX-License-Identifier: Apache-2.0
#include "model/graph_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/format_text.h"

namespace crawlstore::model {

std::vector<NodeScore> scale_scores(std::span<const std::optional<double>> scores) {
  std::vector<double> ranked;  // highest first
  for (const auto& score : scores) {
    if (score) ranked.push_back(*score);
  }
  std::ranges::sort(ranked, std::greater<>{});
  // Behind it are zeros, which have no logarithm.
  const auto zeros = std::ranges::lower_bound(ranked, 0.0, std::greater<>{});
  const bool has_positive = zeros != ranked.begin();
  const double lowest = has_positive ? std::log(*(zeros - 1)) : 0;
  const double span = has_positive ? std::log(ranked.front()) - lowest : 0;
  std::vector<NodeScore> nodes;
  nodes.reserve(scores.size());
  for (const auto& score : scores) {
    NodeScore& node = nodes.emplace_back();
    if (!score) continue;
    node.score = score;
    const auto better = std::ranges::lower_bound(ranked, *score, std::greater<>{});
    node.rank = static_cast<std::size_t>(better - ranked.begin()) + 1;
    if (*score <= 0) continue;
    node.size = span > 0 ? static_cast<float>((std::log(*score) - lowest) / span) : 0.5F;
  }
  return nodes;
}

Result<GraphScores> graph_scores(const EgoGraph& graph, const ScoreView& scores,
                                 const PagesProgress& progress) {
  std::vector<std::optional<double>> values;
  values.reserve(graph.nodes.size());
  for (const GraphNode& node : graph.nodes) {
    if (!progress(values.size(), graph.nodes.size())) {
      return fail(Errc::kCancelled, "it was cancelled");
    }
    CRAWLSTORE_TRY(values.emplace_back(), scores.score(node.page));
  }
  GraphScores found;
  found.name = scores.info().name;
  found.nodes = scale_scores(values);
  for (const auto& value : values) {
    if (!value) continue;
    found.lowest = found.scored_count == 0 ? *value : std::min(found.lowest, *value);
    found.highest = std::max(found.highest, *value);
    ++found.scored_count;
  }
  return found;
}

std::size_t shade_of(float size, std::size_t shade_count) {
  const float shade = size * static_cast<float>(shade_count);
  return std::min(static_cast<std::size_t>(shade), shade_count - 1);
}

std::string describe_score(const GraphScores& scores, std::size_t node) {
  const NodeScore& at = scores.nodes[node];
  if (!at.score) return "none, it came since";
  return format_cell(*at.score, Unit::kScore) + ", rank " + format_count(at.rank) + " of " +
         format_count(scores.scored_count) + " shown";
}

}  // namespace crawlstore::model
