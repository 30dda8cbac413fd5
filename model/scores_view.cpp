// SPDX-License-Identifier: Apache-2.0
#include "model/scores_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/registered_domain.h>

#include "model/best_pages.h"
#include "model/page_rows.h"
#include "model/page_source.h"

namespace crawlstore::model {
namespace {

// Bins of all finite doubles; those that no score is in are cut off at both ends.
constexpr int kBinsADecade = 4;
constexpr int kBinsBelow1 = 324 * kBinsADecade;
constexpr int kBinsFrom1 = 309 * kBinsADecade;
constexpr std::uint64_t kScoresAStep = 1 << 20;

/// As the registry has it.
std::string subject_name(ScoreSubject subject) {
  if (subject == ScoreSubject::kPage) return "page";
  return subject == ScoreSubject::kHost ? "host" : "domain";
}

Cell cell_of(const std::optional<std::uint64_t>& number) {
  return number ? Cell{*number} : Cell{};
}

bool is_score_above_0(double score) {
  return score > 0 && std::isfinite(score);
}

double bin_edge(std::size_t bin) {
  return std::pow(10, static_cast<double>(static_cast<int>(bin) - kBinsBelow1) / kBinsADecade);
}

/// Calls `look` with the array, of floats or of doubles.
template <class Look>
Result<void> look_at(const ScoreView& scores, const Look& look) {
  if (scores.info().has_doubles) {
    CRAWLSTORE_TRY(const auto values, scores.doubles());
    return look(values);
  }
  CRAWLSTORE_TRY(const auto values, scores.floats());
  return look(values);
}

/// Of pages, or of the hosts or domains that the array is of.
Result<std::vector<TopPage>> describe_pages(const PageView& pages, ScoreSubject subject,
                                            std::span<const ScoredPage> best, bool cuts_urls) {
  std::vector<TopPage> top;
  top.reserve(best.size());
  for (const ScoredPage& page : best) {
    CRAWLSTORE_TRY(auto url, pages.url(page.index));
    if (subject != ScoreSubject::kPage) {
      top.push_back({page.index, ranked_name(std::move(url), subject), page.score, {}, {}});
      continue;
    }
    CRAWLSTORE_TRY(const auto in, pages.in_links(page.index));
    CRAWLSTORE_TRY(const auto out, pages.out_links(page.index));
    if (cuts_urls) url = row_url(url);
    top.push_back({page.index, std::move(url), page.score, in.size(), out.size()});
  }
  return top;
}

/// Adds nothing for an array of hosts or domains.
Result<void> add_fields(const PageView& pages, const std::string& name, std::uint64_t index,
                        std::vector<Field>& fields) {
  CRAWLSTORE_TRY(const auto scores, ScoreView::open(pages, name));
  if (scores.info().subject != ScoreSubject::kPage) return {};
  CRAWLSTORE_TRY(const auto score, scores.score(index));
  CRAWLSTORE_TRY(const auto rank, rank_of(scores, index));
  fields.push_back({"score:" + name, Unit::kScore, score ? Cell(*score) : Cell()});
  fields.push_back({"rank:" + name, Unit::kCount, cell_of(rank)});
  return {};
}

}  // namespace

std::string ranked_name(std::string url, ScoreSubject subject) {
  if (subject == ScoreSubject::kPage) return url;
  std::string host = url_host(url);
  return subject == ScoreSubject::kHost ? host : registered_domain(host);
}

Result<Table> scores_table(const Snapshot& snapshot) {
  Table table{"scores",
              {{"database", Unit::kText},
               {"name", Unit::kText},
               {"id", Unit::kId},
               {"scorer", Unit::kText},
               {"subject", Unit::kText},
               {"is_stale", Unit::kFlag},
               {"page_count", Unit::kCount},
               {"link_count", Unit::kCount},
               {"generation", Unit::kId},
               {"time_us", Unit::kTimeUs},
               {"damping", Unit::kExact},
               {"precision", Unit::kExact},
               {"residual", Unit::kScore},
               {"iteration_count", Unit::kCount},
               {"sum", Unit::kScore},
               {"is_content_weighted", Unit::kFlag},
               {"is_personalised", Unit::kFlag},
               {"has_doubles", Unit::kFlag},
               {"allocated_bytes", Unit::kBytes}},
              {}};
  for (const std::string& database : PageView::names(snapshot)) {
    CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, database));
    CRAWLSTORE_TRY(const auto arrays, ScoreView::list(pages));
    for (const ScoresInfo& info : arrays) {
      table.rows.push_back({database, info.name, info.id.value, std::string(name_of(info.scorer)),
                            subject_name(info.subject), info.is_stale, info.page_count,
                            info.link_count, info.generation.value, info.time_us, info.damping,
                            info.precision, info.residual, std::uint64_t{info.iteration_count},
                            info.sum, info.is_content_weighted, info.is_personalised,
                            info.has_doubles, info.allocated_bytes});
    }
  }
  return table;
}

Document rank_view(const RankReport& report, bool with_residuals) {
  if (report.scores.scorer == Scorer::kOpicCash) {
    return {{{"page_count", Unit::kCount, report.scores.page_count},
             {"link_count", Unit::kCount, report.scores.link_count},
             {"generation", Unit::kId, report.scores.generation.value},
             {"opic_home_count", Unit::kCount, report.home_count},
             {"opic_giver_count", Unit::kCount, report.giver_count},
             {"read_seconds", Unit::kSeconds, report.build_seconds},
             {"solve_seconds", Unit::kSeconds, report.solve_seconds},
             {"memory_bytes", Unit::kBytes, report.memory_bytes}},
            {}};
  }
  Document document{{{"is_converged", Unit::kFlag, report.converged},
                     {"page_count", Unit::kCount, report.scores.page_count},
                     {"link_count", Unit::kCount, report.scores.link_count},
                     {"generation", Unit::kId, report.scores.generation.value},
                     {"iteration_count", Unit::kCount, std::uint64_t{report.residuals.size()}},
                     {"residual", Unit::kScore, report.scores.residual},
                     {"read_seconds", Unit::kSeconds, report.build_seconds},
                     {"solve_seconds", Unit::kSeconds, report.solve_seconds},
                     {"memory_bytes", Unit::kBytes, report.memory_bytes}},
                    {}};
  if (!report.hubs.name.empty()) {
    document.fields.push_back({"authorities", Unit::kText, report.scores.name});
    document.fields.push_back({"hubs", Unit::kText, report.hubs.name});
  }
  if (!with_residuals) return document;
  Table table{"iterations", {{"iteration", Unit::kId}, {"residual", Unit::kScore}}, {}};
  for (std::size_t i = 0; i < report.residuals.size(); ++i) {
    table.rows.push_back({std::uint64_t{i + 1}, report.residuals[i]});
  }
  document.tables.push_back(std::move(table));
  return document;
}

Result<std::vector<TopPage>> top_pages(const PageView& pages, const ScoreView& scores,
                                       std::size_t count) {
  CRAWLSTORE_TRY(const auto best, scores.top(count));
  return describe_pages(pages, scores.info().subject, best, false);
}

Result<RangeTop> top_in_range(const PageView& pages, const ScoreView& scores,
                              const ScoreRange& range, std::size_t count,
                              const PagesProgress& progress) {
  RangeTop top;
  BestPages best(count);
  const auto look = [&](const auto& values) -> Result<void> {
    using Value = std::remove_cvref_t<decltype(values[0])>;
    const auto as_kept = [](double score) {
      return static_cast<Value>(
          std::clamp(score, 0.0, static_cast<double>(std::numeric_limits<Value>::max())));
    };
    const Value low = as_kept(range.low);
    const Value high = as_kept(range.high);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      if (i % kScoresAStep == 0 && !progress(i, values.size())) {
        return fail(Errc::kCancelled, "cancelled");
      }
      const Value score = values[i];
      // It says where the value is that is no score.
      if (!std::isfinite(score) || std::signbit(score)) CRAWLSTORE_TRY(scores.top(1));
      if (!is_score_above_0(static_cast<double>(score)) || score < low) continue;
      if (score > high) {
        ++top.better_count;
        continue;
      }
      ++top.page_count;
      best.add({i, static_cast<double>(score)});
    }
    return {};
  };
  CRAWLSTORE_TRY(look_at(scores, look));
  std::vector<ScoredPage> found = best.take();
  const ScoreSubject subject = scores.info().subject;
  if (subject != ScoreSubject::kPage) {
    CRAWLSTORE_TRY(const auto first, scores.first_pages());
    for (ScoredPage& page : found) page.index = first[page.index];
  }
  CRAWLSTORE_TRY(top.pages, describe_pages(pages, subject, found, true));
  return top;
}

Table top_table(const std::vector<TopPage>& pages, std::uint64_t better_count) {
  Table table{"pages",
              {{"index", Unit::kId},
               {"rank", Unit::kCount},
               {"score", Unit::kScore},
               {"in_link_count", Unit::kCount},
               {"out_link_count", Unit::kCount},
               {"url", Unit::kText}},
              {}};
  for (const TopPage& page : pages) {
    table.rows.push_back({page.index, better_count + table.rows.size() + 1, page.score,
                          cell_of(page.in_link_count), cell_of(page.out_link_count), page.url});
  }
  return table;
}

Result<std::optional<std::uint64_t>> rank_of(const ScoreView& scores, std::uint64_t index) {
  CRAWLSTORE_TRY(const auto score, scores.score(index));
  if (!score || !is_score_above_0(*score)) return std::nullopt;
  std::uint64_t rank = 1;
  CRAWLSTORE_TRY(look_at(scores, [&](const auto& values) -> Result<void> {
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const auto other = static_cast<double>(values[i]);
      if (!std::isfinite(other)) continue;
      rank += other > *score || (other == *score && i < index) ? 1U : 0U;
    }
    return {};
  }));
  return rank;
}

Result<ScoreHistogram> score_histogram(const ScoreView& scores, const PagesProgress& progress) {
  ScoreHistogram histogram;
  std::vector<std::uint64_t> counts(kBinsBelow1 + kBinsFrom1);
  CRAWLSTORE_TRY(look_at(scores, [&](const auto& values) -> Result<void> {
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      if (i % kScoresAStep == 0 && !progress(i, values.size())) {
        return fail(Errc::kCancelled, "cancelled");
      }
      const auto score = static_cast<double>(values[i]);
      if (is_score_above_0(score)) {
        const double bin = std::floor(std::log10(score) * kBinsADecade) + kBinsBelow1;
        ++counts[static_cast<std::size_t>(bin)];
      } else {
        ++histogram.zero_count;
      }
    }
    return {};
  }));
  const auto is_filled = [](std::uint64_t count) { return count > 0; };
  const auto first = std::ranges::find_if(counts, is_filled);
  if (first == counts.end()) return histogram;
  const auto end = std::find_if(counts.rbegin(), counts.rend(), is_filled).base();
  for (auto at = first; at != end; ++at) {
    const auto bin = static_cast<std::size_t>(at - counts.begin());
    histogram.bins.push_back({bin_edge(bin), bin_edge(bin + 1), *at});
  }
  return histogram;
}

ReadableScores readable_scores(const PageView& pages) {
  ReadableScores found;
  for (const std::string& name : ScoreView::names(pages)) {
    const auto scores = ScoreView::open(pages, name);
    if (scores) {
      found.arrays.push_back(scores->info());
    } else {
      found.problem = scores.error();
    }
  }
  return found;
}

ScoreFields score_fields(const PageView& pages, std::uint64_t index) {
  ScoreFields found;
  for (const std::string& name : ScoreView::names(pages)) {
    const auto added = add_fields(pages, name, index, found.fields);
    if (added) continue;
    found.problems.emplace("score:" + name, added.error());
    found.fields.push_back({"score:" + name, Unit::kScore, {}});
    found.fields.push_back({"rank:" + name, Unit::kCount, {}});
  }
  return found;
}

}  // namespace crawlstore::model
