// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/process_name.h"
#include "model/store_view.h"

namespace crawlstore::cli {
namespace {

struct PinsOptions {
  std::string path;
  TableForm form;
};

std::string printable_name(std::int64_t pid) {
  return model::format_printable(model::process_name(pid));
}

int run(const PinsOptions& options) {
  const auto snapshot = open_snapshot(options.path, false);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  std::optional<StoreInfo> previous;
  SnapshotOptions before;
  before.previous = true;
  before.pin = false;
  if (const auto earlier = Snapshot::open(options.path, before)) {
    if (const auto info = earlier->info()) previous = *info;
  }
  const auto document = model::pins_view(*snapshot, previous, ::getpid(), printable_name);
  if (!document) return fail_with(options.path, document.error());
  return print_document(*document, options.form);
}

}  // namespace

Action define_pins(Parser& parser) {
  auto options = std::make_shared<PinsOptions>();
  add_file(parser, options->path);
  add_table_form(parser, options->form);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
