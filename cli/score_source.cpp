// SPDX-License-Identifier: Apache-2.0
#include "cli/score_source.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// Tells which scores there are instead.
std::string missing_scores(const PageView& pages, const PageSourceOptions& source,
                           const ScoresChoice& choice) {
  const std::string path = model::format_printable(source.path);
  std::string text = fmt::format("{}: no scores `{}`", path, model::format_printable(choice.name));
  const auto arrays = ScoreView::list(pages);
  if (!arrays || arrays->empty()) {
    return text +
           fmt::format("; `crawlstore rank {}{}` computes PageRank", path, choice.rank_words);
  }
  if (!choice.rank_words.empty()) {
    text += fmt::format("; `crawlstore rank {}{}` computes them", path, choice.rank_words);
  }
  text += "; there are ";
  for (std::size_t i = 0; i < arrays->size(); ++i) {
    text += fmt::format("{}`{}`", i == 0 ? "" : ", ", (*arrays)[i].name);
  }
  return text + fmt::format(": {} chooses", choice.option);
}

}  // namespace

std::optional<ScoreView> open_scores(const PageView& pages, const PageSourceOptions& source,
                                     const ScoresChoice& choice, int& code) {
  auto scores = ScoreView::open(pages, choice.name);
  if (!scores) {
    code = scores.error().code == Errc::kUnknownName
               ? fail_with(missing_scores(pages, source, choice), kExitNo)
               : fail_with(source.path, scores.error());
    return std::nullopt;
  }
  if (scores->info().subject != ScoreSubject::kPage && !choice.takes_hosts) {
    code = fail_with(
        fmt::format("{}: the scores `{}` are of hosts or domains, not of pages; `crawlstore top "
                    "--name` shows them",
                    model::format_printable(source.path), model::format_printable(choice.name)),
        kExitNo);
    return std::nullopt;
  }
  if (scores->info().is_stale && !choice.quiet) {
    note(
        fmt::format("the scores are of generation {}; pages or links have changed since: "
                    "`crawlstore rank` brings them up to date",
                    scores->info().generation.value));
  }
  return std::move(*scores);
}

}  // namespace crawlstore::cli
