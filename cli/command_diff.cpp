// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/store_diff.h"

namespace crawlstore::cli {
namespace {

struct DiffVerbOptions {
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

Result<Snapshot> open(const DiffVerbOptions& options, const std::string& path, bool previous) {
  SnapshotOptions which;
  which.pin = !options.no_pin;
  which.previous = previous;
  which.mapped = !options.no_mmap;
  return Snapshot::open(path, which);
}

/// Of one file: two generations that follow each other, whatever a writer does meanwhile.
Result<States> open_generations(const DiffVerbOptions& options) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    CRAWLSTORE_TRY(auto newer, open(options, options.old_path, false));
    CRAWLSTORE_TRY(auto older, open(options, options.old_path, true));
    if (older.generation().next() == newer.generation()) {
      return States{std::move(older), std::move(newer)};
    }
  }
  return fail(Errc::kBusyPinned, "the store commits faster than two generations can be opened");
}

int compare_and_print(const DiffVerbOptions& options, const States& states) {
  const StopSignals stop;
  ProgressBar progress("diff", model::Unit::kCount, "keys, pages and links", options.quiet);
  model::StoreDiffOptions how;
  how.view.with_keys = options.with_keys;
  if (options.rows_max) how.view.rows_max = *options.rows_max;
  std::string failed_path = options.old_path;
  how.failed = [&](bool in_new) {
    if (in_new && !options.previous) failed_path = options.new_path;
  };
  how.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.update_of(done, total);
    return stop.requested() == 0;
  };
  const auto document = model::store_diff(states.older, states.newer, how);
  if (!document) {
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
    return fail_to_compare(failed_path, document.error());
  }
  const int printed = print_document(*document, options.as_json);
  if (printed != kExitDone) return printed;
  return document->fields.front().value == model::Cell{true} ? kExitNo : kExitDone;
}

int run(const DiffVerbOptions& options) {
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
  auto options = std::make_shared<DiffVerbOptions>();
  parser.footer(
      "Exit code 0: equal; 1: they differ; 2: they cannot be compared, as one is damaged or not "
      "there; 3 and 4 as of every command. Segments are compared in states of one store only; "
      "they also differ when the same was written anew, as by `compact`. DRUMs are compared by "
      "name: keys, values, waiting requests. Page databases too, instead of the DRUMs of their "
      "keys: pages, their links, waiting edits; a page is known by its index in states of one "
      "store, and by its URL in two stores. `other_kind`: pages have URLs in one state alone, or "
      "scores are of pages in one and of hosts in the other; what is in them is not compared. "
      "A page is gone when NEW says so or does not have it; only what NEW does not have, which is "
      "forgotten, counts as - in the sentence and in the growth of hosts. "
      "Of scores the values are compared, where there are none as 0: how many changed, how many "
      "only one state has, by how much they differ together (L1), and the largest change. Of "
      "queues only the numbers of pages and runs are compared.");
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
