// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The changes that `queue` makes to a queue, each in one commit. Threads: one.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/queue_source.h"
#include "cli/table_form.h"

namespace crawlstore::cli {

/// The change that is made with the pages of a list.
enum class ListUse : std::uint8_t { kInsert, kUpdate, kRemove };

struct QueueChange {
  std::string scores;      ///< fills by this array; empty: does not
  std::string lines_path;  ///< of a list of pages; empty: there is none
  ListUse use = ListUse::kInsert;
  bool clears = false;
  std::optional<std::uint64_t> kept;  ///< so many pages stay
  std::optional<std::uint64_t> limit;
  bool only_unfetched = false;
  bool adds = false;      ///< fills also where pages wait already
  bool replaces = false;  ///< fills in the place of the pages that wait
  bool is_strict = false;
  double lock_wait_seconds = 0;
  TableForm form;
  bool quiet = false;
};

/// Inserts the pages of the database with the scores of an array as priorities. An exit code; what
/// was done is printed.
int fill_queue(const QueueSourceOptions& source, const QueueChange& change);

/// Inserts, updates or removes the pages of a list. The same.
int change_by_list(const QueueSourceOptions& source, const QueueChange& change);

/// Removes all pages but the first `kept`, or all of them. The same.
int trim_queue(const QueueSourceOptions& source, const QueueChange& change);

}  // namespace crawlstore::cli
