// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <crawlstore/ranking.h>
#include <crawlstore/tools/supersteps.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/page_source.h"
#include "cli/progress.h"
#include "cli/score_source.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/parse_text.h"
#include "model/supersteps_view.h"

namespace crawlstore::cli {
namespace {

constexpr std::string_view kByIndex = "index";
constexpr std::string_view kByPageRank = "pagerank";
constexpr std::string_view kByScore = "score:";
constexpr std::string_view kByBlock = "block:";
constexpr std::uint64_t kBlockPages = 500;

struct SuperstepsOptions {
  PageSourceOptions source;
  std::optional<std::uint64_t> processor_count;
  std::string order{kByPageRank};
  std::string site;  ///< empty: host with URLs, else blocks
  double error = 0.01;
  std::optional<std::uint64_t> tolerance;
  std::string svg_path;
  bool shows_curve = false;
  bool is_as_printed = false;
  bool as_json = false;
  bool quiet = false;
};

/// Pages of the blocks that a word such as block:500 asks for; nothing: it is none.
std::optional<std::uint64_t> parse_block(std::string_view word) {
  if (!word.starts_with(kByBlock)) return std::nullopt;
  const auto pages = model::parse_count(word.substr(kByBlock.size()));
  return pages && *pages > 0 ? pages : std::nullopt;
}

/// Returns the exit code of a library call that failed, and has said why.
int fail_stopped(const Error& error, const StopSignals& stop, const SuperstepsOptions& options) {
  if (error.code == Errc::kCancelled && stop.requested() != 0) {
    return exit_code_of_signal(stop.requested());
  }
  return fail_with(options.source.path, error);
}

/// Orders pages by PageRank, which is computed and not kept.
Result<std::vector<std::uint32_t>> order_by_rank(const PageView& pages, const StopSignals& stop,
                                                 const SuperstepsOptions& options) {
  if (pages.info().page_count == 0) return extraction_order(pages);
  ProgressBar bar("rank", model::Unit::kCount, "iterations", options.quiet);
  RankOptions rank;
  rank.memory_bytes = memory_limit_bytes() / 4 * 3;
  rank.folder = std::filesystem::absolute(options.source.path).parent_path();
  rank.progress = [&](std::uint32_t iteration, double residual) {
    bar.update(iteration, -1,
               iteration == 0 ? "reading links" : fmt::format("residual {:.2e}", residual));
    return stop.requested() == 0;
  };
  CRAWLSTORE_TRY(const auto ranked, compute_rank(pages, rank));
  return extraction_order(pages, ranked);
}

/// Finds the order that was asked for. On failure says why; nothing, and the exit code in `code`.
std::optional<std::vector<std::uint32_t>> find_order(const PageView& pages, const StopSignals& stop,
                                                     const SuperstepsOptions& options, int& code) {
  Result<std::vector<std::uint32_t>> order;
  if (options.order == kByIndex) {
    order = extraction_order(pages);
  } else if (options.order == kByPageRank) {
    const auto stored = ScoreView::open(pages);
    const bool is_fresh =
        stored && !stored->info().is_stale && stored->info().subject == ScoreSubject::kPage;
    order = is_fresh ? extraction_order(pages, *stored) : order_by_rank(pages, stop, options);
  } else {
    const std::string name = options.order.substr(kByScore.size());
    const auto scores =
        open_scores(pages, options.source,
                    {.name = name, .option = "--order score:NAME", .quiet = options.quiet}, code);
    if (!scores) return std::nullopt;
    order = extraction_order(pages, *scores);
  }
  if (order) return std::move(*order);
  code = fail_stopped(order.error(), stop, options);
  return std::nullopt;
}

/// Runs what was asked for.
Result<model::SuperstepStudy> study(const SuperstepSample& sample, const StopSignals& stop,
                                    const SuperstepsOptions& options) {
  model::SuperstepStudy done;
  WorkBar bar("supersteps", stop, options.quiet, "pages");
  if (!options.tolerance) {
    CRAWLSTORE_TRY(auto found, sample.search(options.error, bar.progress()));
    done.error_bound = options.error;
    done.best = found.best;
    done.is_unbounded = found.is_unbounded;
    done.runs = std::move(found.runs);
    return done;
  }
  CRAWLSTORE_TRY(done.best, sample.run(*options.tolerance, bar.progress()));
  done.is_unbounded = done.best->superstep_count <= 1;
  if (options.shows_curve || !options.svg_path.empty()) {
    CRAWLSTORE_TRY(auto found, sample.search(1, bar.progress()));
    done.runs = std::move(found.runs);
  }
  const auto is_asked = [&](const SuperstepRun& run) {
    return run.tolerance == *options.tolerance;
  };
  if (std::ranges::none_of(done.runs, is_asked)) done.runs.push_back(*done.best);
  std::ranges::sort(done.runs, {}, &SuperstepRun::tolerance);
  return done;
}

Result<void> write_svg(const std::string& path, const model::SuperstepStudy& done) {
  CRAWLSTORE_TRY(auto output, OutputFile::open(path));
  output.tail() += model::supersteps_svg(done);
  return output.finish();
}

void tell_oddities(const model::SuperstepStudy& done) {
  if (done.site_count < done.processor_count) {
    note(fmt::format("{} for {}: some have no pages",
                     model::format_counted(done.site_count, "site"),
                     model::format_counted(done.processor_count, "processor")));
  }
  if (done.remote_link_count == 0) {
    note("no link leads from one processor to another: supersteps need no bound");
  }
}

int print_study(const model::SuperstepStudy& done, const SuperstepsOptions& options) {
  if (!options.svg_path.empty()) {
    const auto written = write_svg(options.svg_path, done);
    if (!written) return fail_with_output(options.svg_path, written.error());
  }
  if (!options.quiet) tell_oddities(done);
  const auto document = model::supersteps_view(done, options.shows_curve || options.as_json);
  const int code = print_document(document, options.as_json);
  if (code != kExitDone || done.best) return code;
  return fail_with(fmt::format("{}: no tolerance keeps the mean error at or below {}: even with 0 "
                               "it is {:.4f}",
                               model::format_printable(options.source.path), options.error,
                               done.runs.front().error_mean),
                   kExitNo);
}

int run(SuperstepsOptions& options) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.svg_path, options.source.path, ignored)) {
    return fail_with("supersteps: the output is the crawl file itself", kExitUsage);
  }
  int code = kExitDone;
  const auto pages = open_pages(options.source, code);
  if (!pages) return code;
  if (options.site.empty()) {
    options.site = pages->info().has_urls ? "host" : fmt::format("{}{}", kByBlock, kBlockPages);
  }
  const auto block = parse_block(options.site);
  if (!block && !check_has_urls(*pages, options.source, "--site " + options.site)) {
    return kExitUsage;
  }
  const StopSignals stop;
  SiteOptions sites;
  sites.processor_count = static_cast<std::uint32_t>(options.processor_count.value_or(4));
  sites.block_pages = block.value_or(kBlockPages);
  sites.site = block                      ? SuperstepSite::kBlock
               : options.site == "domain" ? SuperstepSite::kDomain
                                          : SuperstepSite::kHost;
  const auto assigned = assign_processors(*pages, sites);
  if (!assigned) return fail_with(options.source.path, assigned.error());
  auto order = find_order(*pages, stop, options, code);
  if (!order) return code;
  WorkBar bar("supersteps", stop, options.quiet, "links");
  const auto sample = SuperstepSample::build(
      *pages,
      {sites.processor_count, assigned->processors, *order,
       options.is_as_printed ? SuperstepForm::kAsPrinted : SuperstepForm::kRemote},
      bar.progress());
  if (!sample) return fail_stopped(sample.error(), stop, options);
  order.reset();
  auto done = study(*sample, stop, options);
  if (!done) return fail_stopped(done.error(), stop, options);
  done->processor_count = sites.processor_count;
  done->site = options.site;
  done->site_count = assigned->site_count;
  done->order = options.order;
  done->is_as_printed = options.is_as_printed;
  done->page_count = sample->page_count();
  done->remote_link_count = sample->remote_link_count();
  done->balance = sample->balance();
  return print_study(*done, options);
}

std::string check_order(const std::string& word) {
  const bool is_score = word.starts_with(kByScore) && word.size() > kByScore.size();
  if (word == kByPageRank || word == kByIndex || is_score) return {};
  return "it is pagerank, index or score:NAME";
}

std::string check_site(const std::string& word) {
  if (word == "host" || word == "domain" || parse_block(word)) return {};
  return "it is host, domain or block:N, with N of 1 or more";
}

}  // namespace

Action define_supersteps(Parser& parser) {
  auto options = std::make_shared<SuperstepsOptions>();
  parser.footer(
      "Processors that crawl together keep what they find for each other. When something was "
      "found for one of them on more pages than the tolerance, a superstep ends with the next "
      "page, and all is delivered. The crawl in FILE tells how large the tolerance may be: its "
      "pages are extracted again, the best first. A page is missed if its superstep is the one "
      "in which its processor would first hear of it; the error is the share of missed pages, as "
      "a mean over supersteps (`error_mean`), of the worst one (`error_max`), and of all pages "
      "(`error_by_pages`). `pages_per_superstep` is R_x, a mean of the busiest processor; "
      "`largest_page_count` what one processor ever had in a superstep. Failures are links that "
      "arrive for pages that were extracted. `is_unbounded`: all was one superstep. Exit code 1: "
      "no tolerance keeps the error. The error does not grow steadily: the search runs all "
      "powers of two, and halves the steps above the largest that keeps it. Memory: about 40 "
      "bytes a page, and 4 a link between processors. Edits that wait are not seen, and FILE is "
      "not written.");
  add_page_source(parser, options->source);
  add_count(parser, "--processors", options->processor_count, "1 to 4,096 (default: 4)",
            {1, kProcessorsMax});
  parser
      .text("--order ORDER", options->order,
            "the order of extraction: pagerank (default; the stored scores, or computed where "
            "they are stale), index, or score:NAME")
      .check(check_order)
      .offers({"pagerank", "index", "score:"});
  const auto error = parser.number("--error E", options->error, 1,
                                   "search a large tolerance with a mean error of at most that, "
                                   "0 to 1 (default: 0.01)");
  add_count(parser, "--tolerance", options->tolerance, "this tolerance and no search")
      .excludes(error);
  parser
      .text("--site SITE", options->site,
            "what stays on one processor: host (default), domain, or block:N, N pages in a row "
            "(block:500 is the default without URLs)")
      .check(check_site)
      .offers({"host", "domain", "block:"});
  parser.flag("--curve", options->shows_curve, "show all tolerances that were tried");
  parser.text("--svg FILE", options->svg_path,
              "draw all tolerances into a file, in place of one there");
  parser.flag("--as-printed", options->is_as_printed,
              "to the letter of the paper: links to a processor's own pages count, and pages that "
              "it knows");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
