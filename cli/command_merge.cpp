// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "model/report_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  std::string path;
  std::string drum;
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 0;
  bool as_json = false;
};

Result<std::vector<DrumInfo>> chosen_drums(const Store& store, const std::string& name) {
  const auto snapshot = store.snapshot();
  if (!snapshot) return tl::unexpected<Error>(snapshot.error());
  auto drums = snapshot->drums();
  if (!drums || name.empty()) return drums;
  std::erase_if(*drums, [&name](const DrumInfo& drum) { return drum.name != name; });
  if (drums->empty()) return fail(Errc::kUnknownName, "no DRUM has this name");
  return drums;
}

Result<std::vector<model::DrumMerge>> merge_all(Store& store, const Options& options) {
  const auto drums = chosen_drums(store, options.drum);
  if (!drums) return tl::unexpected<Error>(drums.error());
  std::vector<model::DrumMerge> merges;
  for (const DrumInfo& drum : *drums) {
    DrumOptions drum_options;
    drum_options.memory_bytes = options.memory_bytes.value_or(default_memory_bytes());
    const auto core = DrumCore::open(store, drum.name, drum.value_bytes, drum_options);
    if (!core) return tl::unexpected<Error>(core.error());
    const auto report = (*core)->synchronize();
    if (!report) return tl::unexpected<Error>(report.error());
    CRAWLSTORE_TRY((*core)->dispose());
    merges.push_back({drum.name, *report});
  }
  return merges;
}

int run(const Options& options) {
  const auto open = open_options(options.lock_wait_seconds);
  if (!open) return fail_with(options.path, open.error());
  auto store = Store::open(options.path, *open);
  if (!store) return fail_with(options.path, store.error());
  const auto merges = merge_all(*store, options);
  if (!merges) return fail_with(options.path, merges.error());
  if (const auto closed = store->close(); !closed) return fail_with(options.path, closed.error());
  return print_document(model::merge_view(*merges), options.as_json);
}

}  // namespace

Action define_merge(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "Verdicts of requests that no running program waits for are kept in the file: the next "
      "`seen` prints them first.");
  add_file(parser, options->path);
  add_drum(parser, options->drum, "only this DRUM (default: all)");
  add_memory(parser, options->memory_bytes);
  add_json(parser, options->as_json);
  add_lock_wait(parser, options->lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
