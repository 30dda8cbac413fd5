// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"
#include "cli/options.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/store_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  std::string path;
  std::string kind;
  bool show_runs = false;
  TableForm form;
  bool no_pin = false;
  bool no_mmap = false;
};

int run(const Options& options) {
  const auto snapshot = open_snapshot(options.path, options.no_pin, options.no_mmap);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  auto document = model::segments_view(*snapshot, find_segment_kind(options.kind));
  if (!options.form.as_json) {
    document.fields.clear();
    if (!options.show_runs) document.tables.resize(1);
  }
  return print_document(document, options.form);
}

}  // namespace

Action define_segments(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_file(parser, options->path);
  const auto check = [](const std::string& text) {
    return find_segment_kind(text) ? std::string()
                                   : "one of drum, drum_partition, drum_key_log, drum_aux_log, "
                                     "drum_results is expected, not " +
                                         text;
  };
  parser.text("--kind K", options->kind, "only segments of this kind: drum, drum_partition ...")
      .check(check);
  parser.flag("--runs", options->show_runs, "the place of each run as well");
  add_table_form(parser, options->form);
  add_no_pin(parser, options->no_pin);
  add_no_mmap(parser, options->no_mmap);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
