// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/scores.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_source.h"
#include "cli/score_source.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/scores_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  PageSourceOptions source;
  std::string name{ScoreView::kDefaultName};
  std::optional<std::uint64_t> count;
  TableForm form;
};

int run(const Options& options) {
  int code = kExitDone;
  const auto pages = open_pages(options.source, code);
  if (!pages) return code;
  const ScoresChoice choice{.name = options.name, .option = "--by NAME", .takes_hosts = true};
  const auto scores = open_scores(*pages, options.source, choice, code);
  if (!scores) return code;
  const auto top = model::top_pages(*pages, *scores, options.count.value_or(10));
  if (!top) return fail_with(options.source.path, top.error());
  return print_document({{}, {model::top_table(*top)}}, options.form);
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
  add_table_form(parser, options->form);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
