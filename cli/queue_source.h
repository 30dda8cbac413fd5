// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of verbs that read queues: the queue, and the pages that it names. Threads:
/// one.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/queue.h>

#include "cli/page_source.h"

namespace crawlstore::cli {

struct QueueSourceOptions {
  PageSourceOptions pages;
  std::string name;                                ///< empty: the only one, or else the default
  std::optional<std::uint64_t> memory_bytes = {};  ///< of a queue that is changed
};
/// Adds the options of add_page_source(), and --name.
void add_queue_source(Parser& parser, QueueSourceOptions& options);
/// --memory, of verbs that change a queue.
void add_queue_memory(Parser& parser, QueueSourceOptions& options);
QueueOptions queue_options(const QueueSourceOptions& options);

/// The queues of one generation, and its pages.
struct QueueSource {
  Snapshot snapshot;
  std::vector<std::string> names = {};           ///< of all queues, ascending
  std::optional<QueueView> queue = {};           ///< none: nothing was named, and there are several
  std::optional<std::uint64_t> page_count = {};  ///< of the queue that is meant
  std::optional<PageView> pages = {};            ///< none: the store has no page database

  /// Those of `pages`.
  [[nodiscard]] std::vector<PageGap> gaps() const {
    return pages ? gaps_of(*pages) : std::vector<PageGap>();
  }
};
struct QueueNeeds {
  bool queue = false;           ///< that there is one, and the one that was named
  bool pages = false;           ///< that there is a page database
  bool may_be_damaged = false;  ///< queues that cannot be read are not there; their names are
  bool urls = false;            ///< also then the page database, if there is one
  bool names_skip = false;      ///< damage is told with the advice to give --skip-damaged
};
/// On failure, also when what is needed is not there, says why, and what to do, and leaves the exit
/// code in `code`.
std::optional<QueueSource> open_queues(const QueueSourceOptions& options, QueueNeeds needs,
                                       int& code);

/// The name of the queue that is meant, there or not.
std::string queue_name(const QueueSource& source, const QueueSourceOptions& options);

/// Names of all queues, ascending. Reads the directory only.
std::vector<std::string> names_of_queues(const Snapshot& snapshot);

/// Says what failed. Where a queue is damaged, also how it is cleared. An exit code.
int fail_with_queue(const Snapshot& snapshot, const std::string& path, const Error& error);

/// That a queue was chosen. On failure as open_queues().
bool check_chosen(const QueueSource& source, const QueueSourceOptions& options, int& code);

/// Calls `visit` for the pages, in their order, with their URLs: empty where a page has none, or is
/// none of the database. Memory: the URLs of 262,144 pages, so that each block of URLs, of 64
/// pages, is read once for all of these. errors of damage, and those of `visit`
Result<void> for_each_url(
    const QueueSource& source, std::span<const QueuedPage> pages,
    const std::function<Result<void>(const QueuedPage& page, const std::string& url)>& visit);

}  // namespace crawlstore::cli
