// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The next sensible thing to do with a crawl file. Pure functions.

#include <string>

#include "inspector/core/health.h"
#include "model/crawl_file.h"

namespace crawlstore::inspector {

struct NextAction {
  std::string why;      ///< a sentence
  std::string title;    ///< on the button
  std::string command;  ///< of the inspector; empty = `shell` is copied
  std::string shell;    ///< a command line; the inspector itself never writes to FILE
};

/// Damage comes first, then a check that nobody made, then requests and edits that wait, scores
/// that are missing or stale, and free bytes.
NextAction next_action(const model::FileView& view, const Health& health);

}  // namespace crawlstore::inspector
