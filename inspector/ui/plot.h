// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"
#include "model/queue_pass.h"
#include "model/queue_view.h"
#include "model/score_pairs.h"
#include "model/scores_view.h"

namespace crawlstore::inspector {

struct HistogramBar {
  std::string label;
  std::uint64_t count = 0;
};

/// Neighbouring bars, by their places; by default all.
struct BarRange {
  std::size_t first = 0;
  std::size_t last = SIZE_MAX;
  friend bool operator==(const BarRange&, const BarRange&) = default;
};

/// Bars side by side over their labels, the axis of their counts logarithmic; the empty ones at
/// both ends are left out. Over them the range that is chosen. The bar under the pointer says its
/// numbers.
///   returns  the bars over which the pointer was dragged and let go just now; after a click all
std::optional<BarRange> draw_histogram(Ui& ui, std::string_view label,
                                       std::span<const HistogramBar> bars, const BarRange& chosen,
                                       ImVec2 size);

/// The spread of scores: bars of pages by score, both axes logarithmic; and over them the range
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

/// The convergence of a computation: the residual of each iteration, its axis logarithmic, and the
/// precision that was asked for as a line across, unless it is 0. Residuals of 0 are left out.
void draw_residuals(Ui& ui, std::string_view label, std::span<const double> residuals,
                    double precision, ImVec2 size);

struct QueuePlot {
  std::span<const QueueBin> bins;  ///< at least one
  std::span<const QueueRunInfo> runs;
  std::uint64_t page_count = 0;  ///< that wait
  model::PriorityRange chosen;
  bool is_counted = false;  ///< what remains in each bin is exact
};
/// A queue over the axis of its priorities, the highest at the left, and above it that of places:
/// bars of entries, their axis logarithmic, and below them a bar a run. Entries that have left are
/// pale; runs of changes are in another colour.
///   returns  as draw_scores()
std::optional<model::PriorityRange> draw_queue(Ui& ui, std::string_view label,
                                               const QueuePlot& plot, ImVec2 size);

}  // namespace crawlstore::inspector
