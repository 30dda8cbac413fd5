// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/pages_diff_view.h"
#include "model/queue_view.h"
#include "model/scores_diff.h"

namespace crawlstore::cli {
namespace {

struct Options {
  std::string old_path;
  std::string new_path;
  bool previous = false;
  bool with_keys = false;
  std::optional<std::uint64_t> rows_max;
  bool as_json = false;
  bool no_pin = false;
  bool no_mmap = false;
  bool quiet = false;
};

struct States {
  Snapshot older;
  Snapshot newer;
};

/// As of diff(1): 1 says that they differ, and nothing else.
constexpr int kExitNotCompared = 2;

int fail_to_compare(const std::string& path, const Error& error) {
  const int code = fail_with(path, error);
  return code == kExitNo ? kExitNotCompared : code;
}

Result<Snapshot> open(const Options& options, const std::string& path, bool previous) {
  SnapshotOptions which;
  which.pin = !options.no_pin;
  which.previous = previous;
  which.mapped = !options.no_mmap;
  return Snapshot::open(path, which);
}

/// Of one file: two generations that follow each other, whatever a writer does meanwhile.
Result<States> open_generations(const Options& options) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    CRAWLSTORE_TRY(auto newer, open(options, options.old_path, false));
    CRAWLSTORE_TRY(auto older, open(options, options.old_path, true));
    if (older.generation().next() == newer.generation()) {
      return States{std::move(older), std::move(newer)};
    }
  }
  return fail(Errc::kBusyPinned, "the store commits faster than two generations can be opened");
}

/// The tables of what differs; the first field, `differs`, says whether anything does.
/// `blame` is told in which state an error is; `progress` what diff() and diff_pages() tell.
Result<model::Document> compare(const States& states, const model::DiffViewOptions& view_options,
                                const std::function<void(bool in_new)>& blame,
                                const std::function<bool(std::uint64_t, std::uint64_t)>& progress) {
  model::DiffView view(view_options);
  DiffSink sink = view.sink();
  sink.failed = blame;
  CRAWLSTORE_TRY(const auto report, diff(states.older, states.newer, sink, {progress}));
  model::PagesDiffView pages_view(states.older, states.newer, view_options);
  PagesDiffSink pages_sink = pages_view.sink();
  pages_sink.failed = blame;
  CRAWLSTORE_TRY(const auto databases,
                 diff_pages(states.older, states.newer, pages_sink, {progress}));
  CRAWLSTORE_TRY(auto document, view.document(states.older, states.newer, report));
  CRAWLSTORE_TRY(pages_view.add_to(document, databases));
  CRAWLSTORE_TRY(
      model::add_scores_diff(states.older, states.newer, databases, {progress, blame}, document));
  CRAWLSTORE_TRY(model::add_queues_diff(states.older, states.newer, document));
  return document;
}

int compare_and_print(const Options& options, const States& states) {
  const StopSignals stop;
  ProgressBar progress("diff", model::Unit::kCount, "keys, pages and links", options.quiet);
  model::DiffViewOptions view_options;
  view_options.with_keys = options.with_keys;
  if (options.rows_max) view_options.rows_max = *options.rows_max;
  std::string failed_path = options.old_path;
  const auto blame = [&](bool in_new) {
    if (in_new && !options.previous) failed_path = options.new_path;
  };
  const auto tell = [&](std::uint64_t done, std::uint64_t total) {
    progress.update_of(done, total);
    return stop.requested() == 0;
  };
  const auto document = compare(states, view_options, blame, tell);
  if (!document) {
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
    return fail_to_compare(failed_path, document.error());
  }
  const int printed = print_document(*document, options.as_json);
  if (printed != kExitDone) return printed;
  return document->fields.front().value == model::Cell{true} ? kExitNo : kExitDone;
}

int run(const Options& options) {
  if (options.previous != options.new_path.empty()) {
    return fail_with("diff: give either NEW or --previous", kExitUsage);
  }
  if (options.previous) {
    const auto states = open_generations(options);
    if (!states) return fail_to_compare(options.old_path, states.error());
    return compare_and_print(options, *states);
  }
  const auto older = open(options, options.old_path, false);
  if (!older) return fail_to_compare(options.old_path, older.error());
  const auto newer = open(options, options.new_path, false);
  if (!newer) return fail_to_compare(options.new_path, newer.error());
  return compare_and_print(options, {*older, *newer});
}

}  // namespace

Action define_diff(Parser& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "Exit code 0: equal; 1: they differ; 2: they cannot be compared, as one is damaged or not "
      "there; 3 and 4 as of every command. Segments are compared in states of one store only; "
      "they also differ when the same was written anew, as by `compact`. DRUMs are compared by "
      "name: keys, values, waiting requests. Page databases too, instead of the DRUMs of their "
      "keys: pages, their links, waiting edits; a page is known by its index in states of one "
      "store, and by its URL in two stores. `other_kind`: pages have URLs in one state alone, or "
      "scores are of pages in one and of hosts in the other; what is in them is not compared. "
      "Of scores the values are compared, where there are none as 0: how many differ, by how much "
      "together (L1), and the largest change. Of queues only the numbers of pages and runs are "
      "compared.");
  parser.text("OLD", options->old_path, "the crawl file as it was").required();
  parser.text("NEW", options->new_path, "the crawl file as it is");
  parser.flag("--previous", options->previous,
              "instead of NEW: OLD's generation before the newest one, and the newest one");
  parser.flag("--keys", options->with_keys, "list keys, requests and links as well");
  add_count(parser, "--limit", options->rows_max, "how many rows of each list (default: 1000)");
  add_json(parser, options->as_json);
  add_no_pin(parser, options->no_pin);
  add_no_mmap(parser, options->no_mmap);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
