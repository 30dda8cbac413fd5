// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The manual page, made from the parsers of the verbs, so that it says what --help says.

#include <string>

#include <CLI/App.hpp>

namespace crawlstore::cli {

/// crawlstore(1) as roff, for man(1).
std::string man_page(const CLI::App& app);

}  // namespace crawlstore::cli
