// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `import` of pages and links: lists of URLs, edges, crawl events, and crawl events as lines of
/// JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crawlstore::cli {

struct PageImportOptions {
  std::string path;
  std::string format;  ///< urls, edges, events or jsonl
  std::vector<std::string> inputs;
  std::string database;
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 0;
  bool raw = false;
  std::optional<std::uint64_t> index_gap;  ///< PagesOptions::index_gap_max
  std::string unparsed;                    ///< a file that lists what is no URL; empty: none
  std::optional<std::string> frontier{};   ///< that gets the new pages; empty: the usual one
  bool no_merge = false;
  bool is_strict = false;  ///< nothing is imported when a line is not of the format
  bool as_json = false;
  bool quiet = false;
};

/// Reads all inputs into the database, which is made when it is not there, runs the superstep, and
/// prints what was done. Returns the exit code. An input that cannot be read, or a stream of events
/// that names pages in another way than the database does, ends it; what was read before is kept.
int import_pages(PageImportOptions options);

}  // namespace crawlstore::cli
