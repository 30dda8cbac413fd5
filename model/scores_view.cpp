// SPDX-License-Identifier: Apache-2.0
#include "model/scores_view.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/registered_domain.h>

#include "model/best_pages.h"
#include "model/page_fields.h"
#include "model/page_source.h"

namespace crawlstore::model {
namespace {

// Bins of all finite doubles; those that no score is in are cut off at both ends.
constexpr int kBinsADecade = 4;
constexpr int kBinsBelow1 = 324 * kBinsADecade;
constexpr int kBinsFrom1 = 309 * kBinsADecade;
constexpr std::uint64_t kScoresAStep = 1 << 20;

/// The name in the registry.
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

/// Describes pages, or the hosts or domains that the array is of.
Result<std::vector<TopPage>> describe_pages(const PageView& pages, ScoreSubject subject,
                                            std::span<const ScoredPage> best, bool cuts_urls) {
  std::vector<TopPage> top;
  top.reserve(best.size());
  for (const ScoredPage& page : best) {
    CRAWLSTORE_TRY(auto url, pages.url(page.index));
    if (subject != ScoreSubject::kPage) {
      top.push_back({page.index,
                     top.size() + 1,
                     ranked_name(std::move(url), subject),
                     page.score,
                     {},
                     {},
                     {}});
      continue;
    }
    CRAWLSTORE_TRY(const auto in, pages.in_links(page.index));
    CRAWLSTORE_TRY(const auto out, pages.out_links(page.index));
    if (cuts_urls) url = row_url(url);
    const auto state = pages.state(page.index);
    top.push_back({page.index, top.size() + 1, std::move(url), page.score, in.size(), out.size(),
                   state ? std::optional(*state) : std::nullopt});
  }
  return top;
}

tl::unexpected<Error> stopped() {
  return fail(Errc::kCancelled, "cancelled");
}

/// Among all of the array, of pages in the order of ScoreView::top().
///   cost  one pass over the array
Result<std::vector<std::uint64_t>> ranks_of(const ScoreView& scores,
                                            std::span<const ScoredPage> pages,
                                            const PagesProgress& progress) {
  std::vector<std::uint64_t> ranks(pages.size());
  CRAWLSTORE_TRY(look_at(scores, [&](const auto& values) -> Result<void> {
    for (std::uint64_t i = 0; i < values.size() && !pages.empty(); ++i) {
      if (i % kScoresAStep == 0 && !progress(i, values.size())) return stopped();
      const ScoredPage page{i, static_cast<double>(values[i])};
      if (!BestPages::is_better(page, pages.back())) continue;
      const auto worse = std::ranges::upper_bound(pages, page, BestPages::is_better);
      ++ranks[static_cast<std::size_t>(worse - pages.begin())];
    }
    return {};
  }));
  std::uint64_t better_count = 0;
  for (std::uint64_t& rank : ranks) rank = (better_count += rank) + 1;
  return ranks;
}

double short_score(float score) {
  return score_value(score);
}
double short_score(double score) {
  return score;
}

/// The values at these places of the array in ascending order. Bits of numbers that are not
/// negative are in their order: 16 of them a pass.
template <class Value>
Result<std::array<Value, 3>> values_at(std::span<const Value> values,
                                       std::array<std::uint64_t, 3> places,
                                       const PagesProgress& progress) {
  using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  constexpr unsigned kBitsAPass = 16;
  constexpr Bits kMask = (1U << kBitsAPass) - 1;
  std::array<Bits, 3> found{};
  for (unsigned shift = 8 * sizeof(Value); shift > 0;) {
    shift -= kBitsAPass;
    std::array<std::vector<std::uint64_t>, 3> counts;
    for (auto& of_place : counts) of_place.resize(kMask + 1);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      if (i % kScoresAStep == 0 && !progress(i, values.size())) return stopped();
      const auto bits = std::bit_cast<Bits>(values[i]);
      for (std::size_t k = 0; k < places.size(); ++k) {
        const bool is_near = bits >> shift >> kBitsAPass == found[k] >> shift >> kBitsAPass;
        counts[k][bits >> shift & kMask] += is_near ? 1U : 0U;
      }
    }
    for (std::size_t k = 0; k < places.size(); ++k) {
      Bits digit = 0;
      while (places[k] >= counts[k][digit]) places[k] -= counts[k][digit++];
      found[k] |= digit << shift;
    }
  }
  std::array<Value, 3> result{};
  std::ranges::transform(found, result.begin(),
                         [](Bits bits) { return std::bit_cast<Value>(bits); });
  return result;
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
                              const TopQuestion& question, const PagesProgress& progress) {
  RangeTop top;
  BestPages best(question.count);
  const auto is_looked_for = [&](std::uint64_t index) {
    if (!question.is_of_known || scores.info().subject != ScoreSubject::kPage) return true;
    const auto state = pages.state(index);
    if (!state) top.problem = state.error();
    return state && *state == PageState::kKnown;
  };
  const auto look = [&](const auto& values) -> Result<void> {
    using Value = std::remove_cvref_t<decltype(values[0])>;
    const auto as_kept = [](double score) {
      return static_cast<Value>(
          std::clamp(score, 0.0, static_cast<double>(std::numeric_limits<Value>::max())));
    };
    const Value low = as_kept(question.range.low);
    const Value high = as_kept(question.range.high);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      if (i % kScoresAStep == 0 && !progress(i, values.size())) return stopped();
      const Value score = values[i];
      // It says where the value is that is no score.
      if (!std::isfinite(score) || std::signbit(score)) CRAWLSTORE_TRY(scores.top(1));
      if (!is_score_above_0(static_cast<double>(score)) || score < low) continue;
      if (score > high) {
        ++top.better_count;
      } else if (is_looked_for(i)) {
        ++top.page_count;
        best.add({i, static_cast<double>(score)});
      }
    }
    return {};
  };
  CRAWLSTORE_TRY(look_at(scores, look));
  std::vector<ScoredPage> found = best.take();
  CRAWLSTORE_TRY(const auto ranks, ranks_of(scores, found, progress));
  const ScoreSubject subject = scores.info().subject;
  if (subject != ScoreSubject::kPage) {
    CRAWLSTORE_TRY(const auto first, scores.first_pages());
    for (ScoredPage& page : found) page.index = first[page.index];
  }
  CRAWLSTORE_TRY(top.pages, describe_pages(pages, subject, found, true));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    TopPage& page = top.pages[i];
    page.rank = ranks[i];
    if (page.state || subject != ScoreSubject::kPage) continue;
    const auto state = pages.state(page.index);
    if (!state) top.problem = state.error();
  }
  return top;
}

Table top_table(const std::vector<TopPage>& pages, ScoreSubject subject) {
  if (subject != ScoreSubject::kPage) {
    const std::string name = subject_name(subject);
    Table table{name + "s",
                {{"first_page", Unit::kId},
                 {"rank", Unit::kCount},
                 {"score", Unit::kScore},
                 {name, Unit::kText}},
                {}};
    for (const TopPage& page : pages) {
      table.rows.push_back({page.index, page.rank, page.score, page.url});
    }
    return table;
  }
  Table table{"pages",
              {{"index", Unit::kId},
               {"rank", Unit::kCount},
               {"score", Unit::kScore},
               {"state", Unit::kText},
               {"in_link_count", Unit::kCount},
               {"out_link_count", Unit::kCount},
               {"url", Unit::kText}},
              {}};
  for (const TopPage& page : pages) {
    table.rows.push_back({page.index, page.rank, page.score,
                          page.state ? Cell(std::string(name_of(*page.state))) : Cell(),
                          cell_of(page.in_link_count), cell_of(page.out_link_count), page.url});
  }
  return table;
}

const ScoresInfo* find_best_scores(const std::vector<ScoresInfo>& arrays) {
  const ScoresInfo* best = nullptr;
  for (const ScoresInfo& array : arrays) {
    if (array.subject != ScoreSubject::kPage) continue;
    if (array.name == ScoreView::kDefaultName) return &array;
    if (best == nullptr) best = &array;
  }
  return best;
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
      if (i % kScoresAStep == 0 && !progress(i, values.size())) return stopped();
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

Result<std::optional<ScoreQuantiles>> score_quantiles(const ScoreView& scores,
                                                      const PagesProgress& progress) {
  std::optional<ScoreQuantiles> quantiles;
  CRAWLSTORE_TRY(look_at(scores, [&](const auto& values) -> Result<void> {
    const std::uint64_t count = values.size();
    if (count == 0) return {};
    const auto place = [count](std::uint64_t percent) { return (count * percent + 99) / 100 - 1; };
    CRAWLSTORE_TRY(const auto found,
                   values_at(values, {place(50), place(90), place(99)}, progress));
    quantiles = {short_score(found[0]), short_score(found[1]), short_score(found[2])};
    return {};
  }));
  return quantiles;
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
