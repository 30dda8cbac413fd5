// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include <crawlstore/ranking.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/hits_options.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/page_list.h"
#include "cli/page_source.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/scores_view.h"

namespace crawlstore::cli {
namespace {

constexpr double kNotGiven = -1;
/// Seconds for which other writers are waited for when scores are there to be stored.
constexpr double kStoreWaitSeconds = 60;
const char* const kHits = "hits";
const char* const kOpic = "opic";
const char* const kByPage = "page";
const char* const kByHost = "host";
const char* const kByDomain = "domain";

struct RankVerbOptions {
  std::string path;
  std::string scorer = "pagerank";
  RankOptions rank;
  std::string name;
  std::string hubs;
  std::string by = kByPage;
  double damping = kNotGiven;
  std::optional<std::uint64_t> memory_bytes;
  std::string seeds_path;
  std::optional<std::uint64_t> max_iterations;
  std::optional<std::uint64_t> threads;
  bool is_cold = false;
  bool shows_residuals = false;
  double lock_wait_seconds = kStoreWaitSeconds;
  bool as_json = false;
  bool quiet = false;
};

/// Reads --personalize. An exit code; on failure it has said why.
int take_seeds(const PageView& pages, const StopSignals& stop, RankVerbOptions& options) {
  LostLines lost;
  const int code = read_page_list(
      {.path = options.seeds_path, .crawl_path = options.path, .form = "URL and no #INDEX"}, &pages,
      stop, lost, [&options](std::uint64_t page) { options.rank.seeds.push_back(page); });
  if (code != kExitDone || !options.rank.seeds.empty()) return code;
  return fail_with(fmt::format("{}: none of its pages is in the database",
                               model::format_printable(options.seeds_path)),
                   kExitNo);
}

/// The fraction that is done: residuals fall by about the same factor with each iteration.
double fraction_done(double first, double residual, double precision) {
  if (!(residual < first) || !(precision < first) || !(precision > 0)) return -1;
  return std::clamp(std::log(first / residual) / std::log(first / precision), 0.0, 1.0);
}

HitsOptions hits_options(const RankVerbOptions& options) {
  HitsOptions hits = hits_options_of(options.rank);
  if (!options.name.empty()) hits.authorities = options.name;
  if (!options.hubs.empty()) hits.hubs = options.hubs;
  return hits;
}

/// Whether one is given that OPIC, which neither iterates nor teleports, has no use for.
bool is_any_not_of_opic(const RankVerbOptions& options) {
  return options.damping != kNotGiven || !options.seeds_path.empty() || options.by != kByPage ||
         options.memory_bytes || options.max_iterations || options.threads ||
         options.rank.by_content_scores || options.shows_residuals || !options.name.empty() ||
         !options.hubs.empty() || options.rank.precision != RankOptions{}.precision;
}

/// Takes the options of one scorer alone. An exit code; on failure it has said why.
int take_scorer(RankVerbOptions& options) {
  if (options.scorer == kOpic) {
    if (!is_any_not_of_opic(options)) return kExitDone;
    return fail_with("opic takes no options of pagerank and hits but --database and --cold",
                     kExitUsage);
  }
  options.rank.memory_bytes = options.memory_bytes.value_or(memory_limit_bytes() / 4 * 3);
  options.rank.folder = std::filesystem::absolute(options.path).parent_path();
  if (options.scorer == kHits) {
    const bool is_of_pagerank =
        options.damping != kNotGiven || !options.seeds_path.empty() || options.by != kByPage;
    if (!is_of_pagerank) return kExitDone;
    return fail_with("--damping, --personalize and --by are of pagerank", kExitUsage);
  }
  if (!options.hubs.empty()) return fail_with("--hubs is of hits", kExitUsage);
  if (options.damping != kNotGiven) options.rank.damping = options.damping;
  if (options.by == kByHost) options.rank.by = ScoreSubject::kHost;
  if (options.by == kByDomain) options.rank.by = ScoreSubject::kDomain;
  if (options.by != kByPage) options.rank.name += "_by_" + options.by;
  if (!options.name.empty()) options.rank.name = options.name;
  return kExitDone;
}

Result<RankedPages> compute(const PageView& pages, const RankVerbOptions& options) {
  if (options.scorer == kHits) return compute_hits(pages, hits_options(options));
  if (options.scorer != kOpic) return compute_rank(pages, options.rank);
  return compute_opic(pages, {.database = options.rank.database,
                              .is_warm = options.rank.is_warm,
                              .progress = options.rank.progress});
}

/// Whether the scores will find room, as far as can be told before they are computed.
Result<void> check_room(const PageView& pages, const RankVerbOptions& options) {
  std::error_code failure;
  const auto space = std::filesystem::space(std::filesystem::absolute(options.path), failure);
  if (failure || options.by != kByPage) return {};
  CRAWLSTORE_TRY(const auto snapshot, Snapshot::open(options.path));
  CRAWLSTORE_TRY(const auto info, snapshot.info());
  const std::uint64_t array_count = options.scorer == kHits ? 2 : options.scorer == kOpic ? 3 : 1;
  // At least: of a high precision they take twice as much.
  const std::uint64_t needed = pages.info().page_count * array_count * sizeof(float);
  const std::uint64_t there = space.available + info.free_bytes;
  if (needed <= there) return {};
  return tl::unexpected<Error>(Error{Errc::kNoSpace,
                                     0,
                                     {},
                                     Error::kNoOffset,
                                     "the scores find no room in the file system",
                                     needed - there});
}

/// Others write the file meanwhile: the lock is taken when there is something to store.
Result<RankReport> rank(const PageView& pages, const StopSignals& stop, RankVerbOptions& options) {
  ProgressBar bar("rank", model::Unit::kCount, "iterations", options.quiet);
  double first = 0;
  options.rank.progress = [&](std::uint32_t iteration, double residual) {
    if (iteration == 1) first = residual;
    bar.update(iteration, fraction_done(first, residual, options.rank.precision),
               iteration == 0 ? "reading links" : fmt::format("residual {:.2e}", residual));
    return stop.requested() == 0;
  };
  CRAWLSTORE_TRY(check_room(pages, options));
  CRAWLSTORE_TRY(const auto ranked, compute(pages, options));
  if (!ranked.report().converged) return ranked.report();
  CRAWLSTORE_TRY(auto store, open_store(options.path, options.lock_wait_seconds));
  CRAWLSTORE_TRY(auto report, store_ranked(store, ranked));
  CRAWLSTORE_TRY(store.close());
  return report;
}

int run(RankVerbOptions& options) {
  options.rank.is_warm = !options.is_cold;
  options.rank.max_iterations =
      static_cast<std::uint32_t>(options.max_iterations.value_or(options.rank.max_iterations));
  options.rank.thread_count = static_cast<unsigned>(options.threads.value_or(0));
  int code = take_scorer(options);
  if (code != kExitDone) return code;
  const auto pages = open_pages({options.path, options.rank.database}, code);
  if (!pages) return code;
  const StopSignals stop;
  if (!options.seeds_path.empty()) {
    code = take_seeds(*pages, stop, options);
    if (code != kExitDone) return code;
  }
  const auto report = rank(*pages, stop, options);
  if (!report) {
    if (report.error().code == Errc::kCancelled && stop.requested() != 0) {
      note("stopped; the scores before stay");
      return exit_code_of_signal(stop.requested());
    }
    return fail_with(options.path, report.error());
  }
  if (report->is_in_file && !options.quiet) {
    note(fmt::format("links and scores take {}, more than --memory: they lay in a file",
                     model::format_bytes(report->memory_bytes)));
  }
  const bool with_residuals = options.shows_residuals || options.as_json;
  if (report->waiting_count != 0) {
    note(fmt::format("{} that waited: not seen; `crawlstore merge` makes pages and links of them",
                     model::format_counted(report->waiting_count, "edit")));
  }
  code = print_document(model::rank_view(*report, with_residuals), options.as_json);
  if (report->converged || code != kExitDone) return code;
  return fail_with(
      fmt::format("{}: after {} the residual is {:.2e}, not below {:.2e}; nothing was stored. "
                  "--max-iterations allows more, --precision asks for less",
                  model::format_printable(options.path),
                  model::format_counted(report->residuals.size(), "iteration"),
                  report->residuals.back(),
                  std::max(options.rank.precision, options.scorer == kHits ? 0x1p-48 : 0x1p-52)),
      kExitNo);
}

}  // namespace

Action define_rank(Parser& parser) {
  auto options = std::make_shared<RankVerbOptions>();
  parser.footer(
      "PageRank: how often a surfer who follows links at random is on a page. With the "
      "probability 1 - damping, or on a page without links, the surfer goes anywhere. HITS: good "
      "hubs link to good authorities, which good hubs link to; two arrays. Their scores add up "
      "to 1. The residual is how much an iteration changed the scores, added over all pages. "
      "Readers and other writers go on meanwhile. When the new scores are done, they replace "
      "those before; --lock-wait says how long that waits for another writer. The scores before "
      "stay on Ctrl-C. They also stay, with exit code 1, if the precision is not reached, or if "
      "pages were forgotten or the file rolled back meanwhile. Edits that wait are not seen, and "
      "pages that were forgotten get nothing. Memory: PageRank takes about 4 bytes a link and 40 "
      "a page, or 70 a page below a precision of 1e-7. HITS takes 8 bytes a link and 24 a page "
      "(36 below 1e-7), by content scores 32 (48). `crawlstore top` shows the best pages.\n"
      "OPIC: pages that no page linked to first begin with a cash of 1, others with 0. A page "
      "that was crawled since the last time gives its cash on in equal parts. The parts go to "
      "the pages that it links to, or to those that began with some. Three arrays: opic_cash, by "
      "which to choose what to crawl next, opic_history, what a page has given so far, and "
      "opic_crawls. Pages that are only known by links give nothing. OPIC goes on from where it "
      "was (--cold: begins anew), and `crawlstore import` then brings its scores up to date at "
      "its end. When another update came in between, nothing is stored (exit code 1): try again.");
  add_file(parser, options->path);
  parser.text("SCORER", options->scorer, "pagerank (default), hits or opic")
      .one_of({"pagerank", kHits, kOpic});
  add_database(parser, options->rank.database, "the page database to rank");
  parser.text("--name NAME", options->name,
              "the name of the scores, which replace others of this name (default: pagerank, "
              "pagerank_by_host, pagerank_by_domain; authorities)");
  parser
      .text("--by WHAT", options->by,
            "page (default), host or domain: what is ranked. A host or registered domain links to "
            "another one when a page of it does, however many do")
      .one_of({kByPage, kByHost, kByDomain});
  parser.text("--hubs NAME", options->hubs, "the name of the hubs that HITS finds (default: hubs)");
  parser.number("--damping D", options->damping, 1,
                "from 0 to 1: how often a link is followed (default: 0.85)");
  parser.number(
      "--precision P", options->rank.precision, 1,
      "the residual to reach (default: 1e-6; 0: as far as doubles go, 2.2e-16; 3.6e-15 for HITS)");
  add_count(parser, "--max-iterations", options->max_iterations, "at most (default: 300)",
            {1, 65'536});
  add_count(parser, "--threads", options->threads,
            "default: all cores; the scores are the same to the bit", {1, 1024});
  const auto seeds = parser.text("--personalize FILE", options->seeds_path,
                                 "a URL or #INDEX a line, - for standard input: the surfer goes to "
                                 "one of these pages, or their hosts or domains, not anywhere");
  parser
      .flag(
          "--content-scores", options->rank.by_content_scores,
          "the surfer goes to pages by the scores that the crawl gave them; for the hubs of HITS, "
          "not for its authorities, links count by those of the pages they lead to")
      .excludes(seeds);
  add_bytes(parser, "--memory", options->memory_bytes,
            "for links and scores, such as 4GiB; where they need more they lie in a file without a "
            "name beside FILE (default: three quarters of what the cgroup, ulimit and the machine "
            "allow)",
            1 << 20);
  parser.flag("--cold", options->is_cold, "do not begin with the scores of this name");
  parser.flag("--residuals", options->shows_residuals, "show the residual of each iteration");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  parser.number("--lock-wait SECONDS", options->lock_wait_seconds, 4e6,
                "how long to wait for another writer when the scores are there (default: 60)");
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
