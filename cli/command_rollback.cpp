// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace crawlstore::cli {
namespace {

struct Options {
  std::string path;
  double lock_wait_seconds = 0;
  bool quiet = false;
};

int run(const Options& options) {
  const auto open = open_options(options.lock_wait_seconds);
  if (!open) return fail_with(options.path, open.error());
  const auto generation = Store::rollback(options.path, *open);
  if (!generation) return fail_with(options.path, generation.error());
  if (!options.quiet) {
    note(fmt::format("{}: generation {} holds what the one before held", options.path,
                     generation->value));
  }
  return kExitDone;
}

}  // namespace

Action define_rollback(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_file(parser, options->path);
  add_lock_wait(parser, options->lock_wait_seconds);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
