// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two score arrays against each other: a point for each page of a sample, and
/// how alike their orders are. The sample is taken by a job.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "inspector/ui/ui.h"
#include "model/score_pairs.h"

namespace crawlstore::inspector {

/// A pair of arrays; not kept.
struct PairOfScores {
  const std::string& database;  ///< as in PageThing
  const ScoresInfo& x;          ///< to the right
  const ScoresInfo& y;          ///< upwards
};

class ScorePairsPlot {
 public:
  /// Draws it, or that it is being read.
  void draw(Ui& ui, const PageView& pages, const PairOfScores& arrays, ImVec2 size);
  /// Does the same as Panel::let_go().
  void let_go(Jobs& jobs);

 private:
  static constexpr std::size_t kSampleMax = 10'000;
  /// The findings of a job, shared with it.
  struct Found {
    model::ScorePairs sample;
    std::optional<Error> problem;
  };
  /// Segments of both arrays; an array that is replaced has another one.
  using Asked = std::tuple<std::string, std::uint64_t, std::uint64_t>;

  void ask(Ui& ui, const PageView& pages, const PairOfScores& arrays);

  std::optional<Asked> asked_;
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
};

}  // namespace crawlstore::inspector
