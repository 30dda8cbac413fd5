// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/queue_source.h"
#include "cli/verb.h"
#include "model/queue_view.h"

namespace crawlstore::cli {
namespace {

struct Options {
  QueueSourceOptions source;
  std::optional<std::uint64_t> count;
  bool as_json = false;
};

/// All queues, and of the one that was chosen the first pages.
Result<model::Document> describe_queues(const QueueSource& source, const Options& options) {
  model::Document document{{}, {model::queues_table(source.queues)}};
  if (!source.queue) return document;
  CRAWLSTORE_TRY(const auto first, source.queue->peek(options.count.value_or(10)));
  model::Cell priority;
  if (!first.empty()) priority = first.front().priority;
  document.fields = {{"name", model::Unit::kText, source.queue->info().name},
                     {"page_count", model::Unit::kCount, source.queue->info().page_count},
                     {"first_priority", model::Unit::kExact, priority}};
  std::vector<model::WaitingPage> pages;
  for (const QueuedPage& page : first) {
    CRAWLSTORE_TRY(auto url, url_of(source, page.page));
    pages.push_back({page, std::move(url)});
  }
  document.tables.push_back(model::waiting_table(pages, !options.as_json));
  return document;
}

int run(const Options& options) {
  int code = kExitDone;
  const auto source = open_queues(options.source, code);
  if (!source) return code;
  const auto document = describe_queues(*source, options);
  if (!document) return fail_with(options.source.pages.path, document.error());
  return print_document(*document, options.as_json);
}

}  // namespace

Action define_queue(Parser& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "All queues of the file, and of one of them the pages that leave first: highest priority "
      "first, ties by index. It reads beside any writer, and takes nothing: `crawlstore next` "
      "does. Exit code 1 when there is no queue.");
  add_queue_source(parser, options->source);
  add_count(parser, "-n,--limit", options->count, "so many pages (default: 10)", {1, 100'000'000});
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
