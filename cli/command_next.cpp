// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <crawlstore/tools/queue_gaps.h>
#include <crawlstore/transaction.h>

#include "cli/console.h"
#include "cli/edge_lines.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/queue_source.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/json.h"

namespace crawlstore::cli {
namespace {

const char* const kUrls = "urls";
const char* const kTsv = "tsv";

struct NextOptions {
  QueueSourceOptions source;
  std::optional<std::uint64_t> count;
  std::string format = kUrls;
  bool peeks = false;
  bool as_json = false;
  double lock_wait_seconds = 0;
};

void append_json(std::string& to, const QueuedPage& page, std::string_view url) {
  const std::string text = fmt::to_string(page.priority);
  fmt::format_to(std::back_inserter(to), R"({{"index":{},"priority":{},"priority_text":"{}",)",
                 page.page, std::isfinite(page.priority) ? text : "null", text);
  if (url.empty()) {
    to += "\"url\":null";
  } else {
    model::append_json_bytes(to, "url", url);
  }
  to += '}';
}

void append_line(std::string& to, const QueuedPage& page, std::string_view url, bool with_score) {
  if (with_score) fmt::format_to(std::back_inserter(to), "{}\t", page.priority);
  // A URL that a line cannot hold as it is would be taken for something else.
  const bool fits = fits_edge_to(url) && model::format_line(url) == url;
  to += fits ? std::string(url) : fmt::format("#{}", page.page);
  to += '\n';
}

/// Appends them as the member `queue_gaps` of an object, behind others.
void append_queue_gaps_json(std::string& to, const std::vector<QueueGap>& gaps) {
  const auto number = [](const auto& value) {
    return value && std::isfinite(*value) ? fmt::to_string(*value) : std::string("null");
  };
  to += ",\n  \"queue_gaps\": [";
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const QueueGap& gap = gaps[i];
    fmt::format_to(std::back_inserter(to),
                   "{}\n    {{\"offset_bytes\": {}, \"length_bytes\": {}, \"entry_count\": {}, "
                   "\"first_priority\": {}, \"last_priority\": {}, "
                   "\"is_whole_queue\": {}, \"error\": ",
                   i == 0 ? "" : ",", gap.offset_bytes, gap.length_bytes,
                   gap.entry_count ? fmt::to_string(*gap.entry_count) : "null",
                   number(gap.first_priority), number(gap.last_priority), gap.hides_all);
    model::append_json_text(to, describe(gap.error));
    to += '}';
  }
  to += gaps.empty() ? "]" : "\n  ]";
}

/// Writes all of them. A file has them on the disk then, as the commit that follows is.
Result<void> write_pages(const QueueSource& source, const std::vector<QueuedPage>& pages,
                         const std::vector<QueueGap>& gaps, const NextOptions& options) {
  CRAWLSTORE_TRY(auto output, OutputFile::open(""));
  std::string& tail = output.tail();
  if (options.as_json) tail += "{\n  \"pages\": [";
  bool is_first = true;
  const auto write = [&](const QueuedPage& page, const std::string& url) {
    if (options.as_json) {
      tail += std::exchange(is_first, false) ? "\n    " : ",\n    ";
      append_json(tail, page, url);
    } else {
      append_line(tail, page, url, options.format == kTsv);
    }
    return output.room();
  };
  const auto shown = for_each_url(source, pages, write);
  if (options.as_json) {
    std::string damaged;
    if (options.source.pages.skips_damaged) {
      append_gaps_json(damaged, source.gaps());
      append_queue_gaps_json(damaged, gaps);
    }
    model::append_json_list_end(tail, is_first, shown, damaged);
  }
  if (!shown && !options.as_json) return shown;
  const auto written = output.finish();
  CRAWLSTORE_TRY(shown);
  CRAWLSTORE_TRY(written);
  const bool is_synced = ::fsync(STDOUT_FILENO) == 0 || errno == EINVAL || errno == EROFS;
  if (!is_synced) return fail_errno(errno, "the output");
  return {};
}

/// Returns the number of pages that were shown. If it fails before the commit, nothing is taken.
Result<std::size_t> take(const QueueSource& source, Store& store, const NextOptions& options) {
  CRAWLSTORE_TRY(auto queue,
                 Queue::open(store, source.queue->info().name, queue_options(options.source)));
  CRAWLSTORE_TRY(auto taking, Transaction::begin(store));
  CRAWLSTORE_TRY(const auto pages, queue.take(options.count.value_or(1)));
  if (pages.empty()) return 0;
  CRAWLSTORE_TRY(write_pages(source, pages, {}, options));
  CRAWLSTORE_TRY(taking.commit());
  return pages.size();
}

/// Returns how many were shown. `gaps`: what could not be read of the queue.
Result<std::size_t> peek(const QueueSource& source, const NextOptions& options,
                         std::vector<QueueGap>& gaps) {
  const std::size_t count = options.count.value_or(1);
  QueuePeek peeked;
  if (options.source.pages.skips_damaged) {
    const std::string name = queue_name(source, options.source);
    CRAWLSTORE_TRY(peeked, peek_past_damage(source.snapshot, name, count));
    gaps = peeked.gaps;
  } else {
    CRAWLSTORE_TRY(peeked.pages, source.queue->peek(count));
  }
  if (peeked.pages.empty() && gaps.empty()) return 0;
  CRAWLSTORE_TRY(write_pages(source, peeked.pages, gaps, options));
  return peeked.pages.size();
}

std::string describe_gap(const QueueGap& gap) {
  const std::string place =
      fmt::format("{} of the queue at {:#x}", model::format_counted(gap.length_bytes, "byte"),
                  gap.offset_bytes);
  const std::string reason = describe_damage(gap.error);
  if (gap.hides_all) {
    return fmt::format("all pages, as nothing says which still wait: {}: {}", place, reason);
  }
  if (!gap.entry_count) return fmt::format("a run of any priorities: {}: {}", place, reason);
  return fmt::format(
      "{} with priorities from {} to {}: {}: {}",
      *gap.entry_count == 1 ? "1 entry" : model::format_count(*gap.entry_count) + " entries",
      *gap.first_priority, *gap.last_priority, place, reason);
}

/// Says on standard error what could not be read. Returns the exit code.
int tell_all_gaps(const QueueSource& source, const std::vector<QueueGap>& gaps,
                  const NextOptions& options) {
  for (const QueueGap& gap : gaps) {
    note(fmt::format("{}: left out: {}", model::format_printable(options.source.pages.path),
                     describe_gap(gap)));
  }
  const int code = tell_gaps(source.gaps(), options.source.pages);
  return gaps.empty() ? code : kExitNo;
}

int run(const NextOptions& options) {
  const std::string& path = options.source.pages.path;
  std::error_code ignored;
  if (std::filesystem::equivalent("/dev/stdout", path, ignored)) {
    return fail_with("next: the output is the crawl file itself", kExitUsage);
  }
  std::optional<Store> store;
  if (!options.peeks) {
    auto opened = open_store(path, options.lock_wait_seconds);
    if (!opened) return fail_with(path, opened.error());
    store = std::move(*opened);
  }
  if (!options.peeks) end_torn_line();
  int code = kExitDone;
  const bool skips = options.source.pages.skips_damaged;
  const QueueNeeds needs{
      .queue = true, .may_be_damaged = skips, .urls = true, .names_skip = options.peeks && !skips};
  const auto source = open_queues(options.source, needs, code);
  if (!source || !check_chosen(*source, options.source, code)) return code;
  std::vector<QueueGap> gaps;
  const auto shown = store ? take(*source, *store, options) : peek(*source, options, gaps);
  if (!shown) {
    code = fail_with_queue(source->snapshot, path, shown.error());
    if (options.peeks && !skips) note_skip_damaged(path, shown.error());
    return code;
  }
  if (*shown != 0 || !gaps.empty()) return tell_all_gaps(*source, gaps, options);
  return fail_with(fmt::format("{}: the queue `{}` is empty", model::format_printable(path),
                               queue_name(*source, options.source)),
                   kExitNo);
}

}  // namespace

Action define_next(Parser& parser) {
  auto options = std::make_shared<NextOptions>();
  parser.footer(
      "Takes the pages with the highest priority, ties by index, out of the queue. It prints a "
      "URL a line, or #INDEX for a page without one (it was forgotten, or the store has no "
      "URLs). #INDEX also stands for a URL that does not fit into a line (--json has it). Exit "
      "code 1 when there is no queue, or it is empty. At least once: all lines are written (and "
      "synced, to a file) before the commit by which the pages leave. If a write fails or the "
      "command is killed before that commit, no page has left, and the next run shows the same "
      "pages again. So pages can come twice, but a page that was not written is never lost. "
      "Lines in a pipe count as written, read or not: to be safe from a reader that dies, write "
      "to a file, or use --peek. Meanwhile no other writer has the file. With --json bytes that "
      "are no UTF-8 come as hexadecimal digits in `url_hex` instead of `url`; `priority_text` "
      "has the priority as tsv does, `inf` and `-inf` too, for which `priority` is null. With "
      "--skip-damaged pages come in their order, but for entries that cannot be read: these are "
      "named by their place in the file, and by their priorities where those are known. If the "
      "table of the queue, or a run of changes, is damaged, no page is shown.");
  add_queue_source(parser, options->source);
  add_count(parser, "-n,--limit", options->count, "so many pages (default: 1)", {1, 100'000'000});
  const auto peek_option =
      parser.flag("--peek", options->peeks, "only show the pages, beside any writer");
  add_skip_damaged(parser, options->source.pages).needs(peek_option);
  const auto format =
      parser.text("--format FORMAT", options->format, "urls (default), or tsv: PRIORITY TAB URL")
          .one_of({kUrls, kTsv});
  parser.flag("--json", options->as_json, "print one JSON document").excludes(format);
  add_queue_memory(parser, options->source);
  add_lock_wait(parser, options->lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
