// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Real graphs for tests, where their folder is there.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "format/link_samples.h"

namespace crawlstore::testing {

/// The rows of a graph of the test data; none when it is not there.
inline Rows real_graph(const std::string& name) {
  const char* const given = std::getenv("CRAWLSTORE_DATA");
  const std::filesystem::path folder = given != nullptr ? given : "../shared/data";
  const auto path = folder / "graphs" / name;
  Rows rows;
  if (!std::filesystem::exists(path)) return rows;
  FILE* const pipe = ::popen(("zstd -dc '" + path.string() + "'").c_str(), "r");
  if (pipe == nullptr) return rows;
  std::uint64_t page = 0;
  std::uint64_t link = 0;
  bool has_digits = false;
  bool is_first_line = true;  // the number of nodes
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) {
    if (letter >= '0' && letter <= '9') {
      link = link * 10 + static_cast<std::uint64_t>(letter - '0');
      has_digits = true;
      continue;
    }
    if (has_digits && !is_first_line) rows[page].push_back(link);
    link = 0;
    has_digits = false;
    if (letter == '\n' && !is_first_line) ++page;
    if (letter == '\n') is_first_line = false;
  }
  ::pclose(pipe);
  return rows;
}

}  // namespace crawlstore::testing
