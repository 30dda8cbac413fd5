// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/graph_scene.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include <crawlstore/scores.h>

#include "model/page_source.h"

namespace crawlstore::inspector {
namespace {

using model::EgoGraph;
using model::EgoGraphOptions;
using model::GraphNode;

/// Pages of a host that are looked at where there is time.
constexpr std::size_t kThoroughHostPages = 50'000;
/// A first picture in good time, and of a layout so much whatever went before.
constexpr std::chrono::milliseconds kFirstPicture{1200};
constexpr std::size_t kFirstNodes = 3000;
constexpr std::chrono::milliseconds kFirstLayoutMin{200};

std::vector<float> sizes_of(const GraphScene& scene) {
  std::vector<float> sizes;
  if (scene.scores) {
    for (const model::NodeScore& node : scene.scores->nodes) sizes.push_back(node.size);
    return sizes;
  }
  const EgoGraph& graph = scene.graph;
  const auto weight = [&](const GraphNode& node) {
    return graph.is_of_hosts ? static_cast<float>(node.page_count) : std::max(node.score, 0.0F);
  };
  float most = 0;
  for (const GraphNode& node : graph.nodes) {
    if (std::isfinite(weight(node))) most = std::max(most, weight(node));
  }
  for (const GraphNode& node : graph.nodes) {
    const float share = most > 0 ? weight(node) / most : 0;
    sizes.push_back(std::isfinite(share) ? std::sqrt(share) : 0);
  }
  return sizes;
}

/// The page to begin with.
Result<std::uint64_t> best_page(const PageView& pages, const std::optional<ScoreView>& scores) {
  if (scores) {
    CRAWLSTORE_TRY(const auto best, scores->top(1));
    if (!best.empty()) return best.front().index;
  }
  CRAWLSTORE_TRY(const auto best, model::top_pages(pages, 1));
  return best->empty() ? 0 : best->front();
}

Result<EgoGraph> gather(const PageView& pages, const GraphQuestion& question,
                        const std::optional<ScoreView>& scores,
                        const model::PagesProgress& progress) {
  EgoGraphOptions options;
  if (question.is_thorough) options.host_pages_max = kThoroughHostPages;
  options.direction = question.direction;
  options.depth = question.depth;
  options.nodes_max =
      question.is_thorough ? question.nodes_max : std::min(question.nodes_max, kFirstNodes);
  options.expanded = question.expanded;
  options.scores = scores;
  if (const auto* host = std::get_if<HostThing>(&question.centre)) {
    return model::host_graph(pages, host->host, options, progress);
  }
  const auto* page = std::get_if<PageThing>(&question.centre);
  CRAWLSTORE_TRY(const std::uint64_t centre,
                 page != nullptr ? Result<std::uint64_t>(page->index) : best_page(pages, scores));
  return model::page_graph(pages, centre, options, progress);
}

/// More can be gathered than the first picture has.
bool lacks_nodes(const EgoGraph& graph, const GraphQuestion& question) {
  const std::size_t count = graph.nodes.size();
  return graph.unseen_page_count > 0 || (count >= kFirstNodes && count < question.nodes_max);
}

/// Nodes that were there already do not jump, and where nothing has changed, none moves.
std::vector<model::GraphPoint> points_of(const EgoGraph& graph, const GraphScene* before,
                                         const model::PagesProgress& progress) {
  const auto is_same_edge = [](const model::GraphEdge& a, const model::GraphEdge& b) {
    return a.from == b.from && a.to == b.to;
  };
  const bool is_same = before != nullptr &&
                       std::ranges::equal(graph.nodes, before->graph.nodes, {}, &GraphNode::page,
                                          &GraphNode::page) &&
                       std::ranges::equal(graph.edges, before->graph.edges, is_same_edge);
  if (is_same && !before->is_rough) return before->points;
  std::map<std::uint64_t, model::GraphPoint> known;
  for (std::size_t i = 0; before != nullptr && i < before->points.size(); ++i) {
    known.emplace(before->graph.nodes[i].page, before->points[i]);
  }
  std::vector<std::optional<model::GraphPoint>> starts;
  for (const GraphNode& node : graph.nodes) {
    const auto place = known.find(node.page);
    starts.push_back(place == known.end() ? std::nullopt : std::optional(place->second));
  }
  return model::lay_out(graph, starts, progress);
}

}  // namespace

std::shared_ptr<const FoundGraph> find_scene(const PageView& pages, const GraphQuestion& question,
                                             const EarlierScenes& earlier, std::uint64_t number,
                                             const model::PagesProgress& progress) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto found = std::make_shared<FoundGraph>();
  std::optional<ScoreView> scores;
  if (!question.scores.empty()) {
    auto opened = ScoreView::open(pages, question.scores);
    if (opened) scores = std::move(*opened);
    if (!opened) found->scores_problem = opened.error();
  }
  const GraphScene* const rough = earlier.rough;
  const bool is_gathered = rough != nullptr && !lacks_nodes(rough->graph, question);
  Result<EgoGraph> graph =
      is_gathered ? Result<EgoGraph>(rough->graph) : gather(pages, question, scores, progress);
  if (!graph && scores && graph.error().code != Errc::kCancelled) {
    // Scores that cannot be read are no reason to show nothing.
    found->scores_problem = graph.error();
    scores.reset();
    graph = gather(pages, question, scores, progress);
  }
  if (!graph && graph.error().code == Errc::kCancelled) return nullptr;
  if (!graph) {
    found->problem = graph.error();
    return found;
  }
  auto scene = std::make_shared<GraphScene>();
  if (scores) {
    auto of_nodes = model::graph_scores(*graph, *scores, progress);
    if (!of_nodes && of_nodes.error().code == Errc::kCancelled) return nullptr;
    if (of_nodes) scene->scores = std::move(*of_nodes);
    if (!of_nodes) found->scores_problem = of_nodes.error();
  }
  const auto end = std::max(start + kFirstPicture, Clock::now() + kFirstLayoutMin);
  scene->is_rough = !question.is_thorough && lacks_nodes(*graph, question);
  scene->points = points_of(*graph, earlier.shown, [&](std::uint64_t done, std::uint64_t total) {
    const bool is_late = !question.is_thorough && Clock::now() > end;
    scene->is_rough = scene->is_rough || is_late;
    return !is_late && progress(done, total);
  });
  scene->graph = std::move(*graph);
  scene->sizes = sizes_of(*scene);
  for (std::uint32_t i = 0; i < scene->points.size(); ++i) scene->ranked.push_back(i);
  // The centre first.
  std::stable_sort(
      scene->ranked.begin() + 1, scene->ranked.end(),
      [&](std::uint32_t a, std::uint32_t b) { return scene->sizes[a] > scene->sizes[b]; });
  scene->number = number;
  found->scene = std::move(scene);
  return found;
}

}  // namespace crawlstore::inspector
