// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scores between their computation and their storing.

#include <memory>
#include <variant>
#include <vector>

#include <crawlstore/ranking.h>

#include "io/anonymous_array.h"
#include "scores/owner_graph.h"
#include "scores/stored_array.h"

namespace crawlstore {

struct RankedPages::Impl {
  using Values = std::variant<io::AnonymousArray<float>, io::AnonymousArray<double>>;

  RankReport report;
  std::unique_ptr<const scores::OwnerGraph> owners;  // none: by page
  std::vector<Values> values;                        // of each array
  std::vector<scores::NewArray> arrays;              // spans into the others

  /// Adds an array, which `common` says all of but scorer, name, values and residuals. Residuals
  /// are in the report already, which is told what the array is of, and how far it came.
  void add(const scores::NewArray& common, Scorer scorer, const std::string& name, Values scores);
};

namespace scores {

/// That all pages are in this file. errors kInvalidArgument
Result<void> check_alone(const PageView& pages);

}  // namespace scores
}  // namespace crawlstore
