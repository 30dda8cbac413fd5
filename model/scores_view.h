// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Score arrays and the pages that they put first.
/// Ownership: documents own all they hold. Threads: as Snapshot.

#include <string>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>

#include "model/table.h"

namespace crawlstore::model {

/// The table `scores`: one row an array, of all databases of the generation. errors of damage
Result<Table> scores_table(const Snapshot& snapshot);

/// What was computed, and how; with the table `iterations` if asked for.
Document rank_view(const RankReport& report, bool with_residuals);

struct TopPage {
  std::uint64_t index = 0;
  std::string url;
  double score = 0;
  std::uint64_t in_degree = 0;   ///< pages that link to it
  std::uint64_t out_degree = 0;  ///< pages that it links to
};
/// The best pages of an array, best first. errors of damage
Result<std::vector<TopPage>> top_pages(const PageView& pages, const ScoreView& scores,
                                       std::size_t count);
/// The table `top`. `for_people`: URLs are escaped.
Table top_table(const std::vector<TopPage>& pages, bool for_people);

}  // namespace crawlstore::model
