// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Puts the lines of an input into a frontier. Threads: one.

#include <string>

#include "cli/frontier_source.h"

namespace crawlstore::cli {

struct FrontierPut {
  std::string input;     ///< - for standard input
  FrontierOptions made;  ///< of a frontier that is not there yet
  bool as_json = false;
};

/// An exit code; it has said what became of the lines.
int put_lines(const FrontierSourceOptions& source, const FrontierPut& put);

}  // namespace crawlstore::cli
