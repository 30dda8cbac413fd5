// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/schedule.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/frontier_source.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/frontier_view.h"
#include "model/json.h"
#include "model/utf8.h"

namespace crawlstore::cli {
namespace {

using TakeClock = std::chrono::steady_clock;

struct TakeVerbOptions {
  FrontierSourceOptions source;
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> per_group;
  std::uint64_t lease_ms = 600'000;
  std::uint64_t wait_ms = 0;
  TakeOrder order = TakeOrder::kBest;
  bool as_json = false;
};

/// The findings of a look into the file, which is closed by then.
struct TakeLook {
  std::string name;
  Generation generation;
  std::vector<TakenItem> items;
  std::optional<std::uint64_t> due_ms;  ///< something may be taken then
  std::uint64_t now_ms = 0;
  std::uint64_t leased_count = 0;
};

/// Bodies of pages are their URLs.
Result<std::vector<TakenItem>> take_from(OpenFrontier& target, const TakeOptions& options) {
  const std::string pages = target.frontier.pages();
  if (pages.empty()) return target.frontier.take(options);
  CRAWLSTORE_TRY(const auto snapshot, target.store.snapshot());
  CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, pages));
  return take_pages(target.frontier, view, options);
}

std::optional<TakeLook> look_into_file(const TakeVerbOptions& options, int& code) {
  auto target = open_frontier(options.source, false, {}, code);
  if (!target) return std::nullopt;
  const auto per_group = static_cast<std::uint32_t>(options.per_group.value_or(1));
  auto taken = take_from(*target, {.count = options.count.value_or(100),
                                   .per_group = per_group,
                                   .lease_ms = options.lease_ms,
                                   .order = options.order});
  if (!taken) {
    code = fail_with(options.source.path, taken.error());
    return std::nullopt;
  }
  TakeLook found{target->name,
                 target->store.generation(),
                 std::move(*taken),
                 target->frontier.next_due_ms(),
                 target->frontier.now_ms(),
                 target->frontier.leased_count()};
  const auto closed = target->close();
  if (!closed && found.items.empty()) {
    code = fail_with(options.source.path, closed.error());
    return std::nullopt;
  }
  return found;  // what was taken is told in any case
}

bool has_changed(const std::string& path, Generation since) {
  const auto snapshot = open_snapshot(path, false);
  return !snapshot || snapshot->generation() != since;
}

/// Waits until there may be something to take. False: it is the end of the waiting, or a signal.
bool await_due(const TakeVerbOptions& options, const TakeLook& last, const StopSignals& stop,
               TakeClock::time_point end) {
  using std::chrono::milliseconds;
  constexpr milliseconds kShortest(20);
  constexpr milliseconds kOverdue(250);  // nothing was taken though it is time
  const auto looked = TakeClock::now();
  const auto until_due = [&]() -> TakeClock::duration {
    if (!last.due_ms) return std::chrono::hours(1);
    const std::uint64_t wait_ms = *last.due_ms - std::min(*last.due_ms, last.now_ms);
    if (wait_ms == 0) return kOverdue;
    return std::min<TakeClock::duration>(std::chrono::hours(1), milliseconds(wait_ms));
  };
  const auto due = looked + std::max<TakeClock::duration>(until_due(), kShortest);
  while (TakeClock::now() < end) {
    const auto next = std::min({due, end, TakeClock::now() + std::chrono::seconds(1)});
    if (stop.wait(-1, next - TakeClock::now()) == StopSignals::Wait::kSignal) return false;
    if (TakeClock::now() >= due || has_changed(options.source.path, last.generation)) return true;
  }
  return false;
}

bool fits_line(std::string_view text, bool takes_tabs) {
  if (!model::is_utf8(text)) return false;
  if (!takes_tabs) return text.find('\t') == text.npos && model::format_line(text) == text;
  std::string without_tabs(text);
  std::ranges::replace(without_tabs, '\t', ' ');
  return model::format_line(without_tabs) == without_tabs;
}

Result<void> write_taken(const TakeLook& found, bool as_json) {
  CRAWLSTORE_TRY(auto output, OutputFile::open(""));
  std::string& tail = output.tail();
  if (as_json) {
    tail = model::to_json(
        {{{"name", model::Unit::kText, found.name},
          {"next_due_us", model::Unit::kTimeUs, model::time_cell(found.due_ms.value_or(0))}},
         {model::taken_table(found.items)}});
    return output.finish();
  }
  for (const TakenItem& item : found.items) {
    fmt::format_to(std::back_inserter(tail), "{}\t{}\t{}\n", item.id,
                   fits_line(item.group, false) ? item.group : "-",
                   fits_line(item.body, true) ? item.body : "-");
    CRAWLSTORE_TRY(output.room());
  }
  return output.finish();
}

/// Says when there is something.
int fail_with_nothing_due(const TakeVerbOptions& options, const TakeLook& found) {
  std::string text = fmt::format("{}: nothing is due in the frontier `{}`",
                                 model::format_printable(options.source.path),
                                 model::format_printable(found.name));
  if (found.due_ms) {
    const std::uint64_t in_ms = *found.due_ms - std::min(*found.due_ms, found.now_ms);
    text += fmt::format(" before {}, in {}; --wait TIME waits for it",
                        model::format_time(static_cast<std::int64_t>(*found.due_ms * 1000)),
                        model::format_duration(static_cast<double>(in_ms) / 1000));
  } else if (found.leased_count != 0) {
    text += fmt::format(", and nothing will be: {} leased for ever; `crawlstore done` ends that",
                        model::format_counted(found.leased_count, "item"));
  } else {
    text += ", and nothing will be until more is put";
  }
  return fail_with(text, kExitNo);
}

int run(const TakeVerbOptions& options) {
  end_torn_line();
  constexpr std::uint64_t kLongestMs = std::uint64_t{100} * 365 * 86'400'000;
  const auto end =
      TakeClock::now() + std::chrono::milliseconds(std::min(options.wait_ms, kLongestMs));
  int code = kExitDone;
  auto found = look_into_file(options, code);
  if (found && found->items.empty() && options.wait_ms != 0) {
    const StopSignals stop;  // while nothing is taken
    while (found && found->items.empty() && await_due(options, *found, stop, end)) {
      found = look_into_file(options, code);
    }
    const bool is_stopped = stop.requested() != 0 && (!found || found->items.empty());
    if (is_stopped) return exit_code_of_signal(stop.requested());
  }
  if (!found) return code;
  if (!found->items.empty() || options.as_json) {
    if (const auto written = write_taken(*found, options.as_json); !written) {
      return fail_with("standard output", written.error());
    }
  }
  return found->items.empty() ? fail_with_nothing_due(options, *found) : kExitDone;
}

}  // namespace

Action define_take(Parser& parser) {
  auto options = std::make_shared<TakeVerbOptions>();
  parser.footer(
      "Leases items of groups that may be visited now, the group of the best item first (or "
      "--order), and prints a line each: ID TAB GROUP TAB BODY. In a frontier of pages "
      "(`crawlstore schedule`) BODY is the URL. A group or body that is no UTF-8, or has control "
      "characters (a body may have TABs), is `-`; --json has all of it, bytes that are no UTF-8 "
      "in `body_hex` and `group_hex`.\n"
      "  crawlstore take x.crawl -n 100 --lease 10min --wait 1h | fetcher | crawlstore done "
      "x.crawl -\n"
      "`take` commits, closes FILE, and then writes: a slow reader keeps nobody out. Before the "
      "lease ends, whoever has the line tells `crawlstore done` what became of the item. "
      "Otherwise, also when the command or its reader is killed, the item then waits again, and "
      "is taken first of its group. A commit costs the same for one item as for a thousand: take "
      "many at once.\n"
      "Exit code 1 when there is no frontier, or nothing is due. If nothing is due, standard "
      "error and `next_due` of --json say when something is; null: never, unless more is put. "
      "The rule of a group says how many of its items are leased at a time: `crawlstore frontier "
      "--group KEY --set in-flight=4`.");
  add_frontier_source(parser, options->source);
  add_count(parser, "-n,--limit", options->count, "so many items at most (default: 100)",
            {1, 100'000'000});
  add_count(parser, "--per-group", options->per_group,
            "so many of a group at most, in one visit (default: 1)", {1, UINT32_MAX});
  const auto keep_order = [options](const std::string& text) {
    if (text != "best" && text != "waiting") return std::string("`best` or `waiting` is expected");
    options->order = text == "best" ? TakeOrder::kBest : TakeOrder::kLongestWaiting;
    return std::string();
  };
  parser.parsed("--order ORDER", keep_order,
                "first the group with the `best` item (default), or the one that is `waiting` for "
                "the longest time, whatever its items");
  add_duration(parser, "--lease TIME", options->lease_ms,
               "how long the items are leased, such as 90s or 2h (default: 10min); none: for ever",
               {.none = 0});
  add_duration(parser, "--wait TIME", options->wait_ms,
               "where nothing is due, wait so long for it, with FILE closed (default: not at all)");
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
