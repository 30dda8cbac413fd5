// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/score_pairs_plot.h"

#include <fmt/format.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/plot.h"
#include "model/format_text.h"
#include "model/page_source.h"

namespace crawlstore::inspector {
namespace {

/// Describes the sample in one line of the title.
std::string describe_sample(const model::ScorePairs& sample) {
  std::string text = "no rank correlation";
  if (sample.rank_correlation) {
    text = fmt::format("rank correlation {:.3f}", *sample.rank_correlation);
  }
  if (sample.even_count == sample.page_count) {
    return text + " of " + model::format_counted(sample.page_count, "page");
  }
  return text + " of " + model::format_count(sample.even_count) + " evenly spaced of " +
         model::format_counted(sample.page_count, "page") + "; points also of the best";
}

}  // namespace

void ScorePairsPlot::let_go(Jobs& jobs) {
  jobs.cancel_slot("score pairs");
  *found_ = nullptr;
  asked_.reset();
}

void ScorePairsPlot::ask(Ui& ui, const PageView& pages, const PairOfScores& arrays) {
  const Asked wanted{arrays.database, arrays.x.id.value, arrays.y.id.value};
  if (asked_ == wanted) return;
  asked_ = wanted;
  *found_ = nullptr;
  const std::string title = shown_text(arrays.y.name) + " against " + shown_text(arrays.x.name);
  ui.jobs.start("scores " + title, "score pairs",
                [pages, of_x = arrays.x.name, of_y = arrays.y.name,
                 box = found_](JobContext& context) -> Jobs::Finish {
                  auto found = std::make_shared<Found>();
                  const auto look = [&]() -> Result<void> {
                    CRAWLSTORE_TRY(const auto right, ScoreView::open(pages, of_x));
                    CRAWLSTORE_TRY(const auto up, ScoreView::open(pages, of_y));
                    CRAWLSTORE_TRY(found->sample,
                                   model::score_pairs(right, up, kSampleMax, [&](auto... at) {
                                     return context.progress(at...);
                                   }));
                    return {};
                  };
                  const auto read = look();
                  if (!read) found->problem = read.error();
                  return [box, found] { *box = found; };
                });
}

void ScorePairsPlot::draw(Ui& ui, const PageView& pages, const PairOfScores& arrays, ImVec2 size) {
  ask(ui, pages, arrays);
  if (*found_ == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
  const Found& found = **found_;
  if (found.problem) return draw_problem(ui, *found.problem);
  draw_text(ui, fit_text(ui, describe_sample(found.sample), size.x), ui.palette.faint);
  size.y -= ImGui::GetTextLineHeightWithSpacing();
  const auto at = draw_pairs(ui, "scores.pair", found.sample.pairs, size);
  const bool is_clicked = ImGui::IsItemClicked();
  if (!at) return;
  const model::ScorePair& pair = found.sample.pairs[*at];
  const auto score = [](double value) { return model::format_cell(value, model::Unit::kScore); };
  const auto url = pages.url(pair.index);
  ImGui::BeginTooltip();
  draw_text(ui, fit_middle(ui, shown_text(url ? model::row_url(*url) : describe(url.error())),
                           ui.px(500)));
  draw_text(ui, shown_text(arrays.x.name) + " " + score(pair.x) + ", " + shown_text(arrays.y.name) +
                    " " + score(pair.y));
  ImGui::EndTooltip();
  if (is_clicked) ui.actions.go({"page_detail", PageThing{arrays.database, pair.index}});
}

}  // namespace crawlstore::inspector
