// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <vector>

#include <fmt/format.h>

#include "cli/described_verbs.h"

namespace crawlstore::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

/// "-q", "--quiet".
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// The text with `mark` before each of these characters.
std::string marked(const std::string& text, std::string_view characters, std::string_view mark) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) result += mark;
    result += c;
  }
  return result;
}

/// The possible values of a verb's options for bash, a pattern and a command a line.
std::string bash_values(const CLI::App& verb) {
  std::string cases;
  for (const auto* option : options_of(verb)) {
    if (option->get_positional() || !takes_value(*option)) continue;
    const auto words = words_of(*option);
    const std::string offer = is_path(*option) ? "kind=files"
                              : words.empty()  ? "kind=none"
                                               : "words='" + joined(words, " ") + "'";
    for (const auto& name : spellings(*option)) {
      cases += fmt::format("    '{} {}') {} ;;\n", verb.get_name(), name, offer);
    }
  }
  return cases;
}

/// In single quotes of bash and zsh.
std::string in_quotes(const std::string& text) {
  return fmt::format("'{}'", marked(text, "'", "'\\'"));
}

/// An argument of _arguments, for zsh.
std::string zsh_argument(const CLI::Option& option, const std::string& name) {
  constexpr std::string_view kSpecial = "[]:\\";
  std::string text;
  if (option.get_positional()) {
    if (option.get_items_expected_max() > 1) text += '*';
    text += ":" + value_name(option);
  } else {
    // The value is the next word, or stands behind a long name and =, or right behind a short one.
    const char* joint = !takes_value(option) ? "" : name.starts_with("--") ? "=" : "+";
    text += fmt::format("*{}{}[{}]", name, joint, marked(option.get_description(), kSpecial, "\\"));
    if (!takes_value(option)) return in_quotes(text);
    text += ":" + marked(value_name(option), kSpecial, "\\");
  }
  const auto words = words_of(option);
  text += is_path(option) ? ":_files"
          : words.empty() ? ": "
                          : ":(" + marked(joined(words, " "), ":", "\\") + ")";
  return in_quotes(text);
}

std::string fish_quoted(const std::string& text) {
  return fmt::format("'{}'", marked(text, "'\\", "\\"));
}

/// A line for fish: for an option, or for the words that an argument can be.
std::string fish_line(const CLI::App& verb, const CLI::Option& option) {
  std::string line =
      fmt::format("complete -c crawlstore -n '__fish_seen_subcommand_from {}'", verb.get_name());
  const auto words = words_of(option);
  if (option.get_positional() && words.empty()) return {};
  for (const auto& name : option.get_snames()) line += " -s " + name;
  for (const auto& name : option.get_lnames()) line += " -l " + name;
  if (!option.get_positional() && takes_value(option)) line += is_path(option) ? " -r -F" : " -x";
  if (!words.empty()) line += " -a " + fish_quoted(joined(words, " "));
  return line + " -d " + fish_quoted(option.get_description()) + "\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> verbs;
  std::string options;
  std::string values;
  for (const auto* verb : verbs_of(app)) {
    verbs.push_back(verb->get_name());
    std::vector<std::string> names;
    std::vector<std::string> words;
    bool takes_path = false;
    for (const auto* option : options_of(*verb)) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
      if (!option->get_positional()) continue;
      words = words_of(*option);
      takes_path = takes_path || is_path(*option);
    }
    options +=
        fmt::format("    {}) options='{}' arguments='{}' argument_kind={} ;;\n", verb->get_name(),
                    joined(names, " "), joined(words, " "), takes_path ? "files" : "none");
    values += bash_values(*verb);
  }
  return fmt::format(R"(# bash completion for crawlstore, made by: crawlstore completion bash
_crawlstore() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} at=$COMP_CWORD before='' begin=''
  local options='' arguments='' argument_kind='' words='' kind=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- "$word")
    return
  fi
  # Words were taken apart at each : and =; what is offered replaces the last piece.
  while ((at > 2)) && [[ $word == :* || ${{COMP_WORDS[at - 1]}} == : ]]; do
    ((--at))
    word=${{COMP_WORDS[at]}}$word
    begin=${{word%"${{word##*:}}"}}
  done
  before=${{COMP_WORDS[at - 1]}}
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[at - 2]}}
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  case "${{COMP_WORDS[1]}} $before" in
{}  esac
  if [[ -z $words && -z $kind ]]; then
    if [[ $word == -* ]]; then
      words=$options
    else
      words=$arguments kind=$argument_kind
    fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ ${{COMPREPLY[0]-}} == *: ]] && compopt -o nospace 2>/dev/null
  if [[ $kind == files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -f -- "$word")
  fi
  COMPREPLY=("${{COMPREPLY[@]#"$begin"}}")
}}
complete -F _crawlstore crawlstore
)",
                     joined(verbs, " "), options, values);
}

std::string zsh_completion(const CLI::App& app) {
  std::string verbs;
  std::string cases;
  for (const auto* verb : verbs_of(app)) {
    const std::string summary = marked(verb->get_description(), ":\\", "\\");
    verbs += "    " + in_quotes(verb->get_name() + ":" + summary) + "\n";
    cases += fmt::format("    {})\n      _arguments -s", verb->get_name());
    for (const auto* option : options_of(*verb)) {
      if (option->get_positional()) {
        cases += " \\\n        " + zsh_argument(*option, "");
        continue;
      }
      for (const auto& name : spellings(*option)) {
        cases += " \\\n        " + zsh_argument(*option, name);
      }
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef crawlstore
# zsh completion for crawlstore, made by: crawlstore completion zsh
_crawlstore() {{
  local -a verbs=(
{}    '--help:print what there is'
    '--version:print the version'
  )
  if ((CURRENT == 2)); then
    _describe command verbs
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{}  esac
}}
if [[ $funcstack[1] == _crawlstore ]]; then
  _crawlstore "$@"
else
  compdef _crawlstore crawlstore
fi
)",
                     verbs, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string script =
      "# fish completion for crawlstore, made by: crawlstore completion fish\n"
      "complete -c crawlstore -n __fish_use_subcommand -f\n"
      "complete -c crawlstore -n __fish_use_subcommand -l help -d 'print what there is'\n"
      "complete -c crawlstore -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const auto* verb : verbs_of(app)) {
    script += fmt::format("complete -c crawlstore -n __fish_use_subcommand -a {} -d {}\n",
                          verb->get_name(), fish_quoted(verb->get_description()));
    for (const auto* option : options_of(*verb)) script += fish_line(*verb, *option);
  }
  return script;
}

}  // namespace crawlstore::cli
