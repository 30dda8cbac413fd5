// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/frontier_view.h"
#include "model/generations_view.h"
#include "model/links_view.h"
#include "model/queue_view.h"
#include "model/scores_view.h"
#include "model/space_view.h"
#include "model/store_view.h"

namespace crawlstore::cli {
namespace {

struct InfoOptions {
  std::string path;
  bool as_json = false;
  bool no_pin = false;
  bool no_mmap = false;
  bool link_rows = false;
  bool quiet = false;
};

/// A document, and the first thing that cannot be read for it.
struct Description {
  model::Document document;
  std::optional<Error> problem;

  /// Returns the value that was read; if that failed, nothing, and the problem is noted.
  template <class T>
  T known(Result<T> read, T nothing = {}) {
    if (read) return std::move(*read);
    if (!problem) problem = read.error();
    return nothing;
  }
};

/// Adds the storage of links, and the parts of their rows, if that was asked for.
void add_links(const Snapshot& snapshot, const InfoOptions& options, const StopSignals& stop,
               Description& to) {
  const auto databases = to.known(model::page_views(snapshot));
  to.document.tables.push_back(model::link_directions(databases).table);
  to.document.tables.push_back(model::link_runs_table(databases));
  if (!options.link_rows) return;
  WorkBar bar("link rows", stop, options.quiet);
  std::vector<model::DenseWay> ways;
  for (const PageView& view : databases) {
    for (const bool incoming : {false, true}) {
      const auto sums = read_dense_rows(view, incoming, bar.progress());
      if (sums) ways.push_back({view.info().name, incoming, *sums});
      if (!sums && !to.problem) to.problem = sums.error();
    }
  }
  to.document.tables.push_back(model::dense_rows_table(ways));
}

/// The damage that made a part unreadable, or that a quick verification found; empty: all is whole.
std::string damage_of(const Description& described, const Result<VerifyReport>& health) {
  if (described.problem) return describe(*described.problem);
  const auto damaged = [](const Finding& finding) { return finding.kind == FindingKind::kDamaged; };
  const auto found = std::ranges::find_if(health->findings, damaged);
  return found == health->findings.end() ? std::string() : describe(*found);
}

/// The entries of all queues, before what the file is worth; nothing when one cannot be read.
void add_queued_count(const model::ReadableQueues& queues, std::vector<model::Field>& to) {
  std::uint64_t count = 0;
  for (const QueueInfo& queue : queues.queues) count += queue.page_count;
  to.insert(std::ranges::find(to, "health", &model::Field::name),
            {"queued_count", model::Unit::kCount, queues.problem ? model::Cell{} : count});
}

int run(const InfoOptions& options) {
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
  std::optional<Error> problem;
  auto document = model::info_view(*snapshot, health ? &*health : nullptr, ::getpid(), problem);
  if (!document) return fail_with(options.path, document.error());
  const auto info = snapshot->info();
  if (!info) return fail_with(options.path, info.error());
  document->tables.push_back(model::space_table(*info, snapshot->segments()));
  if (!health) document->fields.push_back({"health", model::Unit::kText, {}});
  Description described{std::move(*document), problem};
  add_links(*snapshot, options, stop, described);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  auto& tables = described.document.tables;
  tables.push_back(described.known(model::scores_table(*snapshot), {"scores", {}, {}}));
  const auto queues = model::readable_queues(*snapshot);
  add_queued_count(queues, described.document.fields);
  tables.push_back(model::queues_table(queues.queues));
  if (!described.problem) described.problem = queues.problem;
  tables.push_back(model::due_frontiers_table(*snapshot, described.problem));
  const auto copies = generations(**storage);
  if (!copies) return fail_with(options.path, copies.error());
  tables.push_back(model::superblocks_table(*copies));
  if (!health && !described.problem) described.problem = health.error();
  const std::string damage = damage_of(described, health);
  if (options.as_json) {
    described.document.fields.push_back(
        {"error", model::Unit::kText, damage.empty() ? model::Cell{} : model::Cell{damage}});
  }
  const int code = print_document(described.document, options.as_json);
  if (described.problem) return fail_with(options.path, *described.problem);
  if (damage.empty()) return code;
  return fail_with(fmt::format("{}: {}", model::format_printable(options.path), damage), kExitNo);
}

}  // namespace

Action define_info(Parser& parser) {
  auto options = std::make_shared<InfoOptions>();
  parser.footer(
      "`link_directions` says what links take, and about what they would take after `compact`: "
      "some thousand rows here and there are coded to see. Links are *fresh*, as imports write "
      "them, or *dense*, as `compact` does. A page database has a DRUM of its name: the keys of "
      "its pages, those in fresh runs included. `queued_count` counts the pages that wait in all "
      "queues, a page in two of them twice. For a frontier, `next_due_us` is the time from which "
      "there is something to take; `clock_us` is the time of the last call that had one. If the "
      "file is damaged, `info` shows what can be read, and the exit code is 1.");
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
