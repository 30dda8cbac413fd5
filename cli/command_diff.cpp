// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_source.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
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
  bool skips_damaged = false;
};

struct States {
  Snapshot older;
  Snapshot newer;
};

/// The codes are those of diff(1): 1 says that the generations differ, and nothing else.
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

/// Opens two generations of one file that follow each other, whatever a writer does meanwhile.
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

std::string describe(const model::DiffGap& gap) {
  if (gap.pages) return fmt::format("`{}`: {}", gap.name, describe_gap(*gap.pages));
  const std::string kind = gap.kind == "drum" ? "DRUM" : gap.kind;
  return fmt::format("{} `{}`: {}", kind == "page_database" ? "page database" : kind, gap.name,
                     describe_damage(gap.error));
}

/// Says what was left out of which state. Returns false when there is nothing to say.
bool tell_gaps(const model::DiffGaps& gaps, const DiffVerbOptions& options) {
  constexpr std::size_t kToldMax = 20;
  const auto& all = gaps.all();
  for (std::size_t i = 0; i < std::min(all.size(), kToldMax); ++i) {
    const bool is_other_file = all[i].in_new && !options.previous;
    const std::string& path = is_other_file ? options.new_path : options.old_path;
    note(fmt::format("{}: left out{}: {}", model::format_printable(path),
                     !options.previous ? ""
                     : all[i].in_new   ? " of the newest generation"
                                       : " of the generation before",
                     model::format_printable(describe(all[i]))));
  }
  if (all.size() > kToldMax) {
    note(fmt::format("left out: {} ranges more", model::format_count(all.size() - kToldMax)));
  }
  if (!all.empty()) note("`crawlstore verify --deep FILE` names all damage");
  return !all.empty();
}

int compare_and_print(const DiffVerbOptions& options, const States& states) {
  const StopSignals stop;
  ProgressBar progress("diff", model::Unit::kCount, "keys, pages, links and items", options.quiet);
  model::StoreDiffOptions how;
  model::DiffGaps gaps;
  if (options.skips_damaged) how.view.gaps = &gaps;
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
    const int code = fail_to_compare(failed_path, document.error());
    if (!options.skips_damaged) note_skip_damaged(failed_path, document.error());
    return code;
  }
  const int printed = print_document(*document, options.as_json);
  if (printed != kExitDone) return printed;
  if (tell_gaps(gaps, options)) return kExitNo;
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
      "there; 3 and 4 as of every command. These are compared:\n"
      "  segments: in states of one store only; they also differ when the same was written anew, "
      "as by `compact`\n"
      "  DRUMs, by name: keys, values, waiting requests\n"
      "  page databases, instead of the DRUMs of their keys: pages, their links, waiting edits\n"
      "  scores: the values, with 0 where there is none; how many changed, how many only one "
      "state has, the sum of the differences (L1), the largest change\n"
      "  queues: only the numbers of pages and runs\n"
      "  frontiers: groups; items that wait, whose time may not have come, and items that are "
      "leased\n"
      "In states of one store a page is known by its index, in two stores by its URL. An item is "
      "known by its id in states of one store and where ids are the caller's, else by its body. "
      "An item that is `leased` was taken since, one that is `returned` came back, one that is "
      "`gone` was finished or removed. `other_kind`: pages have URLs in one state alone, or "
      "scores are of pages in one and of hosts in the other; their contents are not compared. A "
      "page is gone when NEW says so or does not have it. Only a page that NEW does not have, "
      "which is forgotten, counts as - in the sentence and in the growth of hosts.\n"
      "With --skip-damaged, pages, links and edits that one state cannot tell are left out, and "
      "count neither as + nor as -. A DRUM, an array of scores, a queue or a frontier is left "
      "out as a whole if any part of it cannot be read. A page database without its table is "
      "left out with its scores.");
  parser.text("OLD", options->old_path, "the crawl file as it was").required();
  parser.text("NEW", options->new_path, "the crawl file as it is");
  parser.flag("--previous", options->previous,
              "instead of NEW: OLD's generation before the newest one, and the newest one");
  parser.flag("--skip-damaged", options->skips_damaged,
              "leave out what cannot be read, and say what that is; exit code 1 if there was any");
  parser.flag("--keys", options->with_keys, "list keys, requests and links as well");
  add_count(parser, "--limit", options->rows_max, "how many rows of each list (default: 1000)");
  add_json(parser, options->as_json);
  add_no_pin(parser, options->no_pin);
  add_no_mmap(parser, options->no_mmap);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
