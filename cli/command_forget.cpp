// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <crawlstore/drum_core.h>
#include <crawlstore/drum_view.h>
#include <crawlstore/frontier_view.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/schedule.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_selection.h"
#include "cli/progress.h"
#include "cli/queue_source.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/report_view.h"
#include "service/core/crawls.h"

namespace crawlstore::cli {
namespace {

using Meant = std::function<bool(std::string_view url)>;

struct ForgetVerbOptions {
  std::string path;
  std::string database;
  Meant is_meant;                   // all that were given must agree
  std::vector<std::string> queues;  // empty: those of the database
  std::vector<std::string> seen;    // empty: all
  double lock_wait_seconds = 0;
  bool as_json = false;
  bool quiet = false;
};

void narrow(Meant& meant, Meant also) {
  if (!meant) {
    meant = std::move(also);
    return;
  }
  meant = [first = std::move(meant), second = std::move(also)](std::string_view url) {
    return first(url) && second(url);
  };
}

/// The queues that the pages leave; nothing, and why, when one that was named is not there.
std::optional<std::vector<std::string>> choose_queues(const Snapshot& snapshot,
                                                      const ForgetVerbOptions& options, int& code) {
  const std::vector<std::string> names = names_of_queues(snapshot);
  for (const std::string& name : options.queues) {
    if (std::ranges::find(names, name) != names.end()) continue;
    code = fail_with(options.path + ": the store has no queue `" + name + "`", kExitNo);
    return std::nullopt;
  }
  if (!options.queues.empty()) return options.queues;
  if (PageView::names(snapshot).size() == 1) return names;
  // The queue does not say which database its pages are of.
  if (options.database == PageDb::kDefaultName)
    return std::vector{std::string(Queue::kDefaultName)};
  return std::vector<std::string>{};
}

/// Requests that wait in a DRUM of URLs are merged, since nothing can be taken from it before;
/// their verdicts wait for `seen`.
Result<void> merge_seen(Store& store, const Snapshot& snapshot, const ForgetVerbOptions& options) {
  CRAWLSTORE_TRY(const auto drums, list_drums(snapshot));
  for (const DrumInfo& drum : drums) {
    const bool is_meant =
        options.seen.empty() || std::ranges::find(options.seen, drum.name) != options.seen.end();
    if (!is_meant || !drum.has_url_keys() || drum.pending_count == 0) continue;
    CRAWLSTORE_TRY(const auto core, DrumCore::open(store, drum.name, drum.value_bytes, {}));
    CRAWLSTORE_TRY(core->merge());
    CRAWLSTORE_TRY(core->close());
  }
  return {};
}

/// Takes the pages that are gone from the frontiers of a database. Returns how many items they had.
Result<std::uint64_t> drop_gone_of(Store& store, const std::string& database) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto frontiers, FrontierView::list(snapshot));
  std::uint64_t count = 0;
  for (const FrontierInfo& info : frontiers) {
    if (info.pages != database) continue;
    CRAWLSTORE_TRY(auto frontier, Frontier::open(store, info.name));
    CRAWLSTORE_TRY(const std::uint64_t gone, drop_gone(frontier, snapshot));
    count += gone;
    CRAWLSTORE_TRY(frontier.close());
  }
  return count;
}

/// Takes the URLs that are meant out of the crawls of crawlstored, where its URLs are pages of the
/// database. Returns how many they were; nothing: these are not its pages.
Result<std::optional<std::uint64_t>> forget_in_crawls(Store& store,
                                                      const ForgetVerbOptions& options) {
  CRAWLSTORE_TRY(const auto settings, service::read_settings(store));
  if (!settings.has_pages || options.database != PageDb::kDefaultName) {
    return std::optional<std::uint64_t>();
  }
  CRAWLSTORE_TRY(auto crawls, service::Crawls::open(store, {}));
  UrlNormalizer normalizer;
  std::uint64_t count = 0;
  for (service::Crawl* const crawl : crawls.all()) {
    CRAWLSTORE_TRY(const std::uint64_t gone,
                   crawl->forget({}, [&](const service::UrlRecord& record) {
                     return options.is_meant(normalizer.normalize(record.url).text);
                   }));
    count += gone;
  }
  CRAWLSTORE_TRY(crawls.write_counts());
  CRAWLSTORE_TRY(store.commit());
  CRAWLSTORE_TRY(crawls.close());
  return std::optional(count);
}

struct Forgotten {
  ForgetReport report;
  std::uint64_t scheduled_count = 0;               ///< items of frontiers
  std::optional<std::uint64_t> crawl_url_count{};  ///< URLs of crawlstored, where pages are these
};

/// Nothing: what was named is not there, as was said.
Result<std::optional<Forgotten>> forget(Store& store, const ForgetVerbOptions& options,
                                        WorkBar& bar, int& code) {
  ForgetOptions forget_options;
  if (!options.seen.empty()) forget_options.seen = options.seen;
  {
    CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
    const auto names = PageView::names(snapshot);
    // It would be made, otherwise.
    if (std::ranges::find(names, options.database) == names.end()) {
      code = fail_with(options.path + ": the store has no page database `" + options.database + "`",
                       kExitNo);
      return std::nullopt;
    }
    CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, options.database));
    if (!view.info().has_urls) {
      code = fail_with(options.path + ": the pages of `" + options.database +
                           "` have no URLs to choose by, so none of them can be forgotten",
                       kExitUsage);
      return std::nullopt;
    }
    auto queues = choose_queues(snapshot, options, code);
    if (!queues) return std::nullopt;
    forget_options.queues = std::move(*queues);
    CRAWLSTORE_TRY(merge_seen(store, snapshot, options));
  }
  forget_options.progress = bar.progress();
  CRAWLSTORE_TRY(auto pages, PageDb::open(store, options.database));
  Forgotten done;
  CRAWLSTORE_TRY(done.report, pages.forget(options.is_meant, forget_options));
  CRAWLSTORE_TRY(pages.close());
  CRAWLSTORE_TRY(done.scheduled_count, drop_gone_of(store, options.database));
  CRAWLSTORE_TRY(done.crawl_url_count, forget_in_crawls(store, options));
  return std::optional(done);
}

/// 0 where that cannot be told.
std::uint64_t file_bytes(const std::string& path) {
  std::error_code failure;
  const std::uint64_t bytes = std::filesystem::file_size(path, failure);
  return failure ? 0 : bytes;
}

/// The rest is written anew before the old copy is free.
void tell_growth(const std::string& path, std::uint64_t bytes_before) {
  const std::uint64_t bytes = file_bytes(path);
  if (bytes_before == 0 || bytes <= bytes_before) return;
  const std::string name = model::format_printable(path);
  note(fmt::format("{} grew from {} to {}; `crawlstore compact {}` gives back what is free in it",
                   name, model::format_bytes(bytes_before), model::format_bytes(bytes), name));
}

int run(const ForgetVerbOptions& options) {
  if (!options.is_meant) {
    return fail_with("forget: say which pages: --host H, --domain D, --prefix P or --match REGEX",
                     kExitUsage);
  }
  auto store = open_store(options.path, options.lock_wait_seconds);
  if (!store) return fail_with(options.path, store.error());
  const std::uint64_t bytes_before = file_bytes(options.path);
  const StopSignals stop;
  WorkBar bar("forget", stop, options.quiet);
  int code = kExitDone;
  const auto done = forget(*store, options, bar, code);
  if (!done && done.error().code == Errc::kCancelled) {
    if (!options.quiet) note("stopped; the same command finishes what is left");
    return exit_code_of_signal(stop.requested());
  }
  if (!done) {
    const auto snapshot = store->snapshot();
    return snapshot ? fail_with_queue(*snapshot, options.path, done.error())
                    : fail_with(options.path, done.error());
  }
  if (const auto closed = store->close(); !closed) return fail_with(options.path, closed.error());
  if (!*done) return code;
  auto document = model::forget_view((*done)->report);
  document.fields.push_back({"scheduled_count", model::Unit::kCount, (*done)->scheduled_count});
  if ((*done)->crawl_url_count) {
    document.fields.push_back({"crawl_url_count", model::Unit::kCount, *(*done)->crawl_url_count});
  }
  code = print_document(document, options.as_json);
  if (!options.quiet) tell_growth(options.path, bytes_before);
  return code;
}

void add_selection(Parser& parser, ForgetVerbOptions& options) {
  parser.parsed(
      "--host H",
      [&options](const std::string& text) {
        const auto host = normalised_host(text);
        if (!host) return "a host, without a port: " + text;
        narrow(options.is_meant,
               [host = *host](std::string_view url) { return url_host(url) == host; });
        return std::string();
      },
      "all pages of this host");
  parser.parsed(
      "--domain D",
      [&options](const std::string& text) {
        std::string problem;
        const auto domain = parse_domain(text, problem);
        if (!domain) return problem;
        narrow(options.is_meant,
               [domain = *domain](std::string_view url) { return is_of_domain(url, domain); });
        return problem;
      },
      "all pages of all hosts of this registered domain, such as example.co.uk");
  parser.parsed(
      "--prefix P",
      [&options](const std::string& prefix) {
        if (prefix.empty()) return std::string("it is empty, which all URLs begin with");
        narrow(options.is_meant,
               [prefix](std::string_view url) { return url.starts_with(prefix); });
        return std::string();
      },
      "pages whose normalised URL begins so");
  parser.parsed(
      "--match REGEX",
      [&options](const std::string& text) {
        std::string problem;
        const auto pattern = UrlPattern::parse(text, problem);
        if (!pattern) return problem;
        // Only what finds the empty text and a URL that nobody has finds something in all.
        if (pattern->finds("") && pattern->finds("x://\x01")) {
          return "it finds something in every URL: " + text;
        }
        narrow(options.is_meant, [pattern = *pattern](std::string_view url) {
          return pattern.finds(std::string(url));
        });
        return problem;
      },
      "pages in whose URL a regular expression (RE2) finds something");
}

}  // namespace

Action define_forget(Parser& parser) {
  auto options = std::make_shared<ForgetVerbOptions>();
  parser.footer(
      "Removes keys, URLs, records and all links, both ways, of the pages that match all that is "
      "given; edits that wait are merged first. Score arrays of the database go, too, as they "
      "tell what these pages were worth: `rank` computes them anew. Indexes stay given: `page` "
      "shows such pages as gone. The pages also leave:\n"
      "  queues that --queue names; without --queue all queues of the file, or, if it has "
      "several page databases, for those of `pages` the queue `queue`\n"
      "  frontiers of these pages, by a commit after all others (scheduled_count)\n"
      "  crawlstored, if they are URLs of it, whether they wait or are completed "
      "(crawl_url_count)\n"
      "The rest of each changed structure is written anew, part by part in several commits, so "
      "the file may grow, and the command says so. It grows by a quarter or so, and by half if "
      "most other pages link to those that go; `compact` gives the free space back. After each "
      "commit a page is wholly there, or wholly gone with its places in queues. After several of "
      "them `rollback` brings no page back. A first Ctrl-C stops the command soon; the same "
      "command finishes the work.");
  add_file(parser, options->path);
  add_database(parser, options->database, "the page database");
  add_selection(parser, *options);
  parser.texts("--seen DRUM", options->seen,
               "take the URLs out of this DRUM of seen URLs only (default: out of all that "
               "normalise URLs as the database does)");
  parser.texts("--queue NAME", options->queues, "a queue of pages of this database; repeatable");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_lock_wait(parser, options->lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
