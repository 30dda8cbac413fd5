// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lists of pages: a URL or #INDEX a line, which a TAB ends. Empty lines and comments are skipped
/// as in edges (edge_lines.h). Threads: one.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <crawlstore/page_view.h>

#include "cli/stop_signals.h"

namespace crawlstore::cli {

/// The source of such a list, and the form of its lines.
struct PageList {
  std::string path;        ///< - for standard input
  std::string crawl_path;  ///< of the pages, for messages
  std::string_view form;   ///< of which a broken line is none, for messages
  /// Takes what stands before the page off the line; false: it is broken. None: nothing does.
  std::function<bool(std::string_view& line)> take_front{};
  bool takes_any_index = false;  ///< each #INDEX names a page, also one that was forgotten
};

/// Lines that lead to no page, or of which something was left out.
struct LostLines {
  std::uint64_t unknown_count = 0;  ///< pages that are not in the database
  std::string unknown_page;         ///< the first of them
  std::uint64_t malformed_count = 0;
  std::uint64_t malformed_line = 0;  ///< the first of them, counted from 1
  std::uint64_t cut_count = 0;       ///< that went on after the TAB that ends a page
  std::uint64_t cut_line = 0;        ///< the first of them
};

/// Calls `visit` for each page of the list. `pages` may be null: all of #INDEX are there. An exit
/// code; on failure it has said why. It has said how many lost lines there are, and which.
int read_page_list(const PageList& list, const PageView* pages, const StopSignals& stop,
                   LostLines& lost, const std::function<void(std::uint64_t page)>& visit);

}  // namespace crawlstore::cli
