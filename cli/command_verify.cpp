// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <crawlstore/page_view.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "cli/wall_clock.h"
#include "model/format_text.h"
#include "model/verify_view.h"

namespace crawlstore::cli {
namespace {

struct VerifyVerbOptions {
  std::string path;
  bool quick = false;
  bool deep = false;
  bool strict = false;
  bool as_json = false;
  bool quiet = false;
  bool no_mmap = false;
};

/// Crawls of a page database that lie ahead of the clock: no rule forbids them, but some clock was
/// wrong, and what goes by the age of a page takes these for fresh.
struct TimesAhead {
  SegmentId database;
  std::uint64_t generation = 0;
  std::string text;
};

Result<std::optional<TimesAhead>> find_times_ahead(const Snapshot& snapshot,
                                                   const std::string& database,
                                                   const StopSignals& stop) {
  const std::int64_t now_us = wall_clock_us();
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, database));
  std::uint64_t count = 0;
  PageInfo furthest;
  CRAWLSTORE_TRY(pages.for_each_page([&](const PageInfo& page) {
    if (page.last_crawl_us > now_us) ++count;
    if (page.last_crawl_us > furthest.last_crawl_us) furthest = page;
    return stop.requested() == 0;
  }));
  if (count == 0) return std::nullopt;
  return TimesAhead{
      pages.info().id, snapshot.generation().value,
      fmt::format(
          "pages of `{}` that were crawled ahead of the clock: {}; the furthest is page {} at {}. "
          "What to do: look at the clocks; a crawl of the page puts its time right",
          model::format_printable(database), model::format_count(count), furthest.index,
          model::format_time(furthest.last_crawl_us))};
}

/// Looks through every page database of a file, which must be whole.
Result<std::vector<TimesAhead>> find_times_ahead(const VerifyVerbOptions& options,
                                                 const StopSignals& stop) {
  std::vector<TimesAhead> found;
  auto snapshot = open_snapshot(options.path, false, options.no_mmap);
  if (!snapshot && snapshot.error().code == Errc::kNoLocks) {  // verify() needs none either
    snapshot = open_snapshot(options.path, true, options.no_mmap);
  }
  if (!snapshot) return tl::unexpected<Error>(snapshot.error());
  for (const std::string& database : PageView::names(*snapshot)) {
    CRAWLSTORE_TRY(auto ahead, find_times_ahead(*snapshot, database, stop));
    if (ahead) found.push_back(std::move(*ahead));
  }
  return found;
}

std::string findings_of(const VerifyReport& report, const std::vector<TimesAhead>& ahead) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += finding.kind == FindingKind::kDamaged      ? "damaged"
            : finding.kind == FindingKind::kUnfinished ? "unfinished"
                                                       : "reduced redundancy";
    if (finding.generation.value != 0) {
      text += fmt::format(", generation {}", finding.generation.value);
    }
    text += ": " + describe(finding) + '\n';
  }
  for (const TimesAhead& times : ahead) {
    text += fmt::format("time ahead, generation {}: {}\n", times.generation, times.text);
  }
  return text;
}

int print_json(const VerifyReport& report, VerifyLevel level,
               const std::vector<TimesAhead>& ahead) {
  model::Document document = model::verify_view(report, level);
  for (const TimesAhead& times : ahead) {
    document.tables.front().rows.push_back({std::string("time_ahead"), times.generation,
                                            std::string("time_ahead"), times.database.value,
                                            model::Cell{}, times.text});
  }
  return print_document(document, true);
}

int print_text(const std::string& path, const VerifyReport& report,
               const std::vector<TimesAhead>& ahead) {
  const std::string text = findings_of(report, ahead) + model::format_printable(path) + ": ";
  if (const int printed = print(text); printed != kExitDone) return printed;
  const int printed = report.damaged() ? print_colored("damaged", Color::kRed)
                      : report.whole() ? print_colored("whole", Color::kGreen)
                                       : print_colored("reduced redundancy", Color::kYellow);
  if (printed != kExitDone) return printed;
  return print(fmt::format("; {} generations, {} segments, {} checked\n", report.generations,
                           model::format_count(report.checked_segments),
                           model::format_bytes(report.checked_bytes)));
}

int run(const VerifyVerbOptions& options) {
  const StopSignals stop;
  ProgressBar progress("verify", model::Unit::kBytes, "", options.quiet);
  VerifyOptions verify_options;
  verify_options.level = options.quick  ? VerifyLevel::kQuick
                         : options.deep ? VerifyLevel::kDeep
                                        : VerifyLevel::kNormal;
  verify_options.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.update_of(done, total);
    return stop.requested() == 0;
  };
  verify_options.mapped = !options.no_mmap;
  const auto report = verify(options.path, verify_options);
  if (!report) {
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
    return fail_with(options.path, report.error());
  }
  Result<std::vector<TimesAhead>> ahead;
  if (options.strict && !report->damaged()) ahead = find_times_ahead(options, stop);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!ahead) return fail_with(options.path, ahead.error());
  const int printed = options.as_json ? print_json(*report, verify_options.level, *ahead)
                                      : print_text(options.path, *report, *ahead);
  if (printed != kExitDone) return printed;
  const bool is_no = report->damaged() || (options.strict && (!report->whole() || !ahead->empty()));
  return is_no ? kExitNo : kExitDone;
}

}  // namespace

Action define_verify(Parser& parser) {
  auto options = std::make_shared<VerifyVerbOptions>();
  add_file(parser, options->path);
  const auto quick = parser.flag("--quick", options->quick, "superblocks and directories only");
  parser.flag("--deep", options->deep, "every rule of every segment's format too").excludes(quick);
  parser.flag("--strict", options->strict,
              "reduced redundancy counts as damage (exit 1), and so do crawls of "
              "pages whose times lie ahead of the clock, which it names");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_no_mmap(parser, options->no_mmap);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
