// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "model/generations_view.h"
#include "model/queue_view.h"
#include "model/scores_view.h"
#include "model/space_view.h"
#include "model/store_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  std::string path;
  bool as_json = false;
  bool no_pin = false;
  bool no_mmap = false;
};

int run(const Options& options) {
  const auto snapshot = open_snapshot(options.path, options.no_pin, options.no_mmap);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  VerifyOptions quick;
  quick.level = VerifyLevel::kQuick;
  auto storage =
      open_storage(options.path, options.no_pin ? OpenMode::kReadNoPin : OpenMode::kRead);
  if (!storage) return fail_with(options.path, storage.error());
  if (options.no_mmap) *storage = unmapped(std::move(*storage));
  const auto health = verify(**storage, quick);
  auto document = model::info_view(*snapshot, health ? &*health : nullptr, ::getpid());
  if (!document) return fail_with(options.path, document.error());
  const auto info = snapshot->info();
  if (!info) return fail_with(options.path, info.error());
  document->tables.push_back(model::space_table(*info, snapshot->segments()));
  auto scores = model::scores_table(*snapshot);
  if (!scores) return fail_with(options.path, scores.error());
  document->tables.push_back(std::move(*scores));
  const auto queues = QueueView::list(*snapshot);
  if (!queues) return fail_with(options.path, queues.error());
  document->tables.push_back(model::queues_table(*queues));
  const auto copies = generations(**storage);
  if (!copies) return fail_with(options.path, copies.error());
  document->tables.push_back(model::superblocks_table(*copies));
  return print_document(*document, options.as_json);
}

}  // namespace

Action define_info(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_file(parser, options->path);
  add_json(parser, options->as_json);
  add_no_pin(parser, options->no_pin);
  add_no_mmap(parser, options->no_mmap);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
