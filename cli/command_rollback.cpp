// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <crawlstore/tools/roll_forward.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"

namespace crawlstore::cli {
namespace {

struct RollbackOptions {
  std::string path;
  double lock_wait_seconds = 0;
  bool forward = false;
  bool quiet = false;
};

int run(const RollbackOptions& options) {
  const auto open = open_options(options.lock_wait_seconds);
  if (!open) return fail_with(options.path, open.error());
  const StopSignals stop;
  ProgressBar bar("rollback", model::Unit::kBytes, "", options.quiet);
  const Progress progress = [&](std::uint64_t done, std::uint64_t total) {
    bar.update_of(done, total);
    return stop.requested() == 0;
  };
  const auto generation = options.forward ? roll_forward(options.path, *open, progress)
                                          : Store::rollback(options.path, *open, progress);
  if (!generation) {
    if (generation.error().code == Errc::kCancelled) return exit_code_of_signal(stop.requested());
    return fail_with(options.path, generation.error());
  }
  if (options.quiet) return kExitDone;
  note(fmt::format("{}: generation {} {}", options.path, generation->value,
                   options.forward ? "is the newest again"
                                   : "holds what one before it held; `crawlstore verify --deep` "
                                     "tells whether that is whole"));
  return kExitDone;
}

}  // namespace

Action define_rollback(Parser& parser) {
  auto options = std::make_shared<RollbackOptions>();
  parser.footer(
      "Publishes the content of the previous generation anew, unless that generation is damaged "
      "and the newest one is not, or both are damaged: then `recover` saves what can be read. If "
      "the newest generation cannot be read, or if the superblocks of a newer one are lost, it "
      "is given up: the newest whole one is published anew. With --forward no generation is "
      "given up. The newest generation that free space holds, newer than the superblocks show, "
      "is checked as by `verify --deep`. It becomes the newest again if it is whole; else "
      "nothing changes. Free space keeps such a generation until the next commit. Items that "
      "were put into a frontier since the generation that comes back are gone, and their IDs are "
      "given again.");
  add_file(parser, options->path);
  parser.flag("--forward", options->forward, "publish a newer generation that was lost");
  add_lock_wait(parser, options->lock_wait_seconds);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
