// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <crawlstore/scores.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_source.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/scores_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  PageSourceOptions source;
  std::string name{ScoreView::kDefaultName};
  std::optional<std::uint64_t> count;
  bool as_json = false;
};

/// What there is instead.
std::string missing_scores(const PageView& pages, const Options& options) {
  const std::string path = model::format_printable(options.source.path);
  std::string text = fmt::format("{}: no scores `{}`", path, model::format_printable(options.name));
  const auto arrays = ScoreView::list(pages);
  if (!arrays || arrays->empty()) {
    return text + fmt::format("; `crawlstore rank {}` computes PageRank", path);
  }
  text += "; there are ";
  for (std::size_t i = 0; i < arrays->size(); ++i) {
    text += fmt::format("{}`{}`", i == 0 ? "" : ", ", (*arrays)[i].name);
  }
  return text + ": --by NAME chooses";
}

int run(const Options& options) {
  int code = kExitDone;
  const auto pages = open_pages(options.source, code);
  if (!pages) return code;
  const auto scores = ScoreView::open(*pages, options.name);
  if (!scores) {
    return scores.error().code == Errc::kUnknownName
               ? fail_with(missing_scores(*pages, options), kExitNo)
               : fail_with(options.source.path, scores.error());
  }
  if (scores->info().is_stale) {
    note(
        fmt::format("the scores are of generation {}; pages or links have changed since: "
                    "`crawlstore rank` brings them up to date",
                    scores->info().generation.value));
  }
  const auto top = model::top_pages(*pages, *scores, options.count.value_or(10));
  if (!top) return fail_with(options.source.path, top.error());
  return print_document({{}, {model::top_table(*top, !options.as_json)}}, options.as_json);
}

}  // namespace

Action define_top(Parser& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "Highest score first, ties by index; pages without a score, and those with 0, are left out. "
      "Exit code 1 when "
      "there are no such scores: `crawlstore rank` computes them.");
  add_page_source(parser, options->source);
  parser.text("--by NAME", options->name, "the scores to go by (default: pagerank)");
  add_count(parser, "-n,--limit", options->count, "so many pages (default: 10)", {1, 100'000'000});
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
