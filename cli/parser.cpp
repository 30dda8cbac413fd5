// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <exception>
#include <new>

#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/man_page.h"

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

/// CLI11's own exits (help, version, errors) come as ParseError.
int run(CLI::App& app, std::span<const Verb> verbs, int count, char** words) {
  std::vector<Action> actions;
  for (const Verb& verb : verbs) {
    Parser parser(*app.add_subcommand(verb.name, verb.summary));
    actions.push_back(verb.define(parser));
  }
  bool wants_man_page = false;
  std::string shell;
  app.add_flag("--print-man", wants_man_page)->group("");
  app.add_option("--print-completion", shell)->group("")->check(CLI::IsMember({"bash"}));
  app.parse(count, words);
  if (wants_man_page) return print(man_page(app));
  if (!shell.empty()) return print(bash_completion(app));
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

Option Option::check(const Check& passes) const {
  return Option(option_->check(passes));
}

Option Option::one_of(const std::vector<std::string>& words) const {
  return Option(option_->check(CLI::IsMember(words)));
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
  // What comes behind --option TEXT is not its own.
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
  auto* option = app_->add_option(names_in(spelling), to, help)->check(CLI::Range(0.0, high));
  return with_value_name(option, spelling);
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
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  } catch (const std::bad_alloc&) {
    return fail_with("out of memory; lower --memory", kExitSystem);
  } catch (const std::exception& error) {
    return fail_with(error.what(), kExitSystem);
  }
}

}  // namespace crawlstore::cli
