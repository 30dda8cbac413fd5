// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/queue_changes.h"
#include "cli/queue_source.h"
#include "cli/verb.h"
#include "model/queue_view.h"

namespace crawlstore::cli {
namespace {

constexpr const char* kQueueFooter =
    "Without a change `queue` shows all queues of the file. If one is chosen, it also shows the "
    "pages that leave that queue first: highest priority first, ties by index. It reads beside "
    "any writer and takes no page; `crawlstore next` takes pages. The exit code is 1 when there "
    "is no queue.\n"
    "--fill-from inserts all pages that have a score, also 0, in one commit. It leaves out pages "
    "that are gone or were forgotten, and pages that came after the scores were computed "
    "(unscored_count). If pages wait in the queue, --fill-from needs --add or --replace. A first "
    "Ctrl-C stops it with nothing changed, except that a queue that it was to make is there and "
    "empty.\n"
    "--insert, --update and --remove first read all lines, then make one commit. A line takes "
    "some 50 bytes of memory, or 120 if the page waits already. A page waits once. These lines "
    "are special:\n"
    "  a page that waits already, or comes twice: its last priority counts (updated_count)\n"
    "  a page that does not wait: left out by --update and --remove (absent_count)\n"
    "  a page that is not in the database: left out and counted (unknown_count)\n"
    "  a broken line: left out and counted (malformed_count; the exit code is then 1)\n"
    "  an empty line, or a comment as in edges of `import`: skipped\n"
    "  a page and a TAB: the rest of the line is left out (cut_count)\n"
    "Inputs packed by gzip or zstd are unpacked, as by `import`. --insert and --fill-from make a "
    "queue that is not there.\n"
    "--trim removes the pages that would leave last; each costs as much as one of --remove. To "
    "remove most pages, --clear and then --insert of the first lines of an export is faster. "
    "--clear, --trim 0 and --replace do not read the pages that wait, so they can also empty a "
    "damaged queue. The space of a damaged queue is free once its generation is no longer the "
    "previous one. `export --format queue` writes lines that --insert reads, in the order in "
    "which the pages leave.";

struct QueueVerbOptions {
  QueueSourceOptions source;
  QueueChange change;
};

/// JSON has no infinities: adds each priority as a text.
void add_priority_texts(std::span<const QueuedPage> first, model::Document& document) {
  const auto text_of = [](const QueuedPage& page) { return fmt::to_string(page.priority); };
  model::Field field{"first_priority_text", model::Unit::kText, {}};
  if (!first.empty()) field.value = text_of(first.front());
  document.fields.push_back(std::move(field));
  model::Table& pages = document.tables.back();
  pages.columns.push_back({"priority_text", model::Unit::kText});
  for (std::size_t i = 0; i < first.size(); ++i) pages.rows[i].emplace_back(text_of(first[i]));
}

/// Describes all queues, and the first pages of the one that was chosen.
Result<model::Document> describe_queues(const QueueSource& source,
                                        std::span<const QueueInfo> queues,
                                        const QueueVerbOptions& options) {
  model::Document document{{}, {model::queues_table(queues)}};
  if (!source.queue) return document;
  CRAWLSTORE_TRY(const auto first, source.queue->peek(options.change.limit.value_or(10)));
  model::Cell priority;
  if (!first.empty()) priority = first.front().priority;
  document.fields = {{"name", model::Unit::kText, source.queue->info().name},
                     {"page_count", model::Unit::kCount, source.queue->info().page_count},
                     {"first_priority", model::Unit::kExact, priority}};
  std::vector<model::WaitingPage> pages;
  CRAWLSTORE_TRY(
      for_each_url(source, first, [&pages](const QueuedPage& page, const std::string& url) {
        pages.push_back({page, url});
        return Result<void>{};
      }));
  document.tables.push_back(model::waiting_table(pages));
  if (options.change.form.as_json) add_priority_texts(first, document);
  return document;
}

int run(const QueueVerbOptions& options) {
  const QueueChange& change = options.change;
  const bool fills = !change.scores.empty();
  const bool has_list = !change.lines_path.empty();
  if (!fills && (change.only_unfetched || change.adds || change.replaces)) {
    return fail_with("queue: --unfetched, --add and --replace go with --fill-from", kExitUsage);
  }
  if (!has_list && change.is_strict) {
    return fail_with("queue: --strict goes with --insert, --update and --remove", kExitUsage);
  }
  const bool changes = fills || has_list || change.clears || change.kept;
  if (changes && change.form.is_table_only()) {
    return fail_with("queue: --tsv and --columns go with the list of pages, not with a change",
                     kExitUsage);
  }
  if (fills) return fill_queue(options.source, change);
  if (has_list) return change_by_list(options.source, change);
  if (change.clears || change.kept) return trim_queue(options.source, change);
  int code = kExitDone;
  const auto source = open_queues(options.source, {.queue = true}, code);
  if (!source) return code;
  const auto [queues, problem] = model::readable_queues(source->snapshot);
  const auto document = describe_queues(*source, queues, options);
  if (!document) {
    return fail_with_queue(source->snapshot, options.source.pages.path, document.error());
  }
  code = print_document(*document, options.change.form);
  return problem ? fail_with_queue(source->snapshot, options.source.pages.path, *problem) : code;
}

std::string check_given(const std::string& text) {
  return text.empty() ? "it is empty" : std::string();
}

}  // namespace

Action define_queue(Parser& parser) {
  auto options = std::make_shared<QueueVerbOptions>();
  parser.footer(kQueueFooter);
  add_queue_source(parser, options->source);
  QueueChange& change = options->change;
  const auto limit =
      add_count(parser, "-n,--limit", change.limit,
                "at most N pages, the best (default: 10; with --fill-from all)", {1, 100'000'000});
  std::vector<Option> changes;
  changes.push_back(parser
                        .text("--fill-from SCORE", change.scores,
                              "insert pages with these scores as priorities, such as pagerank")
                        .check(check_given));
  parser.flag("--unfetched", change.only_unfetched,
              "with --fill-from: only pages that were never crawled or tried");
  const auto adds =
      parser.flag("--add", change.adds, "with --fill-from: add to the pages that wait");
  parser.flag("--replace", change.replaces, "with --fill-from: replace the pages that wait")
      .excludes(adds);
  const auto add_list = [&](const char* spelling, ListUse use, const char* help) {
    const auto keep = [&change, use](const std::string& text) {
      change.lines_path = text;
      change.use = use;
      return check_given(text);
    };
    changes.push_back(parser.parsed(spelling, keep, help).excludes(limit));
  };
  add_list("--insert INPUT", ListUse::kInsert,
           "insert pages: lines PRIORITY TAB URL, or #INDEX for the URL; - for standard input");
  add_list("--update INPUT", ListUse::kUpdate,
           "change the priorities of pages that wait: lines as for --insert");
  add_list("--remove INPUT", ListUse::kRemove, "remove pages: lines URL or #INDEX");
  changes.push_back(add_count(parser, "--trim", change.kept,
                              "keep the first N pages and remove those that would leave last",
                              {0, ~std::uint64_t{0}})
                        .excludes(limit));
  changes.push_back(parser.flag("--clear", change.clears, "remove all pages").excludes(limit));
  for (auto one = changes.begin(); one != changes.end(); ++one) {
    std::for_each(changes.begin(), one, [one](Option other) { one->excludes(other); });
  }
  parser.flag("--strict", change.is_strict,
              "change nothing if a line is broken or its page is not in the database (exit 1)");
  add_table_form(parser, change.form);
  add_quiet(parser, change.quiet);
  add_queue_memory(parser, options->source);
  add_lock_wait(parser, change.lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
