// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tells which lines of an input hold no URLs, and why: the first five on standard error, all of
/// them in a file where one is asked for, a line each: place, TAB, why, TAB, the URL with escapes.
/// Such URLs are kept all the same, as they are. Threads: one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/url.h>

#include "cli/output_file.h"

namespace crawlstore::cli {

class UnparsedReport {
 public:
  /// `path` of the file; empty: there is none. It must be neither the
  /// store nor an input. `is_quiet`: nothing goes to standard error.
  ///   errors  kInvalidArgument (standard output, the store, an input); those of OutputFile::open()
  static Result<UnparsedReport> open(const std::string& path, const std::string& store,
                                     const std::vector<std::string>& inputs, bool is_quiet);

  /// `place`: the input and its line. An error of the file is kept for finish().
  void add(std::string_view place, std::string_view url, UrlProblem problem);
  /// Tells how many were not told one by one, and gives the file its name.
  Result<void> finish();

 private:
  std::optional<OutputFile> file_;
  Result<void> written_;
  std::uint64_t count_ = 0;
  bool is_quiet_ = false;
};

}  // namespace crawlstore::cli
