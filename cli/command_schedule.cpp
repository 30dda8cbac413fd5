// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/frontier_view.h>
#include <crawlstore/schedule.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/frontier_source.h"
#include "cli/options.h"
#include "cli/page_source.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/frontier_rule.h"

namespace crawlstore::cli {
namespace {

struct ScheduleVerbOptions {
  FrontierSourceOptions source;
  std::string database{"pages"};
  std::optional<std::uint64_t> depth_max;
  std::optional<model::RuleChange> default_rule;
  bool as_json = false;
};

Result<model::Document> put_new_pages(OpenFrontier& target, const PageView& pages,
                                      const ScheduleVerbOptions& options, int& code) {
  SchedulePolicy policy;
  policy.depth_max =
      static_cast<std::uint32_t>(options.depth_max.value_or(std::uint64_t{policy.depth_max}));
  CRAWLSTORE_TRY(const auto done, put_pages(target.frontier, pages, policy));
  model::Document document{{{"name", model::Unit::kText, target.name},
                            {"page_count", model::Unit::kCount, pages.info().page_count},
                            {"put_count", model::Unit::kCount, done.put_count},
                            {"left_out_count", model::Unit::kCount, done.left_out_count},
                            {"refused_count", model::Unit::kCount, done.refused_count},
                            {"waiting_count", model::Unit::kCount, target.frontier.waiting_count()},
                            {"leased_count", model::Unit::kCount, target.frontier.leased_count()}},
                           {}};
  CRAWLSTORE_TRY(target.close());
  code = done.refused_count == 0 ? kExitDone : kExitNo;
  return document;
}

/// Looks before anything is made. Without success it has said why.
bool can_schedule(const PageSourceOptions& source, const ScheduleVerbOptions& options, int& code) {
  const auto snapshot = open_snapshot(source.path, false);
  if (!snapshot) {
    code = fail_with(source.path, snapshot.error());
    return false;
  }
  if (!open_pages(*snapshot, source, code)) return false;
  const auto name = choose_frontier(*snapshot, options.source, true, code);
  if (!name) return false;
  const auto frontiers = FrontierView::list(*snapshot);
  if (!frontiers) {
    code = fail_with(source.path, frontiers.error());
    return false;
  }
  const auto same = std::ranges::find(*frontiers, *name, &FrontierInfo::name);
  if (same == frontiers->end() || same->pages == options.database) return true;
  code = fail_with(fmt::format("{}: the items of the frontier `{}` are not the pages of `{}`; "
                               "--frontier NAME makes one whose are",
                               model::format_printable(source.path), model::format_printable(*name),
                               model::format_printable(options.database)),
                   kExitUsage);
  return false;
}

int run(const ScheduleVerbOptions& options) {
  const std::string& path = options.source.path;
  FrontierOptions made;
  made.pages = options.database;
  if (options.default_rule) {
    const std::string problem = model::change_rule(*options.default_rule, made.default_rule);
    if (!problem.empty()) return fail_with("schedule: --default: " + problem, kExitUsage);
  }
  const PageSourceOptions source{.path = path, .database = options.database};
  int code = kExitDone;
  if (!can_schedule(source, options, code)) return code;
  auto target = open_frontier(options.source, true, made, code);
  if (!target) return code;
  const auto snapshot = target->store.snapshot();
  if (!snapshot) return fail_with(path, snapshot.error());
  const auto view = open_pages(*snapshot, source, code);
  if (!view) return code;
  if (view->info().event_count != 0) {
    note(fmt::format("{0}: {1} not merged yet; `crawlstore merge {0}` makes pages of them",
                     model::format_printable(path),
                     model::format_counted(view->info().event_count, "edit")));
  }
  const auto document = put_new_pages(*target, *view, options, code);
  if (!document) return fail_with(path, document.error());
  const int printed = print_document(*document, options.as_json);
  return printed == kExitDone ? code : printed;
}

}  // namespace

Action define_schedule(Parser& parser) {
  auto options = std::make_shared<ScheduleVerbOptions>();
  parser.footer(
      "Puts all pages that came since the last time, and were never fetched, into a frontier of "
      "pages, which is made where there is none: in the group of their host, those nearest to a "
      "seed first. Then `crawlstore take` prints their URLs, and `crawlstore done` ends them. What "
      "no URL of HTTP names, and what is deeper than --depth-max, is left out; what is beyond the "
      "limit of its host (RULE: limit=1000) is refused (exit code 1). Both for good, once a page "
      "that came later was put. Pages that are crawled or gone when it is their turn are not "
      "printed.\n"
      "A shell crawls so, where a fetcher writes an event a page:\n"
      "  crawlstore import x.crawl urls.txt --format urls\n"
      "  crawlstore schedule x.crawl --default delay=2s\n"
      "  crawlstore take x.crawl -n 100 > taken.tsv\n"
      "  cut -f3 taken.tsv | fetcher > events.jsonl\n"
      "  crawlstore import x.crawl events.jsonl --format jsonl   # before `done`: it may be "
      "killed\n"
      "  cut -f1 taken.tsv | crawlstore done x.crawl -; crawlstore schedule x.crawl");
  add_frontier_source(parser, options->source);
  add_database(parser, options->database, "the pages");
  add_count(parser, "--depth-max", options->depth_max, "links from a seed, at most (default: any)",
            {0, UINT32_MAX});
  const auto parse = [options](const std::string& text) {
    return model::parse_rule(text, options->default_rule.emplace());
  };
  parser.parsed(
      "--default RULE", parse,
      "of a frontier that is made: the rule of hosts that have none (`crawlstore frontier "
      "--help`)");
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
