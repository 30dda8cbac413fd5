// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Contents with how many pages have each, for `pages --by content`.
/// Memory: 64 MiB; what does not fit is sorted in a file. Threads: one.

#include <cstdint>
#include <optional>

#include <crawlstore/page_view.h>

#include "cli/output_file.h"
#include "cli/table_form.h"

namespace crawlstore::cli {

struct ContentGroupsOptions {
  TableForm form;
  std::optional<std::uint64_t> limit;
  Progress progress{};
};

/// Prints the contents, the one of most pages first, of as many by the bytes of the hash: the hash,
/// the number of pages, and the first of them with its URL.
///   lines   of content_groups_columns()
///   errors  of damage, of the output, kNoSpace and the like of the sort; kCancelled
Result<void> print_content_groups(const PageView& view, const ContentGroupsOptions& options,
                                  const model::TableLines& lines, OutputFile& output);

std::vector<model::Column> content_groups_columns();

}  // namespace crawlstore::cli
