// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <fmt/format.h>

#include "cli/described_verbs.h"
#include "cli/exit_code.h"

namespace crawlstore::cli {
namespace {

constexpr const char* kDescription =
    "crawlstore keeps what a web crawler must remember in one crash-safe file: which URLs it has "
    "seen, with one writer and any number of readers at a time, in any process. Data goes to "
    "standard output, everything else to standard error.";

constexpr const char* kEnds =
    ".SH ENVIRONMENT\n"
    ".TP\n.B NO_COLOR\nno colour, even on a terminal\n"
    ".TP\n.B SOURCE_DATE_EPOCH\nthe time to write into files, in seconds since 1970\n"
    ".SH EXAMPLES\n"
    "See which of these URLs are new, and remember them:\n"
    ".PP\n.EX\ncrawlstore seen crawl.db < urls.txt | grep \\(aq\\(haunique\\(aq | cut \\-f2\n.EE\n"
    ".PP\nBegin a crawl with a list of seeds:\n"
    ".PP\n.EX\ncrawlstore import web.crawl \\-\\-format urls seeds.txt\n.EE\n"
    ".PP\nA list of links, what they are worth, and the best ten pages:\n"
    ".PP\n.EX\ncrawlstore import web.crawl \\-\\-format edges edges.txt\n"
    "crawlstore rank web.crawl\ncrawlstore top web.crawl\n.EE\n"
    ".PP\nTake the next hundred pages to fetch, and tell what was found:\n"
    ".PP\n.EX\ncrawlstore queue web.crawl \\-\\-fill\\-from pagerank \\-\\-unfetched\n"
    "crawlstore next web.crawl \\-n 100 > fetch.txt\n"
    "crawlstore import web.crawl \\-\\-format jsonl fetched.jsonl\n.EE\n"
    ".PP\nThe URLs of a host, for a script:\n"
    ".PP\n.EX\ncrawlstore pages web.crawl \\-\\-host example.org \\-\\-tsv \\-\\-columns url | "
    "tail \\-n +2\n.EE\n"
    ".PP\nIs the file whole? A copy of it, while others write:\n"
    ".PP\n.EX\ncrawlstore verify web.crawl && crawlstore snapshot web.crawl copy.crawl\n.EE\n"
    ".SH SEE ALSO\n"
    ".BR cut (1),\n.BR sqlite3 (1),\n.BR wget (1),\n"
    ".BR crawlstore\\-inspector ,\nwhich shows such a file in a window (crawlstore inspect FILE)\n";

/// Text for roff: no line may begin with a control character, no byte be taken for an escape.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool at_start = escaped.empty() || escaped.back() == '\n';
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    if (c == '\n') escaped += ".br\n";
  }
  return escaped;
}

/// "-q, --quiet" or "--memory SIZE" or "FILE".
std::string spelling(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string text;
  for (const auto& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const auto& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  return takes_value(option) ? text + " " + value_name(option) : text;
}

std::string synopsis(const CLI::App& verb) {
  std::string text = verb.get_name() + " [OPTION]...";
  for (const auto* option : options_of(verb)) {
    if (!option->get_positional()) continue;
    const std::string dots = option->get_items_expected_max() > 1 ? "..." : "";
    const std::string name = option->get_name(true) + dots;
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string page = fmt::format(
      ".TH CRAWLSTORE 1 \"\" \"crawlstore {}\" \"User Commands\"\n"
      ".SH NAME\ncrawlstore \\- {}\n.SH SYNOPSIS\n",
      CRAWLSTORE_VERSION, roff(app.get_description()));
  for (const auto* verb : verbs_of(app)) {
    page += fmt::format(".B crawlstore\n{}\n.br\n", roff(synopsis(*verb)));
  }
  page += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(kDescription));
  for (const auto* verb : verbs_of(app)) {
    page += fmt::format(".SS {}\n{}\n", roff(synopsis(*verb)), roff(verb->get_description()));
    for (const auto* option : options_of(*verb)) {
      page +=
          fmt::format(".TP\n.B {}\n{}\n", roff(spelling(*option)), roff(option->get_description()));
    }
    if (!verb->get_footer().empty()) page += fmt::format(".PP\n{}\n", roff(verb->get_footer()));
  }
  page += ".SH EXIT STATUS\n";
  for (const auto& [codes, meaning] : exit_code_meanings()) {
    page += fmt::format(".TP\n.B {}\n{}\n", codes, meaning);
  }
  return page + kEnds;
}

}  // namespace crawlstore::cli
