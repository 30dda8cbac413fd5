// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/pages.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/pages_view.h"
#include "model/report_view.h"

namespace crawlstore::cli {
namespace {

struct CompactOptions {
  std::string path;
  double lock_wait_seconds = 0;
  bool content_index = false;
  bool as_json = false;
  bool quiet = false;
};

/// Joins the runs of every page database. The most that coding links held for one of them.
Result<JoinReport> compact_pages(Store& store, bool content_index, WorkBar& bar) {
  CRAWLSTORE_TRY(const auto databases, model::page_databases(store));
  if (content_index && databases.empty()) {
    return fail(Errc::kUnknownName,
                "there is no page database that an index could be of: `create "
                "--content-index` makes both");
  }
  JoinReport report;
  for (const PagesInfo& database : databases) {
    PagesOptions options;
    options.has_urls = database.has_urls;
    options.content_index = content_index;
    CRAWLSTORE_TRY(auto pages, PageDb::open(store, database.name, options));
    CRAWLSTORE_TRY(const auto joined, pages.compact(bar.progress()));
    report.coder_bytes_max = std::max(report.coder_bytes_max, joined.coder_bytes_max);
    CRAWLSTORE_TRY(pages.close());
  }
  return report;
}

int run(const CompactOptions& options) {
  auto store = open_store(options.path, options.lock_wait_seconds);
  if (!store) return fail_with(options.path, store.error());
  const std::uint64_t bytes_before = store->file_bytes();
  const StopSignals stop;
  JoinReport join_report;
  {
    WorkBar bar("join runs", stop, options.quiet);
    const auto joined = compact_pages(*store, options.content_index, bar);
    if (stop.requested() != 0 && (joined || joined.error().code == Errc::kCancelled)) {
      return exit_code_of_signal(stop.requested());
    }
    if (!joined) return fail_with(options.path, joined.error());
    join_report = *joined;
  }
  ProgressBar progress("compact", model::Unit::kBytes, "", options.quiet);
  auto report = store->compact([&](std::uint64_t done, std::uint64_t total) {
    progress.update_of(done, total);
    return stop.requested() == 0;
  });
  if (!report) {
    if (report.error().code != Errc::kCancelled) return fail_with(options.path, report.error());
    return exit_code_of_signal(stop.requested());
  }
  if (const auto closed = store->close(); !closed) return fail_with(options.path, closed.error());
  report->file_bytes_before = bytes_before;  // joining runs lengthened the file meanwhile
  return print_document(model::compact_view(*report, join_report), options.as_json);
}

}  // namespace

Action define_compact(Parser& parser) {
  auto options = std::make_shared<CompactOptions>();
  parser.footer(
      "Page databases run their supersteps, and join their runs of links, origins, keys and "
      "contents, first. "
      "That takes the memory that the edits which wait took when they were read "
      "(`import --memory`), and some megabytes; what coding links took is told as coder_bytes. "
      "All else is copied through one megabyte, as it is: what `verify --deep` finds stays. The "
      "file may grow meanwhile, by the longest of these logs or 128 MiB. A first Ctrl-C stops it "
      "soon: what was done by then stands, a superstep or a join under way leaves no trace.");
  add_file(parser, options->path);
  parser.flag("--content-index", options->content_index,
              "give page databases an index of contents, for good, from which `page --content` and "
              "`links --content` find copies; exit code 1 where there is no page database yet");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_lock_wait(parser, options->lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
