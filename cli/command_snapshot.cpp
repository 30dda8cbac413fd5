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
  std::string out;
  bool previous = false;
  bool no_pin = false;
  bool quiet = false;
};

int run(const Options& options) {
  SnapshotOptions which;
  which.pin = !options.no_pin;
  which.previous = options.previous;
  const auto snapshot = Snapshot::open(options.path, which);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  if (const auto copied = copy_snapshot(*snapshot, options.out); !copied) {
    const bool is_damage = category(copied.error().code) == ErrorCategory::kDamage;
    return fail_with(is_damage ? options.path : options.out, copied.error());
  }
  if (!options.quiet) {
    note(fmt::format("generation {} copied to {}", snapshot->generation().value, options.out));
  }
  return kExitDone;
}

}  // namespace

Action define_snapshot(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_file(parser, options->path);
  parser.text("OUT", options->out, "the copy; never replaced").required();
  parser.flag("--previous", options->previous, "the generation before the newest one");
  add_no_pin(parser, options->no_pin);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
