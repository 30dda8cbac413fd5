// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The file, and the frontier in it, for the verbs that use frontiers. Threads: one.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/frontier.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

#include "cli/parser.h"

namespace crawlstore::cli {

struct FrontierSourceOptions {
  std::string path;
  std::string name;  ///< empty: the only one, or else the default
  double lock_wait_seconds = 60;
};
/// FILE, --frontier and --lock-wait.
void add_frontier_source(Parser& parser, FrontierSourceOptions& options);

/// Names of all frontiers, ascending. Reads the directory only.
std::vector<std::string> names_of_frontiers(const Snapshot& snapshot);

/// The name of the one that is meant. On failure, also when there is none and `makes` is false,
/// says why, and what to do, and leaves the exit code in `code`.
std::optional<std::string> choose_frontier(const Snapshot& snapshot,
                                           const FrontierSourceOptions& options, bool makes,
                                           int& code);

/// A frontier to be changed. While it lives no other writer has the file.
struct OpenFrontier {
  Store store;
  std::string name;
  Frontier frontier;  // below the store: it goes first

  Result<void> close();
};
/// `makes`: the file and the frontier where they are not there, with `made`. On failure as
/// choose_frontier().
std::optional<OpenFrontier> open_frontier(const FrontierSourceOptions& options, bool makes,
                                          const FrontierOptions& made, int& code);

}  // namespace crawlstore::cli
