// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/drum_view.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/pages_view.h"
#include "model/report_view.h"

namespace crawlstore::cli {
namespace {

struct MergeOptions {
  std::string path;
  std::string drum;
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 0;
  bool as_json = false;
  bool quiet = false;
};

/// DRUMs of page keys have no requests: supersteps change them.
Result<std::vector<DrumInfo>> chosen_drums(const Store& store, const std::string& name) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  auto drums = list_drums(snapshot);
  if (!drums) return drums;
  const auto databases = PageView::names(snapshot);
  std::erase_if(*drums, [&databases](const DrumInfo& drum) {
    return std::find(databases.begin(), databases.end(), drum.name) != databases.end();
  });
  if (name.empty()) return drums;
  std::erase_if(*drums, [&name](const DrumInfo& drum) { return drum.name != name; });
  if (drums->empty()) return fail(Errc::kUnknownName, "no DRUM has this name");
  return drums;
}

Result<std::vector<model::DrumMerge>> merge_all(Store& store, const MergeOptions& options) {
  CRAWLSTORE_TRY(const auto drums, chosen_drums(store, options.drum));
  std::vector<model::DrumMerge> merges;
  for (const DrumInfo& drum : drums) {
    DrumOptions drum_options;
    drum_options.memory_bytes = options.memory_bytes.value_or(default_memory_bytes());
    CRAWLSTORE_TRY(const auto core,
                   DrumCore::open(store, drum.name, drum.value_bytes, drum_options));
    CRAWLSTORE_TRY(const auto report, core->merge());
    CRAWLSTORE_TRY(core->close());
    merges.push_back({drum.name, report});
  }
  return merges;
}

/// None when one DRUM alone is asked for.
Result<std::vector<model::DatabaseSuperstep>> run_supersteps(Store& store,
                                                             const MergeOptions& options,
                                                             const StopSignals& stop) {
  std::vector<model::DatabaseSuperstep> supersteps;
  if (!options.drum.empty()) return supersteps;
  CRAWLSTORE_TRY(const auto databases, model::page_databases(store));
  WorkBar bar("superstep", stop, options.quiet);
  for (const PagesInfo& database : databases) {
    PagesOptions pages_options;
    pages_options.has_urls = database.has_urls;
    pages_options.memory_bytes =
        std::max(options.memory_bytes.value_or(default_memory_bytes()), std::uint64_t{1} << 20);
    CRAWLSTORE_TRY(auto pages, PageDb::open(store, database.name, pages_options));
    CRAWLSTORE_TRY(const auto report, pages.merge(bar.progress()));
    CRAWLSTORE_TRY(pages.close());
    supersteps.push_back({database.name, report});
  }
  return supersteps;
}

int run(const MergeOptions& options) {
  auto store = open_store(options.path, options.lock_wait_seconds);
  if (!store) return fail_with(options.path, store.error());
  const auto merges = merge_all(*store, options);
  if (!merges) return fail_with(options.path, merges.error());
  const StopSignals stop;  // a merge of a DRUM is ended by its default effect, without harm
  const auto supersteps = run_supersteps(*store, options, stop);
  if (!supersteps && supersteps.error().code == Errc::kCancelled) {
    return exit_code_of_signal(stop.requested());
  }
  if (!supersteps) return fail_with(options.path, supersteps.error());
  if (const auto closed = store->close(); !closed) return fail_with(options.path, closed.error());
  model::Document document = model::merge_view(*merges);
  document.tables.push_back(model::supersteps_table(*supersteps));
  return print_document(document, options.as_json);
}

}  // namespace

Action define_merge(Parser& parser) {
  auto options = std::make_shared<MergeOptions>();
  parser.footer(
      "Merges the DRUMs, then runs the supersteps of page databases. Verdicts of requests that no "
      "running program waits for are kept in the file: the next "
      "`seen` prints them first. A first Ctrl-C stops a superstep soon: its edits still wait, what "
      "was merged before stands.");
  add_file(parser, options->path);
  add_drum(parser, options->drum, "only this DRUM (default: all, and all page databases)");
  add_memory(parser, options->memory_bytes);
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_lock_wait(parser, options->lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
