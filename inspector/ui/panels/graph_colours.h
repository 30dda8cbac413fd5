// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The colours of the nodes of a graph, and what they mean.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "inspector/ui/graph_canvas.h"
#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

enum class NodeColour : std::uint8_t { kHost, kState, kDepth, kScore };

struct GraphColours {
  std::vector<Colour> nodes;
  std::vector<std::pair<std::string, Colour>> legend;  ///< names of hosts may be of any bytes
  /// The scale that stands before the legend of scores.
  std::vector<Colour> scale;
  std::string lowest;
  std::string highest;
};

/// The colours of a scene; if it has no scores, kScore is kHost.
GraphColours graph_colours(const Palette& palette, const GraphScene& scene, NodeColour by);

/// Beside what was drawn last.
void draw_legend(Ui& ui, const GraphColours& colours);

}  // namespace crawlstore::inspector
