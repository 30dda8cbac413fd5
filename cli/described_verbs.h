// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The descriptions that the parsers of the verbs have, for the manual page and the completions.
/// Threads: pure functions.

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace crawlstore::cli {

std::vector<const CLI::App*> verbs_of(const CLI::App& app);

/// Those that help shows, arguments without a name too.
std::vector<const CLI::Option*> options_of(const CLI::App& verb);

/// Something follows --name.
bool takes_value(const CLI::Option& option);

/// The word that help has for the value: "SIZE".
std::string value_name(const CLI::Option& option);

/// The words that the value can be; empty: anything.
std::vector<std::string> words_of(const CLI::Option& option);

/// The value is the path of a file.
bool is_path(const CLI::Option& option);

}  // namespace crawlstore::cli
