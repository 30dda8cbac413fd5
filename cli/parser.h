// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The options and arguments that a verb takes from the command line, in words of our own. CLI11
/// takes seconds to compile, so that one source alone sees it. Threads: for the main thread.

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
class Option;
}  // namespace CLI

namespace crawlstore::cli {

/// Returns the fault of a text; empty: none.
using Check = std::function<std::string(const std::string& text)>;

/// One that a Parser has; copies are the same one.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required() const;
  Option excludes(Option other) const;
  Option needs(Option other) const;
  /// The value may be left out; the text is empty then.
  Option with_optional_value() const;
  /// Each text that is given must pass, before any is taken.
  Option check(const Check& passes) const;
  Option one_of(const std::vector<std::string>& words) const;
  /// Shells complete these words, and help lists them; others are taken too. One that ends in a
  /// colon is the beginning of a value.
  Option offers(const std::vector<std::string>& words) const;

 private:
  CLI::Option* option_;
};

/// The options of one verb. A spelling is "FILE", "-q,--quiet", or "--memory SIZE" with the word
/// that help has for the value. Variables that are referred to must outlive the verb's action.
class Parser {
 public:
  explicit Parser(CLI::App& app) : app_(&app) {}
  /// Sets the text of the help below the options.
  void footer(const std::string& text);
  Option flag(const std::string& spelling, bool& to, const std::string& help);
  Option flag(const std::string& spelling, const std::function<void()>& then,
              const std::string& help);
  Option text(const std::string& spelling, std::string& to, const std::string& help);
  /// One text or more; of an option, which may come again, one each time.
  Option texts(const std::string& spelling, std::vector<std::string>& to, const std::string& help);
  /// A text that `parse` keeps in a form of its own.
  Option parsed(const std::string& spelling, const Check& parse, const std::string& help);
  /// From 0 to `high`.
  Option number(const std::string& spelling, double& to, double high, const std::string& help);

 private:
  CLI::App* app_;
};

/// The work of a verb once its options are parsed; returns the exit code.
using Action = std::function<int()>;

struct Verb {
  const char* name;
  const char* summary;
  /// Adds the verb's options to its parser.
  Action (*define)(Parser& parser);
};

/// Runs the verb that the words name, or prints the help, the version, the manual page or a
/// completion; returns the exit code.
int parse_and_run(std::span<const Verb> verbs, int count, char** words);

}  // namespace crawlstore::cli
