// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of verbs that read scores. Threads: one.

#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/scores.h>

#include "cli/page_source.h"

namespace crawlstore::cli {

/// The scores to read, and the option that chooses them, for messages.
struct ScoresChoice {
  std::string_view name;
  std::string_view option;
  bool quiet = false;                ///< nothing is said of stale ones
  bool takes_hosts = false;          ///< and domains
  std::string_view rank_words = "";  ///< by which `crawlstore rank FILE` makes them: " --by host"
};

/// Opens scores, and notes when they are stale. On failure says why, and which there are,
/// and leaves the exit code in `code`.
std::optional<ScoreView> open_scores(const PageView& pages, const PageSourceOptions& source,
                                     const ScoresChoice& choice, int& code);

}  // namespace crawlstore::cli
