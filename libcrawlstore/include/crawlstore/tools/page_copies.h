// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages by their content: which pages are copies of each other, by the hash that their last crawl
/// gave.
///
/// A database that was made with PagesOptions::content_index, or got the index by a compact(),
/// finds them by it; in any other all records are read. Threads: any number, of one view too.
/// Errors: of damage, and those of PageView. Source: Nutch's WebDB, pages by MD5.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <crawlstore/page_view.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Pages whose record has this content hash, ascending by index, until the visitor returns false.
///   content_hash  none has an empty one: that is not known
///   cost          with the index a block in each of at most 8 runs, and the record of each page
///                 that has the content, or had it before the last compact(); without it all
///                 records
[[nodiscard]] Result<void> for_each_page_of_content(
    const PageView& view, std::span<const std::byte> content_hash,
    const std::function<bool(std::uint64_t index)>& visit);

}  // namespace crawlstore
#pragma GCC visibility pop
