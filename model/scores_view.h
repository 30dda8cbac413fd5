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

/// The scores that were computed, and the way to them; with the table `iterations` if asked for.
Document rank_view(const RankReport& report, bool with_residuals);

/// The name that a score is told by: the URL itself, or its host or registered domain.
std::string ranked_name(std::string url, ScoreSubject subject);

struct TopPage {
  std::uint64_t index = 0;  ///< of a host or domain that of its first page
  std::uint64_t rank = 0;   ///< among all of the array; 1 is the best
  std::string url;          ///< of a host or domain its name
  double score = 0;
  std::optional<std::uint64_t> in_link_count;   ///< pages that link to it; of pages only
  std::optional<std::uint64_t> out_link_count;  ///< pages that it links to
  std::optional<PageState> state;               ///< of pages only, if the record can be read
};
/// The best pages of an array, best first, with their whole URLs. errors of damage
Result<std::vector<TopPage>> top_pages(const PageView& pages, const ScoreView& scores,
                                       std::size_t count);
/// The table `pages`, or that of what else the array is of, `hosts` or `domains`.
Table top_table(const std::vector<TopPage>& pages, ScoreSubject subject);

/// Scores from `low` to `high`, both included, as the array has them: 0.1 also means the float
/// nearest to it.
struct ScoreRange {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool operator==(const ScoreRange&) const = default;
};
/// A question for the best pages of an array.
struct TopQuestion {
  ScoreRange range;
  bool is_of_known = false;  ///< only pages in the state `known`: not crawled yet; not of hosts
  std::size_t count = 0;     ///< at most so many, the best
  bool operator==(const TopQuestion&) const = default;
};
struct RangeTop {
  std::vector<TopPage> pages;      ///< best first; URLs are those of row_url(), to bound memory
  std::uint64_t page_count = 0;    ///< that were looked for, above 0
  std::uint64_t better_count = 0;  ///< above the range
  std::optional<Error> problem;    ///< why the state of a page is not known
};
/// The best of those pages whose score lies in a range; pages with 0 are none of them, nor, where
/// the state matters, those whose record cannot be read.
///   errors  kCancelled; kSegmentInvalid: a value is no score; of damage
///   cost    two passes over the array, and the records where the state matters; memory for
///           `count` pages
Result<RangeTop> top_in_range(const PageView& pages, const ScoreView& scores,
                              const TopQuestion& question, const PagesProgress& progress);

/// The array that a list of the best pages goes by: `pagerank`, or else the first one by page that
/// can be opened; nullptr = there is none.
const ScoresInfo* find_best_scores(const std::vector<ScoresInfo>& arrays);

/// The arrays that can be opened, by name, and why another one cannot.
struct ReadableScores {
  std::vector<ScoresInfo> arrays;
  std::optional<Error> problem;
};
ReadableScores readable_scores(const PageView& pages);

/// The number of better pages, plus 1, in the order of ScoreView::top(); nothing for a page with 0
/// and for one that came since. errors of damage
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
/// The spread of the scores of an array.
///   errors  kCancelled; of damage
///   cost    one pass over the array
Result<ScoreHistogram> score_histogram(const ScoreView& scores, const PagesProgress& progress);

/// Scores that shares of all pages of an array do not exceed, pages with 0 among them.
struct ScoreQuantiles {
  double median = 0;
  double p90 = 0;
  double p99 = 0;
};
/// Each is the lowest score of the array that at least so many pages have at most, exactly, with as
/// few digits as give it back; nothing of an array without pages.
///   errors  kCancelled; of damage
///   cost    two passes over an array of floats, four over one of doubles; 1.5 MiB
Result<std::optional<ScoreQuantiles>> score_quantiles(const ScoreView& scores,
                                                      const PagesProgress& progress);

/// A field `score:NAME` and a field `rank:NAME` of each array, empty for a page that came since,
/// and of an array that cannot be read.
struct ScoreFields {
  std::vector<Field> fields;
  std::map<std::string, Error> problems;  ///< why `score:NAME` cannot be read
};
/// The scores of a page in the arrays of a database.
///   cost  one pass over each array
ScoreFields score_fields(const PageView& pages, std::uint64_t index);

}  // namespace crawlstore::model
