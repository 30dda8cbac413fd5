// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `import` of lines of URLFrontier's client into crawls as crawlstored has them (spec/service.md).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crawlstore::cli {

struct UrlFrontierImportOptions {
  std::string path;
  std::vector<std::string> inputs;
  std::string crawl;  ///< ID of the crawl of URLs that stand alone; empty: the usual one
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 0;
  std::string unparsed;    ///< a file that lists what is no URL; empty: none
  bool is_strict = false;  ///< nothing is imported when a line or an input is refused
  bool as_json = false;
  bool quiet = false;
};

/// Reads all inputs into the file, which is made when it is not there, and prints what came of the
/// lines. Returns the exit code. An input that cannot be read ends it; what was read before is
/// kept.
int import_urlfrontier(UrlFrontierImportOptions options);

}  // namespace crawlstore::cli
