// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/frontier_view.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/frontier_put.h"
#include "cli/frontier_source.h"
#include "cli/options.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "cli/wall_clock.h"
#include "model/format_text.h"
#include "model/frontier_look.h"
#include "model/frontier_rule.h"
#include "model/frontier_view.h"
#include "service/core/listing.h"

namespace crawlstore::cli {
namespace {

struct FrontierVerbOptions {
  FrontierSourceOptions source;
  bool lists_groups = false;
  bool lists_leases = false;
  bool lists_later = false;
  std::optional<std::string> group;
  std::optional<model::RuleChange> change;
  std::optional<model::RuleChange> default_rule;
  std::optional<std::string> input;
  std::optional<std::uint64_t> limit;
  TableForm form;
};

int fail_with_group(const FrontierVerbOptions& options, const std::string& frontier) {
  return fail_with(
      fmt::format("{}: the frontier `{}` has no group `{}`; --groups lists them",
                  model::format_printable(options.source.path), model::format_printable(frontier),
                  model::format_printable(*options.group)),
      kExitNo);
}

Result<model::Document> describe_frontier(const FrontierView& frontier,
                                          const model::GroupState* state,
                                          std::span<const FrontierInfo> frontiers,
                                          const FrontierVerbOptions& options,
                                          model::ItemRows rows) {
  model::Document document;
  const auto add = [&document](Result<model::Table> table) -> Result<void> {
    if (!table) return tl::unexpected<Error>(table.error());
    document.tables.push_back(std::move(*table));
    return {};
  };
  if (state != nullptr) {
    const FrontierInfo& info = frontier.info();
    const std::string& group = state->group.key;
    document.fields =
        model::due_group_fields(*state, info.default_rule, info.time_at_ms(wall_clock_us()));
    CRAWLSTORE_TRY(add(model::leases_table(frontier, rows, group)));
    CRAWLSTORE_TRY(add(model::waiting_items_table(frontier, group, rows)));
  } else if (options.lists_groups) {
    document.tables.push_back(model::groups_table(frontier, rows.count));
  } else if (options.lists_leases) {
    CRAWLSTORE_TRY(add(model::leases_table(frontier, rows)));
  } else if (options.lists_later) {
    CRAWLSTORE_TRY(add(model::later_table(frontier, rows)));
  } else {
    document = {model::frontier_fields(frontier, wall_clock_us()),
                {model::frontiers_table(frontiers)}};
  }
  return document;
}

int show_frontier(const FrontierVerbOptions& options) {
  const std::string& path = options.source.path;
  const auto snapshot = open_snapshot(path, false);
  if (!snapshot) return fail_with(path, snapshot.error());
  const auto frontiers = FrontierView::list(*snapshot);
  if (!frontiers) return fail_with(path, frontiers.error());
  const bool chooses = options.lists_groups || options.lists_leases || options.lists_later ||
                       options.group || !options.source.name.empty();
  if (frontiers->size() > 1 && !chooses) {
    return print_document({{}, {model::frontiers_table(*frontiers)}}, options.form);
  }
  int code = kExitDone;
  const auto name = choose_frontier(*snapshot, options.source, false, code);
  if (!name) return code;
  const auto frontier = FrontierView::open(*snapshot, *name);
  if (!frontier) return fail_with(path, frontier.error());
  std::optional<model::GroupState> group;
  if (options.group) {
    auto found = model::group_state(*frontier, *options.group);
    if (!found) return fail_with(path, found.error());
    group = std::move(*found);
    if (!group) return fail_with_group(options, *name);
  }
  const model::ItemRows rows{options.limit.value_or(100), options.form.as_json,
                             service::is_crawl(*snapshot, frontier->info())};
  const auto document =
      describe_frontier(*frontier, group ? &*group : nullptr, *frontiers, options, rows);
  if (!document) return fail_with(path, document.error());
  return print_document(*document, options.form);
}

/// The rule that the group has, or the default.
Result<FrontierRule> present_rule(const Store& store, const std::string& frontier,
                                  const std::string& key) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto view, FrontierView::open(snapshot, frontier));
  const auto group = view.group(key);
  return group && group->rule ? *group->rule : view.info().default_rule;
}

int set_rule_of_group(const FrontierVerbOptions& options) {
  const std::string& path = options.source.path;
  int code = kExitDone;
  auto target = open_frontier(options.source, false, {}, code);
  if (!target) return code;
  auto rule = present_rule(target->store, target->name, *options.group);
  if (!rule) return fail_with(path, rule.error());
  const std::string problem = model::change_rule(*options.change, *rule);
  if (!problem.empty()) return fail_with("frontier: --set: " + problem, kExitUsage);
  auto done = target->frontier.set_rule(*options.group, *rule);
  if (!done && done.error().code == Errc::kInvalidArgument) {
    return fail_with(fmt::format("frontier: --set: {}", done.error().text), kExitUsage);
  }
  if (done) done = target->close();
  if (!done) return fail_with(path, done.error());
  return print_document({{{"name", model::Unit::kText, target->name},
                          {"group", model::Unit::kText, *options.group},
                          {"rule", model::Unit::kText, model::format_rule(*rule)}},
                         {}},
                        options.form);
}

/// Whether the frontier is in the file: then it has its default rule.
bool is_frontier_there(const FrontierSourceOptions& source) {
  const auto snapshot = open_snapshot(source.path, false);
  if (!snapshot) return false;
  const auto names = names_of_frontiers(*snapshot);
  if (source.name.empty()) return !names.empty();
  return std::ranges::find(names, source.name) != names.end();
}

int put_input(const FrontierVerbOptions& options) {
  FrontierPut put{.input = *options.input, .made = {}, .as_json = options.form.as_json};
  if (options.default_rule) {
    FrontierRule& rule = put.made.default_rule;
    std::string problem = model::change_rule(*options.default_rule, rule);
    if (rule.blocked_until_ms != 0 || !rule.is_active) problem = "it blocks every group";
    if (rule.parent) problem = "it has a parent";
    if (!problem.empty()) return fail_with("frontier: --default: " + problem, kExitUsage);
    if (is_frontier_there(options.source)) {
      return fail_with(fmt::format("{}: the frontier is there, and keeps the default rule with "
                                   "which it was made; --group KEY --set RULE sets one group's",
                                   model::format_printable(options.source.path)),
                       kExitUsage);
    }
  }
  return put_lines(options.source, put);
}

int run(const FrontierVerbOptions& options) {
  const bool changes = options.change || options.input;
  if (options.change && !options.group) {
    return fail_with("frontier: --set goes with --group KEY", kExitUsage);
  }
  if (options.default_rule && !options.input) {
    return fail_with("frontier: --default goes with --put", kExitUsage);
  }
  if (changes && (options.form.is_table_only() || options.limit)) {
    return fail_with("frontier: -n, --tsv and --columns go with lists, not with a change",
                     kExitUsage);
  }
  if (options.input) return put_input(options);
  return options.change ? set_rule_of_group(options) : show_frontier(options);
}

constexpr const char* kFrontierFooter =
    "A frontier has items, such as URLs, that wait in groups, such as hosts, to be fetched. With "
    "`take` and `done` a shell script crawls:\n"
    "  printf 'a.test\\t0.5\\thttp://a.test/\\n' | crawlstore frontier x.crawl --put -\n"
    "  crawlstore take x.crawl -n 100 | fetcher | crawlstore done x.crawl -\n"
    "Without options it prints the counts of the frontier at the time of its last change "
    "(clock_us); if there are several frontiers, it lists them. It reads beside any writer. With "
    "--group, due_in_seconds tells how long it is until the group may be visited: at its `hard` "
    "interval, if no other group may be. The field `why` tells why the group may not be visited "
    "now: its own rule or that of its parent, whichever lasts longer. If the clock of the "
    "computer was once ahead, the time of a frontier goes on from there. Then "
    "clock_ahead_seconds tells how far it is ahead, and TIME, here and in `done`, is a time of "
    "the frontier. In place of the body, items of crawlstored are listed with their URL, the "
    "time when it was added, and the bytes of its metadata.\n"
    "--put makes FILE and the frontier when they are not there. BODY, of up to 65,536 bytes, may "
    "be empty or hold TABs. The highest PRIORITY of a group is taken first, ties in the order in "
    "which they came. Empty lines are skipped. --put commits every 100,000 lines, after a "
    "second, and at the end; while the input pauses, FILE is closed. A line of another form ends "
    "the command (exit code 2): the message names the line, and the lines before it were put. If "
    "it ends early for another reason, the message names the last line that was committed. gzip "
    "and zstd are unpacked.\n"
    "RULE says how often a group is visited: "
    "delay=2s,hard=1s,burst=1,in-flight=1,until=TIME,active=no. Parts that are not named stay as "
    "they are.\n"
    "  delay: the time from one visit to the next; alone it sets `hard`, too\n"
    "  hard: the shorter time that is enough where no other group may be visited\n"
    "  burst: visits that may come at once after a time without any\n"
    "  in-flight: items that may be leased at a time\n"
    "  until: no visit comes before TIME\n"
    "  active: while it is no, no visit comes\n"
    "  limit: items that may ever be put into the group\n"
    "  finished-limit: nothing is put any more when so many items were finished\n"
    "  parent, which stands last: a group whose rule a visit must also keep\n"
    "A parent is, for instance, the address of many hosts; a visit of its group counts for it, "
    "too. The value `none` is no interval, no time, no limit and no parent. Items beyond `limit` "
    "or `finished-limit` are refused, and counted.\n"
    "The exit code is 1 when there is no frontier, no such group, or items were refused.";

void add_frontier_changes(Parser& parser, FrontierVerbOptions& options,
                          const std::vector<Option>& lists) {
  const auto add_rule = [&parser](const char* spelling, std::optional<model::RuleChange>& to,
                                  const char* help) {
    const auto parse = [&to](const std::string& text) {
      return model::parse_rule(text, to.emplace());
    };
    return parser.parsed(spelling, parse, help);
  };
  const auto set = add_rule("--set RULE", options.change,
                            "set the rule of the group of --group, such as delay=2s,in-flight=4");
  const auto keep = [&options](const std::string& text) {
    options.input = text;
    return text.empty() ? "it is empty" : std::string();
  };
  const auto put = parser.parsed(
      "--put INPUT", keep, "put items: lines GROUP TAB PRIORITY TAB BODY; - for standard input");
  put.excludes(set);
  add_rule("--default RULE", options.default_rule,
           "with --put, if it makes the frontier: the rule of groups that have none (default: "
           "delay=1s,hard=1s,burst=1,in-flight=1)");
  for (const Option& list : lists) put.excludes(list);
  for (const Option& list : std::span(lists).subspan(1)) set.excludes(list);
}

}  // namespace

Action define_frontier(Parser& parser) {
  auto options = std::make_shared<FrontierVerbOptions>();
  parser.footer(kFrontierFooter);
  add_frontier_source(parser, options->source);
  const auto keep = [options](const std::string& text) {
    options->group = text;
    return std::string();
  };
  const std::vector<Option> lists{
      parser.parsed("--group KEY", keep,
                    "a group and its items, those that are leased and those that wait"),
      parser.flag("--groups", options->lists_groups, "the groups, in the order they came"),
      parser.flag("--leases", options->lists_leases,
                  "the leased items, in the order in which their leases end"),
      parser.flag("--later", options->lists_later, "the items whose time has not come yet")};
  for (auto one = lists.begin(); one != lists.end(); ++one) {
    for (auto other = lists.begin(); other != one; ++other) one->excludes(*other);
  }
  add_frontier_changes(parser, *options, lists);
  add_count(parser, "-n,--limit", options->limit, "at most N rows of a list (default: 100)",
            {1, 100'000'000});
  add_table_form(parser, options->form);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
