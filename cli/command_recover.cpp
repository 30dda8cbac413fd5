// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <crawlstore/tools/recover.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/recover_view.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kLeastMemory = 1024 * 1024;

struct RecoverVerbOptions {
  std::string path;
  std::string out;
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 0;
  bool as_json = false;
  bool quiet = false;
};

int print_text(const RecoverVerbOptions& options, const RecoverReport& report) {
  std::string text;
  for (const Loss& loss : report.losses) {
    text += "lost: " + model::format_printable(describe(loss)) + '\n';
  }
  text += fmt::format(
      "{}: generation {}{}, {} read", model::format_printable(options.out), report.generation.value,
      report.generation < report.newest ? fmt::format(" (the newest was {})", report.newest.value)
                                        : std::string(),
      model::format_bytes(report.read_bytes));
  text += report.losses.empty() ? "; nothing was lost\n" : "; whole, without what is named above\n";
  return print(text);
}

int run(const RecoverVerbOptions& options) {
  const StopSignals stop;
  ProgressBar progress("recover", model::Unit::kBytes, "", options.quiet);
  RecoverOptions recover_options;
  if (options.memory_bytes) recover_options.memory_bytes = *options.memory_bytes;
  recover_options.lock_wait_ms = static_cast<std::uint32_t>(options.lock_wait_seconds * 1000);
  recover_options.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.update_of(done, total);
    return stop.requested() == 0;
  };
  const auto report = recover(options.path, options.out, recover_options);
  if (!report) {
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
    const Errc code = report.error().code;
    const bool is_of_new =
        code == Errc::kExists || code == Errc::kNoSpace || code == Errc::kFileSizeLimit;
    // The usual advice is what failed just now.
    if (code == Errc::kDirectoryDamaged || code == Errc::kIdentityDamaged) {
      return fail_with(fmt::format("{}: {}; restore a backup",
                                   model::format_printable(options.path), report.error().text),
                       kExitSystem);
    }
    // 1 says that there is a new file.
    const int failed = fail_with(is_of_new ? options.out : options.path, report.error());
    return failed == kExitNo ? kExitSystem : failed;
  }
  const int printed = options.as_json ? print_document(model::recover_view(*report), true)
                                      : print_text(options, *report);
  if (printed != kExitDone) return printed;
  return report->losses.empty() ? kExitDone : kExitNo;
}

}  // namespace

Action define_recover(Parser& parser) {
  auto options = std::make_shared<RecoverVerbOptions>();
  parser.footer(
      "FILE stays as it is. A generation can be taken if its directory root is whole and it is "
      "nearly the best: at most a hundredth less of it can be read. The newest such generation "
      "is taken; the identity page and the superblocks may be lost. Segments of lost directory "
      "tables, or all segments if no root is whole, are found by the ends of their runs; a name "
      "that nothing tells is made up. NEW appears when it is whole: verified to the last rule, "
      "and on the disk. Nothing is in NEW whose checksum was wrong. Links are taken from the "
      "other direction, keys of pages from URLs; pages keep their indexes. If some steps of a "
      "frontier cannot be read, the frontier is as it was before the first of them. If a run of "
      "its state is damaged, it has the groups before the damage. Limits of its groups do not "
      "count items that are lost, so that these can be put again. Exit code 0: nothing was lost; "
      "1: NEW is good, and lacks what is named; others: there is no NEW, unless only the report "
      "could not be printed.");
  add_file(parser, options->path);
  parser.text("NEW", options->out, "the new file; one that is there stays").required();
  add_bytes(parser, "--memory", options->memory_bytes,
            "budget for keys that are made from URLs (default 256MiB)", kLeastMemory);
  add_lock_wait(parser, options->lock_wait_seconds);
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
