// SPDX-License-Identifier: Apache-2.0
#include "cli/revisit_options.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/line_batches.h"
#include "cli/open_input.h"
#include "cli/options.h"
#include "cli/refused_inputs.h"
#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::size_t kRulesAtOnce = 1000;

constexpr const char* kLineHelp =
    "a line is REGEX TAB INTERVAL; INTERVAL is a time such as 12h or 30d, a factor such as x0.5 of "
    "the interval that the page has anyway, or `never`";

std::uint64_t scaled(std::uint64_t interval_ms, double factor) {
  const double product = static_cast<double>(interval_ms) * factor;
  if (!(product < static_cast<double>(RevisitRule::kNever))) return RevisitRule::kNever;
  return static_cast<std::uint64_t>(product);
}

std::string check_revisit(const std::string& text, RevisitRule& rule) {
  if (text == "adaptive") {
    rule.kind = RevisitKind::kAdaptive;
    return {};
  }
  const auto number = model::parse_count(text);
  if (!number || *number == 0) {
    return "a whole number of fetches a day from 1, or `adaptive`, is expected, not " + text;
  }
  rule.fetches_per_day = static_cast<double>(*number);
  return {};
}

}  // namespace

std::string UrlIntervals::add(std::string_view line) {
  if (line.empty() || line.front() == '#') return {};
  const std::size_t tab = line.rfind('\t');
  if (tab == std::string_view::npos) return kLineHelp;
  std::string problem;
  auto pattern = UrlPattern::parse(std::string(line.substr(0, tab)), problem);
  if (!pattern) return "no regular expression: " + problem;
  Rule rule{.pattern = *std::move(pattern)};
  const std::string text(line.substr(tab + 1));
  if (text == "never") {
    rule.interval_ms = RevisitRule::kNever;
  } else if (const auto time = model::parse_duration(text)) {
    rule.interval_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(*time).count());
  } else {
    const auto factor = text.starts_with('x') ? model::parse_score(text.substr(1)) : std::nullopt;
    if (!factor || !(*factor > 0)) return kLineHelp;
    rule.factor = *factor;
  }
  rules_.push_back(std::move(rule));
  return {};
}

std::uint64_t UrlIntervals::interval_of(const std::string& url, std::uint64_t interval_ms) const {
  for (const Rule& rule : rules_) {
    if (rule.pattern.finds(url)) return rule.interval_ms.value_or(scaled(interval_ms, rule.factor));
  }
  return interval_ms;
}

std::vector<Option> add_revisits(Parser& parser, RevisitOptions& options) {
  const Option init = parser.flag(
      "--init", options.is_init,
      "put all pages that were never fetched and are not in the frontier, also those that a "
      "limit or --depth-max left out");
  const auto check = [&options](const std::string& text) {
    options.revisit = text;
    return check_revisit(text, options.rule);
  };
  const Option revisit =
      parser.parsed("--revisit N|adaptive", check,
                    "as --init, and put fetched pages back for another visit: about N a day, "
                    "those first where a fetch gains most; or each by Nutch's adaptive rule");
  revisit.excludes(init);
  add_duration(parser, "--first TIME", options.rule.first_ms,
               "time from the first fetch of a page to the second (default: 7d)")
      .needs(revisit);
  add_duration(parser, "--shortest TIME", options.rule.min_ms,
               "time between fetches of a page, at least (default: 1h)")
      .needs(revisit);
  add_duration(parser, "--longest TIME", options.rule.max_ms,
               "time between fetches of a page, at most (default: 365d)")
      .needs(revisit);
  parser
      .text("--rules INPUT", options.rules_input,
            "intervals by URL, which --shortest and --longest do not change: lines REGEX TAB "
            "INTERVAL; the first that matches counts")
      .needs(revisit);
  return {init, revisit};
}

int read_revisit_rule(RevisitOptions& options) {
  if (options.rule.min_ms > options.rule.max_ms) {
    return fail_with("schedule: --shortest is longer than --longest", kExitUsage);
  }
  if (options.rules_input.empty()) return kExitDone;
  const StopSignals stop;
  OpenInput input(options.rules_input, stop);
  if (input.descriptor() < 0) return fail_with_unopened(options.rules_input, input.open_errno());
  LineBatches batches(input, kRulesAtOnce);
  LineBatch batch;
  const auto intervals = std::make_shared<UrlIntervals>();
  for (auto why = LineBatches::Why::kFull; why != LineBatches::Why::kEnd;) {
    const auto next = batches.next(batch, false);
    if (!next) return fail_with(options.rules_input, next.error());
    why = *next;
    if (why == LineBatches::Why::kRefused) {
      note_refused_input(options.rules_input, batches.refusal());
      return kExitUsage;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::string problem = intervals->add(batch[i]);
      if (problem.empty()) continue;
      return fail_with(fmt::format("{}: line {}: {}", model::format_printable(options.rules_input),
                                   batch.number(i), problem),
                       kExitUsage);
    }
  }
  if (const int number = stop.requested()) return exit_code_of_signal(number);
  options.rule.interval_of = [intervals](const PageInfo& page, std::uint64_t interval_ms) {
    return intervals->interval_of(page.url, interval_ms);
  };
  return kExitDone;
}

}  // namespace crawlstore::cli
