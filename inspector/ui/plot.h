// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"
#include "model/queue_view.h"
#include "model/score_pairs.h"
#include "model/scores_view.h"

namespace crawlstore::inspector {

struct HistogramBar {
  std::string label;
  std::uint64_t count = 0;
};

/// Bars side by side, as high as their counts; the empty ones at both ends are left out. The bar
/// under the pointer says its numbers.
void draw_histogram(Ui& ui, std::string_view label, const std::vector<HistogramBar>& bars,
                    float height);

/// How scores are spread: bars of pages by score, both axes logarithmic; and over them the range
/// that is chosen.
///   returns  the range that was dragged and let go just now; after a click the one of all scores
std::optional<model::ScoreRange> draw_scores(Ui& ui, std::string_view label,
                                             std::span<const model::ScoreBin> bins,
                                             const model::ScoreRange& chosen, ImVec2 size);

/// Two scores of each page as a point, both axes logarithmic; what has 0 stands on the other axis.
/// The item drawn last is then the plot.
///   returns  the pair under the pointer
std::optional<std::size_t> draw_pairs(Ui& ui, std::string_view label,
                                      std::span<const model::ScorePair> pairs, ImVec2 size);

/// How a computation converged: the residual of each iteration, its axis logarithmic, and the
/// precision that was asked for as a line across, unless it is 0. Residuals of 0 are left out.
void draw_residuals(Ui& ui, std::string_view label, std::span<const double> residuals,
                    double precision, ImVec2 size);

/// A queue over the axis of its priorities, the highest at the left: bars of entries, and below
/// them a bar a run. What has left is pale; runs of changes are in another colour.
///   bins  at least one
void draw_queue(Ui& ui, std::string_view label, std::span<const QueueBin> bins,
                std::span<const QueueRunInfo> runs, ImVec2 size);

}  // namespace crawlstore::inspector
