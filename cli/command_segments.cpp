// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"
#include "cli/options.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/store_view.h"

namespace crawlstore::cli {
namespace {

struct SegmentsOptions {
  std::string path;
  std::string kind;
  bool show_runs = false;
  TableForm form;
  bool no_pin = false;
  bool no_mmap = false;
};

int run(const SegmentsOptions& options) {
  const auto snapshot = open_snapshot(options.path, options.no_pin, options.no_mmap);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  auto document = model::segments_view(*snapshot, find_segment_kind(options.kind));
  if (!options.form.as_json) {
    document.fields.clear();
    if (!options.show_runs) document.tables.resize(1);
  }
  return print_document(document, options.form);
}

/// The names in spec/registry.md.
std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  names.reserve(32);
  for (std::uint16_t number = 1; find_segment_kind(name_of(SegmentKind{number})); ++number) {
    names.emplace_back(name_of(SegmentKind{number}));
  }
  return names;
}

}  // namespace

Action define_segments(Parser& parser) {
  auto options = std::make_shared<SegmentsOptions>();
  add_file(parser, options->path);
  parser.text("--kind K", options->kind, "only segments of this kind").one_of(kind_names());
  parser.flag("--runs", options->show_runs, "the place of each run as well");
  add_table_form(parser, options->form);
  add_no_pin(parser, options->no_pin);
  add_no_mmap(parser, options->no_mmap);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
