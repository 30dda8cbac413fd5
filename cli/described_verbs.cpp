// SPDX-License-Identifier: Apache-2.0
#include "cli/described_verbs.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace crawlstore::cli {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& verb) {
  return verb.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

bool takes_value(const CLI::Option& option) {
  return option.get_expected_min() > 0 && option.get_type_size() > 0;
}

/// CLI11 has "NAME:{one,two}" where the value is one of some words; Option::offers() likewise.
std::string value_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const std::string name = option.get_type_name();
  return name.substr(0, name.find(":{"));
}

std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  const auto begin = name.find(":{");
  if (begin == std::string::npos || name.back() != '}') return {};
  std::istringstream listed(name.substr(begin + 2, name.size() - begin - 3));
  std::vector<std::string> words;
  for (std::string word; std::getline(listed, word, ',');) words.push_back(word);
  return words;
}

bool is_path(const CLI::Option& option) {
  constexpr std::array kPaths{"FILE", "INPUT", "OUT", "OLD", "NEW"};
  return std::ranges::find(kPaths, value_name(option)) != kPaths.end();
}

}  // namespace crawlstore::cli
