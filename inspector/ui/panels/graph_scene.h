// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The work behind the panel Graph: from a question to a graph with scores and places. Threads: a
/// job's.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>

#include "inspector/core/location.h"
#include "inspector/ui/graph_canvas.h"
#include "model/ego_graph.h"

namespace crawlstore::inspector {

/// The question for a graph: another question, another graph.
struct GraphQuestion {
  static constexpr std::array<std::size_t, 5> kBudgets{100, 300, 1000, 3000, 10'000};

  Thing centre;  // nothing = the page with the best score
  model::GraphDirection direction = model::GraphDirection::kBoth;
  std::uint32_t depth = 1;
  std::size_t nodes_max = kBudgets[1];
  std::vector<std::uint64_t> expanded;
  std::string scores;         // the array; empty = none
  bool is_thorough = false;   // no first picture, but the best one
  std::uint64_t version = 0;  // of the look at the file
  bool operator==(const GraphQuestion&) const = default;
};

/// The findings of a job, shared with it.
struct FoundGraph {
  std::shared_ptr<const GraphScene> scene;
  std::optional<Error> problem;         // there is no scene
  std::optional<Error> scores_problem;  // the scene has no scores
};

/// Scenes of before, or nullptr.
struct EarlierScenes {
  const GraphScene* shown = nullptr;  ///< before the question: its nodes do not jump
  const GraphScene* rough = nullptr;  ///< the first picture, when a better one is asked for
};

/// Returns nothing when it was cancelled.
std::shared_ptr<const FoundGraph> find_scene(const PageView& pages, const GraphQuestion& question,
                                             const EarlierScenes& earlier, std::uint64_t number,
                                             const model::PagesProgress& progress);

}  // namespace crawlstore::inspector
