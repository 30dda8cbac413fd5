// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scripts by which shells complete verbs, options, values and files, made from the parsers of the
/// verbs, so that they know what --help knows. Threads: pure functions.

#include <string>

#include <CLI/App.hpp>

namespace crawlstore::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace crawlstore::cli
