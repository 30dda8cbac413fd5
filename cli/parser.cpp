// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <algorithm>
#include <exception>
#include <new>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/console.h"
#include "cli/described_verbs.h"
#include "cli/exit_code.h"
#include "cli/man_page.h"
#include "cli/nearest_word.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

std::string names_in(const std::string& spelling) {
  return spelling.substr(0, spelling.find(' '));
}

Option with_value_name(CLI::Option* option, const std::string& spelling) {
  const auto space = spelling.find(' ');
  if (space != std::string::npos) option->type_name(spelling.substr(space + 1));
  return Option(option);
}

std::string exit_codes() {
  std::string text = "Exit codes:";
  for (const auto& [codes, meaning] : exit_code_meanings()) {
    text += fmt::format("\n  {:<15}{}", codes, meaning);
  }
  return text;
}

std::string name_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : app.get_parent()->get_name() + " " + app.get_name();
}

/// The verb whose words are wrong, or the whole of the command.
const CLI::App& chosen(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? app : *verbs.front();
}

std::string advice(const CLI::App& app) {
  return "`" + name_of(chosen(app)) + " --help` lists what there is";
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : options_of(app)) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* verb : verbs_of(app)) {
    names.push_back(verb->get_name());
  }
  return names;
}

/// Returns the fault of the first word that is unknown here, also where its absence broke another
/// rule; empty: all words are known.
std::string unknown_word(const CLI::App& app) {
  const CLI::App& verb = chosen(app);
  const auto words = verb.remaining();
  if (words.empty()) return {};
  const bool is_verb = &verb == &app && !words.front().starts_with("-");
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const auto& word) { return word.starts_with("-"); });
  const std::string word = is_verb || option == words.end() ? words.front() : *option;
  const std::string name = word.substr(0, word.find('='));
  if (!is_verb && option == words.end()) return "`" + word + "` is one word too many";
  const auto known = is_verb ? verb_names(app) : long_options(verb);
  const auto nearest = nearest_word(name, known);
  return fmt::format("there is no {} `{}`{}", is_verb ? "command" : "option", name,
                     nearest ? "; did you mean `" + *nearest + "`?" : "");
}

void define_completion(Parser& parser, std::string& shell) {
  parser.footer(
      "Packages install these scripts; else: `source <(crawlstore completion bash)` in "
      "~/.bashrc, `source <(crawlstore completion zsh)` after compinit in ~/.zshrc, or "
      "`crawlstore completion fish | source` in ~/.config/fish/config.fish.");
  parser.text("SHELL", shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
}

/// CLI11's own exits (help, version, errors) come as ParseError.
int run(CLI::App& app, std::span<const Verb> verbs, int count, char** words) {
  std::vector<Action> actions;
  for (const Verb& verb : verbs) {
    Parser parser(*app.add_subcommand(verb.name, verb.summary));
    actions.push_back(verb.define(parser));
  }
  std::string shell;
  Parser completion(*app.add_subcommand("completion", "print what a shell completes words by"));
  define_completion(completion, shell);
  bool wants_man_page = false;
  app.add_flag("--print-man", wants_man_page)->group("");
  app.footer(exit_codes());  // behind the verbs, which would have it too
  app.parse(count, words);
  if (wants_man_page) return print(man_page(app));
  if (shell == "bash") return print(bash_completion(app));
  if (shell == "zsh") return print(zsh_completion(app));
  if (shell == "fish") return print(fish_completion(app));
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    if (app.got_subcommand(verbs[i].name)) return actions[i]();
  }
  throw CLI::CallForHelp();
}

}  // namespace

Option Option::required() const {
  return Option(option_->required());
}

Option Option::excludes(Option other) const {
  return Option(option_->excludes(other.option_));
}

Option Option::needs(Option other) const {
  return Option(option_->needs(other.option_));
}

Option Option::with_optional_value() const {
  return Option(option_->expected(0, 1));
}

Option Option::check(const Check& passes) const {
  return Option(option_->check(passes));
}

Option Option::one_of(const std::vector<std::string>& words) const {
  return Option(option_->check(CLI::IsMember(words)));
}

Option Option::offers(const std::vector<std::string>& words) const {
  return Option(option_->type_name(
      fmt::format("{}:{{{}}}", option_->get_type_name(), fmt::join(words, ","))));
}

void Parser::footer(const std::string& text) {
  app_->footer(text);
}

Option Parser::flag(const std::string& spelling, bool& to, const std::string& help) {
  return Option(app_->add_flag(spelling, to, help));
}

Option Parser::flag(const std::string& spelling, const std::function<void()>& then,
                    const std::string& help) {
  return Option(app_->add_flag_function(
      spelling, [then](std::int64_t) { then(); }, help));
}

Option Parser::text(const std::string& spelling, std::string& to, const std::string& help) {
  return with_value_name(app_->add_option(names_in(spelling), to, help), spelling);
}

Option Parser::texts(const std::string& spelling, std::vector<std::string>& to,
                     const std::string& help) {
  auto* option = app_->add_option(names_in(spelling), to, help);
  // Words after --option TEXT are not its own.
  if (spelling.starts_with("-")) option->allow_extra_args(false);
  return with_value_name(option, spelling);
}

Option Parser::parsed(const std::string& spelling, const Check& parse, const std::string& help) {
  const std::string name = names_in(spelling);
  const auto keep = [name, parse](const std::string& text) {
    const std::string problem = parse(text);
    if (!problem.empty()) throw CLI::ValidationError(name, problem);
  };
  return with_value_name(app_->add_option_function<std::string>(name, keep, help), spelling);
}

Option Parser::number(const std::string& spelling, double& to, double high,
                      const std::string& help) {
  const auto parse = [&to, high](const std::string& text) {
    const auto number = model::parse_score(text);
    if (!number || *number > high) {
      return fmt::format("a number from 0 to {} is expected, not {}", high, text);
    }
    to = *number;
    return std::string();
  };
  return parsed(spelling, parse, help);
}

int parse_and_run(std::span<const Verb> verbs, int count, char** words) {
  CLI::App app("one crash-safe file for everything a web crawler must remember", "crawlstore");
  app.set_version_flag("--version", "crawlstore " CRAWLSTORE_VERSION);
  app.require_subcommand(0, 1);
  try {
    return run(app, verbs, count, words);
  } catch (const CLI::CallForHelp& help) {
    const int code = app.get_subcommands().empty() && count < 2 ? kExitUsage : kExitDone;
    (void)app.exit(help);
    return code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string problem = unknown_word(app);
    return fail_with((problem.empty() ? error.what() : problem) + "; " + advice(app), kExitUsage);
  } catch (const std::bad_alloc&) {
    return fail_with("out of memory; lower --memory", kExitSystem);
  } catch (const std::exception& error) {
    return fail_with(error.what(), kExitSystem);
  }
}

}  // namespace crawlstore::cli
