// SPDX-License-Identifier: Apache-2.0
#include "model/graph_drawing.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/graph_labels.h"
#include "model/graph_text.h"

namespace crawlstore::model {
namespace {

std::string quote_dot(const std::string& text) {
  std::string quoted;
  append_dot_label(quoted, text);
  return quoted;
}

std::string escape_xml(const std::string& text) {
  std::string escaped;
  append_xml_text(escaped, text);
  return escaped;
}

}  // namespace

std::string graph_dot(const EgoGraph& graph, const std::optional<GraphScores>& scores) {
  const std::string name = scores ? quote_dot("score:" + scores->name) : std::string();
  std::string text = "digraph links {\n";
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    text += fmt::format("  n{} [label={}, state=\"{}\", depth={}, score=\"{}\"", i,
                        quote_dot(node.label), name_of(node.state), node.depth, node.score);
    if (scores && scores->nodes[i].score) {
      text += fmt::format(", {}=\"{}\"", name, *scores->nodes[i].score);
    }
    text += graph.is_of_hosts ? fmt::format(", page_count={}];\n", node.page_count) : "];\n";
  }
  for (const GraphEdge& edge : graph.edges) {
    text += fmt::format("  n{} -> n{}", edge.from, edge.to);
    text += graph.is_of_hosts ? fmt::format(" [weight={}];\n", edge.link_count) : ";\n";
  }
  return text + "}\n";
}

std::string graph_svg(const EgoGraph& graph, const std::vector<GraphPoint>& points,
                      const std::vector<NodeLook>& looks) {
  constexpr float kUnit = 40;  // of the picture, for 1 in the layout
  constexpr std::size_t kLettersMax = 40;
  const float side = layout_side(graph.nodes.size()) * kUnit + 2 * kUnit;
  const auto x_of = [&](std::uint32_t node) { return points[node].x * kUnit + side / 2; };
  const auto y_of = [&](std::uint32_t node) { return points[node].y * kUnit + side / 2; };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{0:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {0:.0f}\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<g stroke=\"#8a94a3\" stroke-opacity=\"0.5\">\n",
      side);
  for (const GraphEdge& edge : graph.edges) {
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                        x_of(edge.from), y_of(edge.from), x_of(edge.to), y_of(edge.to));
  }
  text += "</g>\n<g font-family=\"sans-serif\" font-size=\"10\">\n";
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string label = escape_xml(graph.nodes[i].label);
    text += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"#{:06x}\">"
        "<title>{}</title></circle>\n",
        x_of(i), y_of(i), looks[i].radius * kUnit, looks[i].rgb & 0xffffffU, label);
    if (!looks[i].has_label) continue;
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                        x_of(i) + looks[i].radius * kUnit + 2, y_of(i) + 3,
                        escape_xml(cut_middle(short_label(graph, graph.nodes[i]), kLettersMax)));
  }
  return text + "</g>\n</svg>\n";
}

}  // namespace crawlstore::model
