// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/verify_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  std::string path;
  bool quick = false;
  bool deep = false;
  bool strict = false;
  bool as_json = false;
  bool quiet = false;
  bool no_mmap = false;
};

std::string findings_of(const VerifyReport& report) {
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
  return text;
}

int print_text(const std::string& path, const VerifyReport& report) {
  const std::string text = findings_of(report) + model::format_printable(path) + ": ";
  if (const int printed = print(text); printed != kExitDone) return printed;
  const int printed = report.damaged() ? print_colored("damaged", Color::kRed)
                      : report.whole() ? print_colored("whole", Color::kGreen)
                                       : print_colored("reduced redundancy", Color::kYellow);
  if (printed != kExitDone) return printed;
  return print(fmt::format("; {} generations, {} segments, {} checked\n", report.generations,
                           model::format_count(report.checked_segments),
                           model::format_bytes(report.checked_bytes)));
}

int run(const Options& options) {
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
  const int printed = options.as_json
                          ? print_document(model::verify_view(*report, verify_options.level), true)
                          : print_text(options.path, *report);
  if (printed != kExitDone) return printed;
  const bool is_no = report->damaged() || (options.strict && !report->whole());
  return is_no ? kExitNo : kExitDone;
}

}  // namespace

Action define_verify(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_file(parser, options->path);
  const auto quick = parser.flag("--quick", options->quick, "superblocks and directories only");
  parser.flag("--deep", options->deep, "every rule of every segment's format too").excludes(quick);
  parser.flag("--strict", options->strict, "reduced redundancy counts as damage (exit 1)");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_no_mmap(parser, options->no_mmap);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
