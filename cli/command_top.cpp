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

const char* const kTopByPage = "page";

struct TopOptions {
  PageSourceOptions source;
  std::string by = kTopByPage;
  std::string name;  // empty: what `rank --by` calls them
  std::optional<std::uint64_t> count;
  TableForm form;
};

int run(const TopOptions& options) {
  int code = kExitDone;
  const auto pages = open_pages(options.source, code);
  if (!pages) return code;
  const bool is_of_pages = options.by == kTopByPage;
  std::string name = options.name;
  if (name.empty()) {
    name = ScoreView::kDefaultName;
    if (!is_of_pages) name += "_by_" + options.by;
  }
  const std::string rank_words = is_of_pages ? "" : " --by " + options.by;
  const ScoresChoice choice{
      .name = name, .option = "--name NAME", .takes_hosts = true, .rank_words = rank_words};
  const auto scores = open_scores(*pages, options.source, choice, code);
  if (!scores) return code;
  const auto top = model::top_pages(*pages, *scores, options.count.value_or(10));
  if (!top) return fail_with(options.source.path, top.error());
  return print_document({{}, {model::top_table(*top, scores->info().subject)}}, options.form);
}

}  // namespace

Action define_top(Parser& parser) {
  auto options = std::make_shared<TopOptions>();
  parser.footer(
      "Highest score first, ties by index; pages without a score, and those with 0, are left out. "
      "A host or domain has the index of its first page, `first_page`. Exit code 1 when there are "
      "no such scores: `crawlstore rank` computes them.");
  add_page_source(parser, options->source);
  const auto by = parser
                      .text("--by WHAT", options->by,
                            "page (default), host or domain: a row each, by the scores that `rank "
                            "--by` made")
                      .one_of({kTopByPage, "host", "domain"});
  parser
      .text("--name NAME", options->name,
            "the scores (default: pagerank, pagerank_by_host, pagerank_by_domain)")
      .excludes(by);
  add_count(parser, "-n,--limit", options->count, "so many rows (default: 10)", {1, 100'000'000});
  add_table_form(parser, options->form);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
