// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include <crawlstore/url.h>

#include "cli/console.h"
#include "cli/edge_lines.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_export.h"
#include "cli/page_source.h"
#include "cli/progress.h"
#include "cli/queue_source.h"
#include "cli/score_source.h"
#include "cli/stop_signals.h"
#include "cli/urlfrontier_export.h"
#include "cli/verb.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// Programs that draw graphs have hard times with more.
constexpr std::uint64_t kDrawnLinksMax = 1'000'000;

const char* const kQueue = "queue";
const char* const kUrlFrontier = "urlfrontier";

struct ExportOptions {
  PageSourceOptions source;
  std::string format;
  std::string name;  // of scores or a queue; empty: the default
  std::string crawl;
  std::string output;
  bool only_other_hosts = false;
  bool for_spreadsheet = false;
  bool quiet = false;
};

bool is_drawn(const ExportOptions& options) {
  return options.format == "dot" || options.format == "graphml";
}

bool is_of_scores(const ExportOptions& options) {
  return options.format.starts_with("scores-");
}

/// Empty: nothing speaks against it.
std::string misuse(const ExportOptions& options) {
  if (options.only_other_hosts && options.format != "edges" && !is_drawn(options)) {
    return "--other-hosts goes with edges, dot and graphml: the other formats hold whole pages";
  }
  if (options.for_spreadsheet && options.format != "csv" && options.format != "scores-csv") {
    return "--spreadsheet goes with csv and scores-csv";
  }
  if (!options.name.empty() && !is_of_scores(options) && options.format != kQueue) {
    return "--name goes with scores-csv, scores-npy and queue";
  }
  if (!options.crawl.empty() && options.format != kUrlFrontier)
    return "--crawl goes with urlfrontier";
  if (options.format == kUrlFrontier &&
      (options.source.names_database || options.source.skips_damaged)) {
    return "--database and --skip-damaged do not go with urlfrontier";
  }
  const bool is_stdout = options.output.empty() || options.output == "-";
  const bool is_text = options.format != "events" && options.format != "scores-npy";
  if (is_stdout && !is_text && is_terminal(STDOUT_FILENO)) {
    return options.format + " is no text; -o FILE keeps it from the terminal";
  }
  std::error_code ignored;
  if (!is_stdout && std::filesystem::equivalent(options.output, options.source.path, ignored)) {
    return "the output is the crawl file itself";
  }
  if (options.source.skips_damaged && is_of_scores(options)) {
    return "--skip-damaged does not go with scores: `rank` computes them again";
  }
  return {};
}

/// Returns false if something of the database is not in the output.
bool tell_losses(const ExportLosses& losses, bool quiet) {
  if (losses.waiting_count != 0 && !quiet) {
    note(
        fmt::format("{} edits wait in the file, and are not in the output; `crawlstore merge` "
                    "makes them pages and links",
                    model::format_count(losses.waiting_count)));
  }
  if (losses.cut_page_count != 0) {
    note(fmt::format("{} pages have more crawls than are told",
                     model::format_count(losses.cut_page_count)));
  }
  if (losses.link_count != 0) {
    note(
        fmt::format("{} links left out: lines of edges cannot hold URLs that are empty, have a "
                    "TAB or a line break, or look like an index or a comment; jsonl and events "
                    "take them",
                    model::format_count(losses.link_count)));
  }
  return losses.link_count == 0 && losses.cut_page_count == 0;
}

Look look_with(ProgressBar& progress, const StopSignals& stop) {
  return [&](std::uint64_t done, std::uint64_t total) -> Result<void> {
    progress.update_of(done, total);
    if (stop.requested() == 0) return {};
    return fail(Errc::kCancelled, "the export was stopped");
  };
}

int finish(OutputFile& output, const ExportOptions& options) {
  const auto finished = output.finish();
  if (finished) return kExitDone;
  return fail_with(options.output.empty() ? "standard output" : options.output, finished.error());
}

/// All of a queue, in lines that `queue --insert` reads.
Result<void> write_queue(const QueueSource& source, OutputFile& output, const Look& look) {
  const std::uint64_t count = source.queue->info().page_count;
  CRAWLSTORE_TRY(const auto pages, source.queue->peek(count));
  std::uint64_t done = 0;
  UrlNormalizer normalizer;
  return for_each_url(
      source, pages, [&](const QueuedPage& page, const std::string& url) -> Result<void> {
        CRAWLSTORE_TRY(look(done++, count));
        const bool comes_back = fits_edge_to(url) && normalizer.normalize(url).text == url;
        fmt::format_to(std::back_inserter(output.tail()), "{}\t", page.priority);
        output.tail() += comes_back ? url : fmt::format("#{}", page.page);
        output.tail() += '\n';
        return output.room();
      });
}

int export_queue(const ExportOptions& options) {
  const QueueSourceOptions source_options{options.source, options.name};
  int code = kExitDone;
  const auto source = open_queues(source_options, {.queue = true}, code);
  if (!source || !check_chosen(*source, source_options, code)) return code;
  const StopSignals stop;
  auto output = OutputFile::open(options.output);
  if (!output) return fail_with_output(options.output, output.error());
  ProgressBar progress("export", model::Unit::kCount, "pages", options.quiet);
  const auto written = write_queue(*source, *output, look_with(progress, stop));
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!written) return fail_with_queue(source->snapshot, options.source.path, written.error());
  if (const int finished = finish(*output, options); finished != kExitDone) return finished;
  return tell_gaps(source->gaps(), options.source);
}

int run(const ExportOptions& options) {
  if (const std::string text = misuse(options); !text.empty()) return fail_with(text, kExitUsage);
  if (options.format == kQueue) return export_queue(options);
  if (options.format == kUrlFrontier) {
    return export_urlfrontier({.path = options.source.path,
                               .crawl = options.crawl,
                               .output = options.output,
                               .no_pin = options.source.no_pin,
                               .no_mmap = options.source.no_mmap,
                               .quiet = options.quiet});
  }
  int code = kExitDone;
  const auto views = open_page_views(options.source, code);
  if (!views) return code;
  const PageView& view = views->walk;
  if (options.only_other_hosts && !check_has_urls(view, options.source, "--other-hosts")) {
    return kExitUsage;
  }
  if (is_drawn(options) && view.info().link_count > kDrawnLinksMax) {
    note(fmt::format("{} links: few programs draw so many",
                     model::format_count(view.info().link_count)));
  }
  std::optional<ScoreView> scores;
  if (is_of_scores(options)) {
    const std::string_view name =
        options.name.empty() ? ScoreView::kDefaultName : std::string_view(options.name);
    scores = open_scores(view, options.source, {name, "--name NAME", options.quiet}, code);
    if (!scores) return code;
  }
  const StopSignals stop;
  auto output = OutputFile::open(options.output);
  if (!output) return fail_with_output(options.output, output.error());
  ProgressBar progress("export", model::Unit::kCount, "steps", options.quiet);
  const PageExport what{*views,
                        *output,
                        scores ? &*scores : nullptr,
                        options.only_other_hosts,
                        options.for_spreadsheet,
                        look_with(progress, stop)};
  const auto losses = find_export_format(options.format)(what);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!losses) return fail_unread(options.source, losses.error());
  if (const int finished = finish(*output, options); finished != kExitDone) return finished;
  const bool is_whole = tell_losses(*losses, options.quiet);
  const int told = tell_gaps(views->gaps(), options.source);
  return is_whole ? told : kExitNo;
}

constexpr const char* kExportFooter =
    "events, jsonl: the whole database as crawl events (as `import` describes them) which make "
    "it anew, with the same indexes, in a new store: pages, links, depths, scores, counts, "
    "waiting edits. Crawls between the first and the last are kept only as counts: of crawls, "
    "and of changes of the content. They come with the time of the last crawl, and with a "
    "made-up hash where the content changed; at most 1000 a page, and as many failures in a row. "
    "Pages that were forgotten leave no index. Times of failures are not in a database.\n"
    "csv: a row a page, with a header; times in UTC, empty when there was no crawl; URLs as they "
    "are.\n"
    "edges: FROM TAB TO a line; #N where pages have no URLs. Links of URLs that do not fit in "
    "such a line are left out, and counted (exit code 1).\n"
    "dot, graphml: nodes and edges. These formats are text: if a URL has controls or is no "
    "UTF-8, these bytes come as \\xNN.\n"
    "scores-csv, scores-npy: the scores that --name chooses. csv: index, URL, score of each "
    "page; the score is empty for pages that came since. npy: the array alone, for NumPy, entry "
    "i for page i, float32 or float64; it ends before the pages that came since.\n"
    "queue: all pages of the queue that --name chooses, the first to leave first: lines PRIORITY "
    "TAB URL, which `queue --insert` reads; #INDEX for a page whose URL such a line cannot name, "
    "or that has none. Takes some 40 bytes of memory a page.\n"
    "urlfrontier: the URLs of crawls that `crawlstored` keeps, in no order, as `DumpURLs` of "
    "URLFrontier's client writes them and its `PutURLs` and `import` read them. A URL that was "
    "discovered, or is leased, is known with the date at which it waits. Completed URLs that no "
    "merge has brought into the file's tables are left out, and counted (exit code 1).\n"
    "With -o the file is there as a whole or not at all; it takes the place of another one.";

}  // namespace

Action define_export(Parser& parser) {
  auto options = std::make_shared<ExportOptions>();
  parser.footer(kExportFooter);
  add_page_source(parser, options->source);
  add_skip_damaged(parser, options->source);
  parser
      .text("--format F", options->format,
            "the format of the output: events, jsonl, csv, edges, dot, graphml, scores-csv, "
            "scores-npy, queue, urlfrontier")
      .required()
      .one_of({"events", "jsonl", "csv", "edges", "dot", "graphml", "scores-csv", "scores-npy",
               kQueue, kUrlFrontier});
  parser.text("--name NAME", options->name,
              "with scores-csv and scores-npy: which scores (default: pagerank); with queue: which "
              "queue (default: the only one, or `queue`)");
  parser.text("--crawl ID", options->crawl, "with urlfrontier: only the URLs of this crawl");
  parser.text("-o,--output OUT", options->output, "where to (default: standard output)");
  parser.flag("--other-hosts", options->only_other_hosts, "only links from host to host");
  parser.flag("--spreadsheet", options->for_spreadsheet,
              "csv, scores-csv: a URL that begins with = + - @, a TAB or CR gets a ' in front, so "
              "that no program runs it as a formula");
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
