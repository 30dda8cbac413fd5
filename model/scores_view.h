// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Score arrays and the pages that they put first.
/// Ownership: documents own all they hold. Threads: as Snapshot.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>

#include "model/host_rows.h"
#include "model/table.h"

namespace crawlstore::model {

/// The table `scores`: one row an array, of all databases of the generation. errors of damage
Result<Table> scores_table(const Snapshot& snapshot);

/// What was computed, and how; with the table `iterations` if asked for.
Document rank_view(const RankReport& report, bool with_residuals);

/// What a score is told by: the URL itself, or its host or registered domain.
std::string ranked_name(std::string url, ScoreSubject subject);

struct TopPage {
  std::uint64_t index = 0;  ///< of a host or domain that of its first page
  std::string url;          ///< of a host or domain its name
  double score = 0;
  std::optional<std::uint64_t> in_link_count;   ///< pages that link to it; of pages only
  std::optional<std::uint64_t> out_link_count;  ///< pages that it links to
};
/// The best pages of an array, best first, with their whole URLs. errors of damage
Result<std::vector<TopPage>> top_pages(const PageView& pages, const ScoreView& scores,
                                       std::size_t count);
/// The table `top`; rank 1 is the best.
///   better_count  pages that are better than the first of these
Table top_table(const std::vector<TopPage>& pages, std::uint64_t better_count = 0);

/// Scores from `low` to `high`, both included, as the array has them: 0.1 also means the float
/// nearest to it.
struct ScoreRange {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool operator==(const ScoreRange&) const = default;
};
struct RangeTop {
  std::vector<TopPage> pages;      ///< best first; URLs are those of row_url(), to bound memory
  std::uint64_t page_count = 0;    ///< in the range, above 0
  std::uint64_t better_count = 0;  ///< above the range
};
/// The best `count` pages of those whose score lies in a range; pages with 0 are none of them.
///   errors  kCancelled; kSegmentInvalid: a value is no score; of damage
///   cost    one pass over the array; memory for `count` pages
Result<RangeTop> top_in_range(const PageView& pages, const ScoreView& scores,
                              const ScoreRange& range, std::size_t count,
                              const PagesProgress& progress);

/// The arrays that can be opened, by name, and why another one cannot.
struct ReadableScores {
  std::vector<ScoresInfo> arrays;
  std::optional<Error> problem;
};
ReadableScores readable_scores(const PageView& pages);

/// How many better pages there are, plus 1, in the order of ScoreView::top(); nothing for a page
/// with 0 and for one that came since. errors of damage
///   cost  one pass over the array
Result<std::optional<std::uint64_t>> rank_of(const ScoreView& scores, std::uint64_t index);

/// Pages with a score from `low` to below `high`.
struct ScoreBin {
  double low = 0;
  double high = 0;
  std::uint64_t page_count = 0;
};
struct ScoreHistogram {
  std::vector<ScoreBin> bins;    ///< ascending, without gaps, four a power of ten
  std::uint64_t zero_count = 0;  ///< pages with 0, which has no place on such an axis
};
/// How the scores of an array are spread.
///   errors  kCancelled; of damage
///   cost    one pass over the array
Result<ScoreHistogram> score_histogram(const ScoreView& scores, const PagesProgress& progress);

/// A field `score:NAME` and a field `rank:NAME` of each array, empty for a page that came since,
/// and of an array that cannot be read.
struct ScoreFields {
  std::vector<Field> fields;
  std::map<std::string, Error> problems;  ///< why `score:NAME` cannot be read
};
/// What the arrays of a database say of a page.
///   cost  one pass over each array
ScoreFields score_fields(const PageView& pages, std::uint64_t index);

}  // namespace crawlstore::model
