// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `export` of crawls as crawlstored has them (spec/service.md), in lines as the client of
/// URLFrontier dumps them.

#include <string>

namespace crawlstore::cli {

struct UrlFrontierExportOptions {
  std::string path;
  std::string crawl;  ///< ID; empty: all
  std::string output;
  bool no_pin = false;
  bool no_mmap = false;
  bool quiet = false;
};

/// Writes a line for each URL that the file has; says what is not in the output. Returns the exit
/// code.
int export_urlfrontier(const UrlFrontierExportOptions& options);

}  // namespace crawlstore::cli
