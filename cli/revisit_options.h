// SPDX-License-Identifier: Apache-2.0
#pragma once

/// --init, --revisit and what belongs to it: the pages that `schedule` puts back. Threads: one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/schedule.h>

#include "cli/page_selection.h"
#include "cli/parser.h"

namespace crawlstore::cli {

/// Intervals between visits by URL: lines REGEX TAB INTERVAL, of which the first that finds
/// something counts.
class UrlIntervals {
 public:
  /// Takes a line, or one that is empty or begins with #. Returns what is wrong with it, and what
  /// is taken; empty: nothing.
  std::string add(std::string_view line);
  /// Returns what RevisitRule::interval_of does.
  [[nodiscard]] std::uint64_t interval_of(const std::string& url, std::uint64_t interval_ms) const;

 private:
  struct Rule {
    UrlPattern pattern;
    std::optional<std::uint64_t> interval_ms{};
    double factor = 1;  ///< of the interval, without one of its own
  };
  std::vector<Rule> rules_;
};

struct RevisitOptions {
  bool is_init = false;
  std::string revisit;  ///< a number, or `adaptive`; empty: none
  RevisitRule rule;
  std::string rules_input;

  [[nodiscard]] bool puts_back() const { return is_init || !revisit.empty(); }
};

/// Returns those that put pages back.
std::vector<Option> add_revisits(Parser& parser, RevisitOptions& options);

/// Reads what the options name, into `options.rule`. Returns the exit code; without success it has
/// said why.
int read_revisit_rule(RevisitOptions& options);

}  // namespace crawlstore::cli
