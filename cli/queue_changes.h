// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `queue` puts into a queue, each in one commit. Threads: one.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/queue_source.h"

namespace crawlstore::cli {

struct QueueChange {
  std::string scores;      ///< fills by this array; empty: does not
  std::string lines_path;  ///< inserts pages of this list; empty: does not
  std::optional<std::uint64_t> limit;
  bool only_unfetched = false;
  bool adds = false;  ///< also where pages wait already
  bool is_strict = false;
  double lock_wait_seconds = 0;
  bool as_json = false;
  bool quiet = false;
};

/// Inserts the pages of the database with the scores of an array as priorities. An exit code; what
/// was done is printed.
int fill_queue(const QueueSourceOptions& source, const QueueChange& change);

/// Inserts the pages of lines PRIORITY TAB PAGE. The same.
int insert_lines(const QueueSourceOptions& source, const QueueChange& change);

}  // namespace crawlstore::cli
