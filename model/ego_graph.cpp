// SPDX-License-Identifier: Apache-2.0
#include "model/ego_graph.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <crawlstore/page_key.h>

namespace crawlstore::model {
namespace {

// If there are more neighbours, so many are looked at, evenly spread: enough to choose from for
// those that there is room for.
constexpr std::size_t kCandidatesANode = 50;
constexpr std::size_t kCandidatesMin = 200;
constexpr std::size_t kCandidatesMax = 10'000;

class PageGraphBuilder {
 public:
  PageGraphBuilder(const PageView& view, const EgoGraphOptions& options,
                   const PagesProgress& progress)
      : view_(view), options_(options), progress_(progress) {}

  Result<EgoGraph> build(std::uint64_t centre) {
    CRAWLSTORE_TRY(add(centre, 0));
    do {
      is_changed_ = false;
      for (std::uint32_t level = 1; level <= options_.depth; ++level) {
        CRAWLSTORE_TRY(add_level(level));
      }
      // Room that the last levels left of their shares goes to the first ones.
    } while (is_changed_ && graph_.nodes.size() < options_.nodes_max);
    for (const std::uint64_t page : options_.expanded) {
      const auto at = places_.find(page);
      if (at == places_.end()) continue;
      const std::uint32_t distance = graph_.nodes[at->second].distance + 1;
      CRAWLSTORE_TRY(add_neighbours(at->second, EgoGraphOptions::kExpandedMax, distance));
    }
    CRAWLSTORE_TRY(add_edges());
    count_hidden();
    find_distances(graph_, options_.direction);
    return std::move(graph_);
  }

 private:
  Result<void> add(std::uint64_t index, std::uint32_t distance) {
    CRAWLSTORE_TRY(const auto page, view_.page(index));
    GraphNode node;
    node.page = index;
    node.host = url_host(page.url);
    node.label = page.url.empty() ? "page " + std::to_string(index) : row_url(page.url);
    node.distance = distance;
    node.state = page.state;
    node.depth = page.depth;
    node.score = page.score;
    places_.emplace(index, static_cast<std::uint32_t>(graph_.nodes.size()));
    graph_.nodes.push_back(std::move(node));
    is_exhausted_.push_back(false);
    neighbour_counts_.emplace_back();
    return {};
  }

  /// Pages at the other end of its links, going the way asked for; ascending, each once.
  Result<std::vector<std::uint64_t>> neighbours(std::uint64_t index) const {
    if (options_.direction == GraphDirection::kIn) return view_.in_links(index);
    CRAWLSTORE_TRY(auto out, view_.out_links(index));
    return with_in_links(index, std::move(out));
  }

  /// Its out-links are known.
  Result<std::vector<std::uint64_t>> with_in_links(std::uint64_t index,
                                                   std::vector<std::uint64_t> out) const {
    if (options_.direction == GraphDirection::kOut) return out;
    CRAWLSTORE_TRY(auto in, view_.in_links(index));
    if (options_.direction == GraphDirection::kIn) return in;
    std::vector<std::uint64_t> all;
    all.reserve(out.size() + in.size());
    std::ranges::set_union(out, in, std::back_inserter(all));
    return all;
  }

  /// A page without a score is as good as one with 0.
  [[nodiscard]] Result<double> score_of(std::uint64_t page) const {
    if (options_.scores) {
      CRAWLSTORE_TRY(const auto score, options_.scores->score(page));
      return score.value_or(0);
    }
    CRAWLSTORE_TRY(const float score, view_.score(page));
    return std::isnan(score) ? 0 : score;
  }

  /// Returns as many of the pages, those with the best scores first, as there is room for.
  Result<std::vector<std::uint64_t>> best_of(const std::vector<std::uint64_t>& pages,
                                             std::size_t room) {
    if (pages.size() <= room) return pages;
    std::vector<std::pair<double, std::uint64_t>> ranked;
    const std::size_t looked_at =
        std::clamp(room * kCandidatesANode, kCandidatesMin, kCandidatesMax);
    const std::size_t step = pages.size() / looked_at + 1;
    for (std::size_t i = 0; i < pages.size(); i += step) {
      CRAWLSTORE_TRY(const double score, score_of(pages[i]));
      ranked.emplace_back(-score, pages[i]);
    }
    std::ranges::sort(ranked);
    std::vector<std::uint64_t> best;
    for (std::size_t i = 0; i < std::min(room, ranked.size()); ++i) {
      best.push_back(ranked[i].second);
    }
    return best;
  }

  /// Neighbours of the nodes of the level before. Nodes share the room; what one does not need the
  /// others have.
  Result<void> add_level(std::uint32_t level) {
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < graph_.nodes.size(); ++at) {
      if (graph_.nodes[at].distance + 1 == level && !is_exhausted_[at]) open.push_back(at);
    }
    std::size_t room = room_of_level(options_.nodes_max, graph_.nodes.size(),
                                     options_.depth - level + std::size_t{1});
    for (std::size_t i = 0; i < open.size() && room > 0; ++i) {
      const std::size_t share = (room + open.size() - i - 1) / (open.size() - i);
      const std::size_t before = graph_.nodes.size();
      CRAWLSTORE_TRY(add_neighbours(open[i], share, level));
      room -= graph_.nodes.size() - before;
    }
    return {};
  }

  Result<void> add_neighbours(std::size_t at, std::size_t room, std::uint32_t distance) {
    if (!progress_(graph_.nodes.size(), 0)) return fail(Errc::kCancelled, "it was cancelled");
    CRAWLSTORE_TRY(auto pages, neighbours(graph_.nodes[at].page));
    neighbour_counts_[at] = count_others(graph_.nodes[at].page, pages);
    leave_out_known(pages, distance);
    CRAWLSTORE_TRY(const auto best, best_of(pages, room));
    for (const std::uint64_t page : best) CRAWLSTORE_TRY(add(page, distance));
    is_exhausted_[at] = best.size() == pages.size();
    is_changed_ = is_changed_ || !best.empty();
    return {};
  }

  /// Those that are in the graph. Pages that came in on a longer way are nearer from now on.
  void leave_out_known(std::vector<std::uint64_t>& pages, std::uint32_t distance) {
    std::vector<std::uint64_t> known;
    if (pages.size() < graph_.nodes.size()) {
      std::ranges::copy_if(pages, std::back_inserter(known),
                           [&](std::uint64_t page) { return places_.contains(page); });
    } else {
      for (const GraphNode& node : graph_.nodes) {
        if (std::ranges::binary_search(pages, node.page)) known.push_back(node.page);
      }
      std::ranges::sort(known);
    }
    for (const std::uint64_t page : known) {
      GraphNode& node = graph_.nodes[places_.at(page)];
      is_changed_ = is_changed_ || distance < node.distance;
      node.distance = std::min(distance, node.distance);
    }
    std::vector<std::uint64_t> others;
    others.reserve(pages.size() - known.size());
    std::ranges::set_difference(pages, known, std::back_inserter(others));
    pages = std::move(others);
  }

  Result<void> add_edges() {
    for (std::uint32_t from = 0; from < graph_.nodes.size(); ++from) {
      if (!progress_(from, graph_.nodes.size())) return fail(Errc::kCancelled, "it was cancelled");
      const std::uint64_t page = graph_.nodes[from].page;
      CRAWLSTORE_TRY(auto out, view_.out_links(page));
      const std::size_t before = graph_.edges.size();
      for (const std::uint64_t target : out) {
        const auto to = places_.find(target);
        if (to != places_.end() && to->second != from) graph_.edges.push_back({from, to->second});
      }
      std::ranges::sort(graph_.edges.begin() + static_cast<std::ptrdiff_t>(before),
                        graph_.edges.end(), {}, &GraphEdge::to);
      if (neighbour_counts_[from]) continue;
      CRAWLSTORE_TRY(const auto all, with_in_links(page, std::move(out)));
      neighbour_counts_[from] = count_others(page, all);
    }
    return {};
  }

  /// A page may link to itself.
  static std::uint64_t count_others(std::uint64_t page, const std::vector<std::uint64_t>& pages) {
    return pages.size() - (std::ranges::binary_search(pages, page) ? 1 : 0);
  }

  /// All neighbours but those that edges lead to.
  void count_hidden() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> shown;
    for (const GraphEdge& edge : graph_.edges) {
      if (options_.direction != GraphDirection::kIn) shown.emplace_back(edge.from, edge.to);
      if (options_.direction != GraphDirection::kOut) shown.emplace_back(edge.to, edge.from);
    }
    std::ranges::sort(shown);
    shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
    for (std::size_t at = 0; at < graph_.nodes.size(); ++at) {
      graph_.nodes[at].hidden_count = neighbour_counts_[at];
    }
    for (const auto& [at, other] : shown) {
      auto& hidden = graph_.nodes[at].hidden_count;
      if (hidden > 0) --*hidden;  // in a hostile file, one side of a link may lack the other
    }
  }

  const PageView& view_;
  const EgoGraphOptions& options_;
  const PagesProgress& progress_;
  EgoGraph graph_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  // of pages, in nodes
  std::vector<bool> is_exhausted_;                           // all neighbours of the node are there
  std::vector<std::optional<std::uint64_t>> neighbour_counts_;  // of nodes, those not shown too
  bool is_changed_ = false;                                     // by this round through the levels
};

}  // namespace

std::size_t room_of_level(std::size_t nodes_max, std::size_t node_count, std::size_t levels_left) {
  if (node_count >= nodes_max) return 0;
  const std::size_t room = nodes_max - node_count;
  return levels_left <= 1 ? room : std::max<std::size_t>(1, room / levels_left);
}

void find_distances(EgoGraph& graph, GraphDirection direction) {
  std::vector<std::vector<std::uint32_t>> ways(graph.nodes.size());
  for (const GraphEdge& edge : graph.edges) {
    if (direction != GraphDirection::kIn) ways[edge.from].push_back(edge.to);
    if (direction != GraphDirection::kOut) ways[edge.to].push_back(edge.from);
  }
  constexpr auto kFar = ~std::uint32_t{0};
  std::vector<std::uint32_t> distances(graph.nodes.size(), kFar);
  std::vector<std::uint32_t> reached{0};
  distances.front() = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::uint32_t next : ways[reached[i]]) {
      if (distances[next] != kFar) continue;
      distances[next] = distances[reached[i]] + 1;
      reached.push_back(next);
    }
  }
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] != kFar) graph.nodes[i].distance = distances[i];
  }
}

Result<EgoGraph> page_graph(const PageView& view, std::uint64_t centre,
                            const EgoGraphOptions& options, const PagesProgress& progress) {
  return PageGraphBuilder(view, options, progress).build(centre);
}

}  // namespace crawlstore::model
