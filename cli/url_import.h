// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `import` of lists of URLs into a DRUM, a bare set: what knows pages knows nothing of it.

#include <string>
#include <vector>

#include "cli/url_session.h"

namespace crawlstore::cli {

struct UrlImportOptions {
  UrlSessionOptions session;
  std::vector<std::string> inputs;
  std::string unparsed;    ///< a file that lists what is no URL; empty: none
  bool is_strict = false;  ///< nothing is imported when a line or an input is refused
  bool as_json = false;
  bool quiet = false;
};

/// Reads all inputs into the DRUM, which is made when it is not there, and prints how many URLs
/// were new. Returns the exit code. An input that cannot be read ends it; what was read before is
/// kept.
int import_urls(UrlImportOptions options);

}  // namespace crawlstore::cli
