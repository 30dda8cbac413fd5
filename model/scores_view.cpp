// SPDX-License-Identifier: Apache-2.0
#include "model/scores_view.h"

#include "model/page_rows.h"

namespace crawlstore::model {

Result<Table> scores_table(const Snapshot& snapshot) {
  Table table{"scores",
              {{"database", Unit::kText},
               {"name", Unit::kText},
               {"id", Unit::kId},
               {"scorer", Unit::kText},
               {"is_stale", Unit::kFlag},
               {"page_count", Unit::kCount},
               {"link_count", Unit::kCount},
               {"generation", Unit::kId},
               {"time", Unit::kTimeUs},
               {"damping", Unit::kScore},
               {"precision", Unit::kScore},
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
                            info.is_stale, info.page_count, info.link_count, info.generation.value,
                            info.time_us, info.damping, info.precision, info.residual,
                            std::uint64_t{info.iteration_count}, info.sum, info.is_content_weighted,
                            info.is_personalised, info.has_doubles, info.allocated_bytes});
    }
  }
  return table;
}

Document rank_view(const RankReport& report, bool with_residuals) {
  Document document{{{"converged", Unit::kFlag, report.converged},
                     {"pages", Unit::kCount, report.scores.page_count},
                     {"links", Unit::kCount, report.scores.link_count},
                     {"generation", Unit::kId, report.scores.generation.value},
                     {"iteration_count", Unit::kCount, std::uint64_t{report.residuals.size()}},
                     {"residual", Unit::kScore, report.scores.residual},
                     {"read_seconds", Unit::kSeconds, report.build_seconds},
                     {"solve_seconds", Unit::kSeconds, report.solve_seconds},
                     {"memory_bytes", Unit::kBytes, report.memory_bytes}},
                    {}};
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
  std::vector<TopPage> top;
  top.reserve(best.size());
  for (const ScoredPage& page : best) {
    CRAWLSTORE_TRY(auto url, pages.url(page.index));
    CRAWLSTORE_TRY(const auto in, pages.in_links(page.index));
    CRAWLSTORE_TRY(const auto out, pages.out_links(page.index));
    top.push_back({page.index, std::move(url), page.score, in.size(), out.size()});
  }
  return top;
}

Table top_table(const std::vector<TopPage>& pages, bool for_people) {
  Table table{"top",
              {{"index", Unit::kId},
               {"score", Unit::kScore},
               {"in_degree", Unit::kCount},
               {"out_degree", Unit::kCount},
               {"url", Unit::kText}},
              {}};
  for (const TopPage& page : pages) {
    table.rows.push_back({page.index, page.score, page.in_degree, page.out_degree,
                          for_people ? shown_url(page.url) : page.url});
  }
  return table;
}

}  // namespace crawlstore::model
