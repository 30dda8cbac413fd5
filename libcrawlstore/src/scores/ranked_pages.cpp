// SPDX-License-Identifier: Apache-2.0
#include "scores/ranked_pages.h"

#include <utility>

#include "base/inside.h"

namespace crawlstore {

RankedPages::RankedPages(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

const RankReport& RankedPages::report() const {
  return impl_->report;
}

void RankedPages::Impl::add(const scores::NewArray& common, Scorer scorer, const std::string& name,
                            Values scores) {
  scores::NewArray& array = arrays.emplace_back(common);
  array.name = name;
  array.array.scorer = scorer;
  array.residuals = report.residuals;
  if (owners) array.first_pages = owners->first_pages();
  // Mappings of the arrays stay where they are, when their vector grows too.
  std::visit([&array](const auto& mapped) { array.values = mapped.span(); }, scores);
  values.push_back(std::move(scores));
  report.scores.page_count = array.array.page_count;
  report.scores.link_count = array.array.link_count;
  report.scores.generation = array.array.generation;
  if (!report.residuals.empty()) report.scores.residual = report.residuals.back();
}

Result<void> scores::check_alone(const PageView& pages) {
  if (pages.info().shard.is_alone()) return {};
  return fail(Errc::kInvalidArgument,
              "the file is one shard of several, whose pages get scores together only");
}

Result<RankReport> store_ranked(Store& store, const RankedPages& ranked) {
  RankReport report = ranked.report();
  if (!report.converged) return report;
  std::vector<scores::NewArray> arrays = Inside::of(ranked).arrays;
  CRAWLSTORE_TRY(const auto stored, scores::store_arrays(store, arrays));
  report.scores = stored.front();
  if (stored.back().scorer == Scorer::kHitsHub) report.hubs = stored.back();
  return report;
}

}  // namespace crawlstore
