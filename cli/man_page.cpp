// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <vector>

#include <fmt/format.h>

namespace crawlstore::cli {
namespace {

constexpr const char* kDescription =
    "crawlstore keeps what a web crawler must remember in one crash-safe file: which URLs it has "
    "seen, with one writer and any number of readers at a time, in any process. Data goes to "
    "standard output, everything else to standard error.";

constexpr const char* kExitCodes =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\ndone\n"
    ".TP\n.B 1\nthe answer is \"no\": damaged, not found, exists already; or lines were refused\n"
    ".TP\n.B 2\nthe command line is wrong\n"
    ".TP\n.B 3\nthe system said no: I/O, space, permission, locked by another writer\n"
    ".TP\n.B 4\nnot a crawl file, or of a version that this program does not read\n"
    ".TP\n.B 130, 143\nended cleanly after SIGINT or SIGTERM; the last commit stands\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B NO_COLOR\nno colour, even on a terminal\n"
    ".TP\n.B SOURCE_DATE_EPOCH\nthe time to write into files, in seconds since 1970\n";

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

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });
}

bool is_shown(const CLI::Option* option) {
  return !option->get_group().empty();
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options(is_shown);
}

/// "-q, --quiet" or "--memory SIZE" or "FILE".
std::string spelling(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string text;
  for (const auto& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const auto& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  const bool has_value = option.get_expected_min() > 0 && option.get_type_size() > 0;
  return has_value ? text + " " + option.get_type_name() : text;
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
  return page + kExitCodes;
}

std::string bash_completion(const CLI::App& app) {
  std::string verbs;
  std::string cases;
  for (const auto* verb : verbs_of(app)) {
    verbs += (verbs.empty() ? "" : " ") + verb->get_name();
    std::string options;
    for (const auto* option : options_of(*verb)) {
      for (const auto& name : option->get_lnames())
        options += (options.empty() ? "--" : " --") + name;
    }
    cases += fmt::format("    {}) options='{}' ;;\n", verb->get_name(), options);
  }
  return fmt::format(R"(# bash completion for crawlstore, made by crawlstore --print-completion bash
_crawlstore() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- "$word")
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -F _crawlstore crawlstore
)",
                     verbs, cases);
}

}  // namespace crawlstore::cli
