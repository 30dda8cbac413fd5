// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/graph_colours.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include <imgui.h>

#include "inspector/core/shades.h"
#include "inspector/core/shown_text.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

using model::GraphNode;

// From near to far; each can be seen on dark and on light ground.
constexpr std::array kRamp{rgb(0xd9c400), rgb(0x7ab839), rgb(0x22a884),
                           rgb(0x2f93cf), rgb(0x8a7fd5), rgb(0xb65bb0)};

/// The hosts with most nodes have colours of their own, the others share grey.
GraphColours colour_by_host(const Palette& palette, const std::vector<GraphNode>& nodes) {
  GraphColours colours;
  std::map<std::string, std::size_t> counts;
  for (const GraphNode& node : nodes) ++counts[node.host];
  std::vector<std::pair<std::size_t, std::string>> ranked;
  ranked.reserve(counts.size());
  for (const auto& [host, count] : counts) ranked.emplace_back(count, host);
  std::ranges::stable_sort(ranked, std::greater<>{}, [](const auto& entry) { return entry.first; });
  const std::size_t shown = std::min(ranked.size(), palette.hues.size() - 1);
  for (std::size_t i = 0; i < shown; ++i) {
    colours.legend.emplace_back(ranked[i].second, palette.hues[i + 1]);
  }
  if (shown < ranked.size()) colours.legend.emplace_back("other hosts", palette.hues[0]);
  for (const GraphNode& node : nodes) {
    const auto entry =
        std::ranges::find(colours.legend, node.host, [](const auto& host) { return host.first; });
    colours.nodes.push_back(entry == colours.legend.end() ? colours.legend.back().second
                                                          : entry->second);
  }
  return colours;
}

GraphColours colour_by_state(const Palette& palette, const std::vector<GraphNode>& nodes) {
  GraphColours colours;
  // In the order in which PageState counts.
  const std::array<std::pair<const char*, Colour>, kPageStateCount> states{
      {{"known (ring)", palette.hues[0]},
       {"crawled (disc)", palette.hues[2]},
       {"gone (frame)", palette.hues[6]},
       {"failed (square)", palette.hues[4]},
       {"redirect (diamond)", palette.hues[1]},
       {"denied (hollow diamond)", palette.hues[5]},
       {"duplicate (triangle)", palette.hues[3]},
       {"elsewhere (ring)", palette.hues[0]}}};
  std::array<bool, kPageStateCount> is_there{true, true, true, true};  // the usual ones always
  for (const GraphNode& node : nodes) {
    const std::size_t place = static_cast<std::size_t>(node.state) % states.size();
    is_there[place] = true;
    colours.nodes.push_back(states[place].second);
  }
  for (std::size_t place = 0; place < states.size(); ++place) {
    if (is_there[place]) colours.legend.emplace_back(states[place]);
  }
  return colours;
}

GraphColours colour_by_depth(const std::vector<GraphNode>& nodes) {
  GraphColours colours;
  for (std::size_t i = 0; i < kRamp.size(); ++i) {
    colours.legend.emplace_back(std::to_string(i) + (i + 1 == kRamp.size() ? " and more" : ""),
                                kRamp[i]);
  }
  for (const GraphNode& node : nodes) {
    colours.nodes.push_back(kRamp[std::min<std::size_t>(node.depth, kRamp.size() - 1)]);
  }
  return colours;
}

/// Grey is what has no score.
GraphColours colour_by_score(const Palette& palette, const model::GraphScores& scores) {
  GraphColours colours;
  const Shades& scale = shades(palette);
  for (const model::NodeScore& node : scores.nodes) {
    const std::size_t shade = model::shade_of(node.size, scale.size());
    colours.nodes.push_back(node.score ? scale[shade] : palette.hues[0]);
  }
  if (scores.scored_count > 0) {
    colours.scale.assign(scale.begin(), scale.end());
    colours.lowest = model::format_cell(scores.lowest, model::Unit::kScore);
    colours.highest = model::format_cell(scores.highest, model::Unit::kScore);
  }
  if (scores.scored_count < scores.nodes.size()) {
    colours.legend.emplace_back("no score", palette.hues[0]);
  }
  return colours;
}

void draw_scale(Ui& ui, const GraphColours& colours) {
  const float height = ImGui::GetTextLineHeight();
  const float width = ui.px(14);
  const float all = width * static_cast<float>(colours.scale.size());
  place_beside(text_width(colours.lowest) + ui.px(12) + all + text_width(colours.highest),
               ui.px(14));
  draw_text(ui, colours.lowest, ui.palette.faint);
  ImGui::SameLine(0, ui.px(6));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  for (std::size_t i = 0; i < colours.scale.size(); ++i) {
    const float left = at.x + width * static_cast<float>(i);
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(left, at.y + height * 0.15F),
                                              ImVec2(left + width, at.y + height * 0.85F),
                                              colours.scale[i]);
  }
  ImGui::Dummy(ImVec2(all, height));
  ImGui::SameLine(0, ui.px(6));
  draw_text(ui, colours.highest, ui.palette.faint);
}

}  // namespace

GraphColours graph_colours(const Palette& palette, const GraphScene& scene, NodeColour by) {
  if (by == NodeColour::kState) return colour_by_state(palette, scene.graph.nodes);
  if (by == NodeColour::kDepth) return colour_by_depth(scene.graph.nodes);
  if (by == NodeColour::kScore && scene.scores) return colour_by_score(palette, *scene.scores);
  return colour_by_host(palette, scene.graph.nodes);
}

void draw_legend(Ui& ui, const GraphColours& colours) {
  if (!colours.scale.empty()) draw_scale(ui, colours);
  for (const auto& [name, colour] : colours.legend) {
    const std::string shown = fit_text(ui, name.empty() ? "no host" : shown_text(name), ui.px(150));
    place_beside(ImGui::GetTextLineHeight() + ui.px(6) + text_width(shown), ui.px(14));
    draw_swatch(ui, colour);
    draw_text(ui, shown, ui.palette.faint);
  }
}

}  // namespace crawlstore::inspector
