// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/generations_view.h"
#include "model/links_view.h"
#include "model/queue_view.h"
#include "model/scores_view.h"
#include "model/space_view.h"
#include "model/store_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  std::string path;
  bool as_json = false;
  bool no_pin = false;
  bool no_mmap = false;
  bool link_rows = false;
  bool quiet = false;
};

/// How links are stored; what their rows consist of, if that was asked for.
Result<void> add_links(const Snapshot& snapshot, const Options& options, const StopSignals& stop,
                       model::Document& document) {
  CRAWLSTORE_TRY(const auto databases, model::page_views(snapshot));
  document.tables.push_back(model::link_directions_table(databases));
  document.tables.push_back(model::link_runs_table(databases));
  if (!options.link_rows) return {};
  WorkBar bar("link rows", stop, options.quiet);
  std::vector<model::DenseWay> ways;
  for (const PageView& view : databases) {
    for (const bool incoming : {false, true}) {
      CRAWLSTORE_TRY(const auto sums, read_dense_rows(view, incoming, bar.progress()));
      ways.push_back({view.info().name, incoming, sums});
    }
  }
  document.tables.push_back(model::dense_rows_table(ways));
  return {};
}

int run(const Options& options) {
  const StopSignals stop;
  const auto snapshot = open_snapshot(options.path, options.no_pin, options.no_mmap);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  VerifyOptions quick;
  quick.level = VerifyLevel::kQuick;
  auto storage =
      open_storage(options.path, options.no_pin ? OpenMode::kReadNoPin : OpenMode::kRead);
  if (!storage) return fail_with(options.path, storage.error());
  if (options.no_mmap) *storage = unmapped(std::move(*storage));
  const auto health = verify(**storage, quick);
  auto document = model::info_view(*snapshot, health ? &*health : nullptr, ::getpid());
  if (!document) return fail_with(options.path, document.error());
  const auto info = snapshot->info();
  if (!info) return fail_with(options.path, info.error());
  document->tables.push_back(model::space_table(*info, snapshot->segments()));
  if (const auto links = add_links(*snapshot, options, stop, *document); !links) {
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
    return fail_with(options.path, links.error());
  }
  auto scores = model::scores_table(*snapshot);
  if (!scores) return fail_with(options.path, scores.error());
  document->tables.push_back(std::move(*scores));
  const auto queues = QueueView::list(*snapshot);
  if (!queues) return fail_with(options.path, queues.error());
  document->tables.push_back(model::queues_table(*queues));
  const auto copies = generations(**storage);
  if (!copies) return fail_with(options.path, copies.error());
  document->tables.push_back(model::superblocks_table(*copies));
  return print_document(*document, options.as_json);
}

}  // namespace

Action define_info(Parser& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "`link_directions` says what links take, and about what they would take after `compact`: "
      "some thousand rows here and there are coded to see. Links are *fresh*, as imports write "
      "them, or *dense*, as `compact` does. A page database has a DRUM of its name: the keys of "
      "its "
      "pages, those in fresh runs beside it among them.");
  add_file(parser, options->path);
  parser.flag("--link-rows", options->link_rows,
              "also read all dense links, and say how many rows copy from others, and what takes "
              "how many bits");
  add_quiet(parser, options->quiet);
  add_json(parser, options->as_json);
  add_no_pin(parser, options->no_pin);
  add_no_mmap(parser, options->no_mmap);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
