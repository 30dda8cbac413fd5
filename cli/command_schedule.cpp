// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_schedule.h"
#include "cli/page_source.h"
#include "cli/progress.h"
#include "cli/revisit_options.h"
#include "cli/score_source.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "cli/wall_clock.h"
#include "model/format_text.h"
#include "model/frontier_forecast.h"
#include "model/frontier_rule.h"
#include "model/scheduled_states.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kItemsAtOnce = 1 << 16;

struct ScheduleVerbOptions {
  PageScheduleOptions pages;
  std::optional<std::uint64_t> depth_max;
  std::optional<model::RuleChange> default_rule;
  RevisitOptions revisits;
  std::string scores;        ///< empty: no rescoring
  std::uint64_t due_ms = 0;  ///< 0: no forecast
  bool shows_states = false;
  bool as_json = false;
  bool quiet = false;
};

model::Field count_of(const char* name, std::uint64_t count) {
  return {name, model::Unit::kCount, count};
}

model::Field name_of_frontier(const std::string& name) {
  return {"name", model::Unit::kText, name};
}

int print_done(const std::string& name, const PageScheduleDone& done, bool is_back, bool as_json) {
  const std::uint64_t refused_count = is_back ? done.back.refused_count : done.pages.refused_count;
  const std::uint64_t left_out_count =
      is_back ? done.back.left_out_count : done.pages.left_out_count;
  std::vector<model::Field> fields{name_of_frontier(name), count_of("page_count", done.page_count)};
  if (is_back) {
    fields.push_back(count_of("new_count", done.back.new_count));
    fields.push_back(count_of("revisit_count", done.back.revisit_count));
    fields.push_back(count_of("due_count", done.back.due_count));
    fields.push_back(count_of("held_count", done.back.held_count));
  } else {
    fields.push_back(count_of("put_count", done.pages.put_count));
  }
  fields.push_back(count_of("left_out_count", left_out_count));
  fields.push_back(count_of("refused_count", refused_count));
  fields.push_back(count_of("waiting_count", done.waiting_count));
  fields.push_back(count_of("leased_count", done.leased_count));
  const int printed = print_document({std::move(fields), {}}, as_json);
  if (printed != kExitDone) return printed;
  return refused_count == 0 ? kExitDone : kExitNo;
}

int put(PageScheduleOptions options, ScheduleVerbOptions& given) {
  if (given.default_rule) {
    const std::string problem = model::change_rule(*given.default_rule, options.default_rule);
    if (!problem.empty()) return fail_with("schedule: --default: " + problem, kExitUsage);
  }
  if (const int code = read_revisit_rule(given.revisits); code != kExitDone) return code;
  options.puts_back = given.revisits.puts_back();
  if (!given.revisits.revisit.empty()) options.revisits = given.revisits.rule;
  if (given.depth_max) options.policy.depth_max = static_cast<std::uint32_t>(*given.depth_max);
  const std::string& path = options.source.path;
  auto store = open_store(path, options.source.lock_wait_seconds);
  if (!store) return fail_with(path, store.error());
  const auto snapshot = store->snapshot();
  if (!snapshot) return fail_with(path, snapshot.error());
  int code = kExitDone;
  if (!open_pages(*snapshot, {.path = path, .database = options.database}, code)) return code;
  const auto name = choose_frontier_of_pages(*snapshot, options, code);
  if (!name) return code;
  const auto done = schedule_pages(*store, *name, options);
  if (!done) return fail_with(path, done.error());
  if (const auto closed = store->close(); !closed) return fail_with(path, closed.error());
  return print_done(*name, *done, options.puts_back, given.as_json);
}

/// Gives the pages that wait the priorities that they have in `scores`.
///   errors  kCancelled: `progress` stopped it, and nothing has changed
Result<model::Document> rescore(OpenFrontier& target, const ScoreView& scores,
                                const Progress& progress) {
  const std::uint64_t waiting_count = target.frontier.waiting_count();
  std::uint64_t asked_count = 0;
  std::uint64_t unscored_count = 0;
  Result<void> read;
  const auto score_of = [&](std::uint64_t page) -> Result<std::optional<double>> {
    if (asked_count++ % kItemsAtOnce == 0 && !progress(asked_count - 1, waiting_count)) {
      return fail(Errc::kCancelled, "cancelled");
    }
    return scores.score(page);
  };
  const auto priority_of = [&](std::string_view, std::uint64_t page, double priority) {
    const auto score = score_of(page);
    if (score) {
      unscored_count += *score ? 0U : 1U;
      return std::optional(score->value_or(priority));
    }
    read = tl::unexpected<Error>(score.error());
    return std::optional(std::numeric_limits<double>::quiet_NaN());  // ends the call
  };
  const auto rewritten = target.frontier.rewrite(priority_of);
  CRAWLSTORE_TRY(read);
  CRAWLSTORE_TRY(const auto counts, rewritten);
  model::Document document{{name_of_frontier(target.name),
                            {"scores", model::Unit::kText, scores.info().name},
                            count_of("changed_count", counts.changed_count),
                            count_of("unscored_count", unscored_count),
                            count_of("waiting_count", target.frontier.waiting_count()),
                            count_of("leased_count", target.frontier.leased_count())},
                           {}};
  CRAWLSTORE_TRY(target.close());
  return document;
}

int fail_of_other_pages(const PageScheduleOptions& options, const std::string& frontier) {
  return fail_with(
      fmt::format("{}: the items of the frontier `{}` are not the pages of `{}`; --frontier NAME "
                  "chooses another one, --database NAME other pages",
                  model::format_printable(options.source.path), model::format_printable(frontier),
                  model::format_printable(options.database)),
      kExitUsage);
}

int rescore_waiting(const PageScheduleOptions& options, const ScheduleVerbOptions& given) {
  const std::string& path = options.source.path;
  int code = kExitDone;
  auto target = open_frontier(options.source, false, {}, code);
  if (!target) return code;
  const auto snapshot = target->store.snapshot();
  if (!snapshot) return fail_with(path, snapshot.error());
  const PageSourceOptions source{.path = path, .database = options.database};
  const auto pages = open_pages(*snapshot, source, code);
  if (!pages) return code;
  if (target->frontier.pages() != options.database) {
    return fail_of_other_pages(options, target->name);
  }
  const auto scores =
      open_scores(*pages, source, {.name = given.scores, .option = "--rescore"}, code);
  if (!scores) return code;
  const StopSignals stop;
  const auto document = [&] {
    WorkBar bar("rescore", stop, given.quiet, "pages");
    return rescore(*target, *scores, bar.progress());
  }();
  if (document) return print_document(*document, given.as_json);
  if (document.error().code != Errc::kCancelled) return fail_with(path, document.error());
  note("stopped; the frontier is as it was");
  return exit_code_of_signal(stop.requested());
}

int show_due(const FrontierSourceOptions& source, const ScheduleVerbOptions& given) {
  const std::string& path = source.path;
  const auto snapshot = open_snapshot(path, false);
  if (!snapshot) return fail_with(path, snapshot.error());
  int code = kExitDone;
  const auto name = choose_frontier(*snapshot, source, false, code);
  if (!name) return code;
  const auto frontier = FrontierView::open(*snapshot, *name);
  if (!frontier) return fail_with(path, frontier.error());
  const std::uint64_t now_ms = frontier->info().time_at_ms(wall_clock_us());
  const model::ForecastTime time{.now_ms = now_ms, .end_ms = now_ms + given.due_ms};
  const auto found = model::forecast(*frontier, time);
  if (!found) return fail_with(path, found.error());
  const auto end_us = static_cast<std::int64_t>(time.end_ms * 1000);
  return print_document({{name_of_frontier(*name),
                          {"end_us", model::Unit::kTimeUs, end_us},
                          count_of("group_count", frontier->info().group_count),
                          count_of("waiting_count", frontier->info().waiting_count),
                          count_of("leased_count", frontier->info().leased_count),
                          count_of("visitable_group_count", found->visitable_group_count),
                          count_of("takeable_count", found->takeable_count),
                          count_of("due_item_count", found->due_item_count),
                          count_of("ending_lease_count", found->ending_lease_count)},
                         {}},
                        given.as_json);
}

int show_states(const PageScheduleOptions& options, bool as_json) {
  const std::string& path = options.source.path;
  const auto snapshot = open_snapshot(path, false);
  if (!snapshot) return fail_with(path, snapshot.error());
  int code = kExitDone;
  const auto name = choose_frontier(*snapshot, options.source, false, code);
  if (!name) return code;
  const auto frontier = FrontierView::open(*snapshot, *name);
  if (!frontier) return fail_with(path, frontier.error());
  const auto pages = open_pages(*snapshot, {.path = path, .database = options.database}, code);
  if (!pages) return code;
  if (frontier->info().pages != options.database) return fail_of_other_pages(options, *name);
  auto states = model::scheduled_states(*pages, *frontier);
  if (!states) return fail_with(path, states.error());
  model::Document document{
      {name_of_frontier(*name), count_of("page_count", pages->info().page_count)}, {}};
  document.tables.push_back(std::move(*states));
  return print_document(document, as_json);
}

int run(ScheduleVerbOptions& options) {
  if (options.shows_states) return show_states(options.pages, options.as_json);
  if (options.due_ms != 0) return show_due(options.pages.source, options);
  if (!options.scores.empty()) return rescore_waiting(options.pages, options);
  return put(options.pages, options);
}

constexpr const char* kFooter =
    "Puts all pages that came since the last time, and were never fetched, into a frontier of "
    "pages, which is made where there is none. Each page goes into the group of its host, those "
    "nearest to a seed first. Then `crawlstore take` prints their URLs, and `crawlstore done` "
    "ends them. Some pages are not put:\n"
    "  left out: pages that no URL of HTTP names, and pages deeper than --depth-max\n"
    "  refused (exit code 1): pages beyond the limit of their host (RULE: limit=1000)\n"
    "Once a page that came later was put, only --init puts these. `take` does not print pages "
    "that are crawled or gone when it is their turn. `crawlstore import --frontier` does the "
    "same as `schedule` at its end.\n"
    "--init and --revisit look at all pages and at all that waits, each time. Pages that a kill "
    "or another program left between are put then, too. --revisit gives each page that was "
    "fetched the time of its next visit:\n"
    "  with N: when a fetch gains most by how often the page seems to change (Cho and "
    "Garcia-Molina, 2003); about N pages a day come back\n"
    "  with N, a page that was fetched once: after --first\n"
    "  with N, a page that N has no room for: after --longest all the same\n"
    "  with `adaptive`: after --first, times 0.8 for each fetch that found a change, 1.4 for "
    "each that did not\n"
    "  a page that failed for good, redirects, is denied or is a duplicate: after 90 days\n"
    "  a page that is gone: never\n"
    "Each visit counts for `limit` of a RULE. Run `schedule` as often as it should know new "
    "pages, such as each hour. --rules reads lines such as these, which mean half an hour, "
    "never, and three times the interval that a page has by --revisit:\n"
    "  ^https?://[^/]*news\\.<TAB>30min\n"
    "  /archive/<TAB>never\n"
    "  \\.pdf$<TAB>x3\n"
    "Lines that are empty or begin with # are skipped, and an empty REGEX matches every URL.\n"
    "--rescore counts the pages that got another priority (changed_count). Pages that came after "
    "the scores were computed keep their priority, which is minus the depth, and so after all "
    "scores (unscored_count). Pages that were taken before leave first as ever. All of it or "
    "nothing is committed.\n"
    "--states reads FILE beside any writer. For each state of pages (`crawlstore pages`) it "
    "counts the pages that:\n"
    "  waiting_count: wait to be visited now, or as soon as their host may be\n"
    "  later_count: wait for a time of their own\n"
    "  leased_count: are taken\n"
    "  absent_count: are not in the frontier; known pages among them were left out, or --init "
    "puts them\n"
    "--due reads FILE beside any writer, and tells of any frontier what comes within TIME:\n"
    "  visitable_group_count: groups that may be visited now\n"
    "  takeable_count: items that can be taken until then at most, one a visit, if all that is "
    "taken is done at once; by the rules of groups and their parents, and without items that are "
    "leased now\n"
    "  due_item_count: items whose own time will have come by then, or has come and no `take` "
    "has looked at them since\n"
    "  ending_lease_count: leases that end by then\n"
    "A shell crawls so, where a fetcher writes an event a page:\n"
    "  crawlstore import x.crawl urls.txt --format urls\n"
    "  crawlstore schedule x.crawl --default delay=2s\n"
    "  crawlstore take x.crawl -n 100 > taken.tsv\n"
    "  cut -f3 taken.tsv | fetcher > events.jsonl\n"
    "  crawlstore import x.crawl events.jsonl --format jsonl   # before `done`: it may be "
    "killed\n"
    "  cut -f1 taken.tsv | crawlstore done x.crawl -; crawlstore schedule x.crawl";

}  // namespace

Action define_schedule(Parser& parser) {
  auto options = std::make_shared<ScheduleVerbOptions>();
  parser.footer(kFooter);
  add_frontier_source(parser, options->pages.source);
  std::vector<Option> of_put{
      add_count(parser, "--depth-max", options->depth_max,
                "at most N links from a seed (default: any)", {0, UINT32_MAX}),
      parser.parsed(
          "--default RULE",
          [options](const std::string& text) {
            return model::parse_rule(text, options->default_rule.emplace());
          },
          "rule of hosts that have none, for a frontier that is made (`crawlstore frontier "
          "--help`)")};
  for (const Option& option : add_revisits(parser, options->revisits)) of_put.push_back(option);
  const auto database = add_database(parser, options->pages.database, "the pages");
  const auto rescored = parser.text(
      "--rescore NAME", options->scores,
      "put nothing, but give all pages that wait their scores of `crawlstore rank`, such as "
      "pagerank, as priorities");
  const auto due =
      add_duration(parser, "--due TIME", options->due_ms,
                   "put nothing, and change nothing: say what comes within this time, such as 1h");
  const auto states = parser.flag(
      "--states", options->shows_states,
      "put nothing, and change nothing: say for each state how many pages wait, or do not");
  due.excludes(rescored).excludes(database).excludes(states);
  states.excludes(rescored);
  for (const Option& option : of_put) {
    due.excludes(option);
    states.excludes(option);
    rescored.excludes(option);
  }
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
