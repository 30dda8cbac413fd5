// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages of a database in the order of their URLs, or of their contents, as streams: sorted
/// anew by each call, in bounded memory (external_sort.h).
///
/// A visitor gets the index of a page and what it is sorted by. Anything else, such as PageInfo,
/// is read from the view by index: from places all over the file, as indexes come in no order.
/// Pages that are gone still have a URL and a content: PageView::state() tells them.
///
/// Ownership: as in crawlstore.hpp. A visitor may use the view, and ends the
/// stream by returning false, which is no error.
/// Threads: any number, of one view too; each call sorts for itself, with memory and a file of its
/// own. Errors: of damage, and those of PageView and ExternalSort; kCancelled. A view that goes on
/// past damage (tools/page_gaps.h) leaves out pages whose URL or record cannot be read.
/// Source: Nutch's WebDB, pages() and pagesByMD5().
///
///   CRAWLSTORE_TRY(for_each_page_by_url(view, {}, [](std::string_view url, std::uint64_t) {
///     std::cout << url << '\n';
///     return true;
///   }));

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <crawlstore/page_view.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

struct PageOrderOptions {
  /// Bytes that the sort takes: ExternalSortOptions::memory_bytes. All pages fit if it exceeds
  /// their URLs, or hashes, and 32 bytes a page; then no file is made.
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
  /// Folder of the file where they do not fit. Empty: $TMPDIR, or /tmp. A view does not know the
  /// folder of its store, which has room for the file as a rule.
  std::string folder{};
  /// Told while pages are read, and while they are sorted, before the first one is visited. The
  /// total is twice the number of pages.
  Progress progress{};
};

/// Visits all pages that have a URL, ascending by the bytes of their URLs, as memcmp() orders them.
/// Pages that were forgotten have none.
///   visit   of a URL and the index of its page; URLs are distinct
///   errors  kInvalidArgument: the pages of the database have no URLs, or an option is out of
///           bounds
///   cost    reads all URLs once, forwards. The 48,200 pages of a graph of documentation, in any
///           order, on a slow core: 2,000 ns a page in 64 MiB of memory, 2,000 in 64 KiB. Reading
///           the URLs is 200 of them
[[nodiscard]] Result<void> for_each_page_by_url(
    const PageView& view, const PageOrderOptions& options,
    const std::function<bool(std::string_view url, std::uint64_t index)>& visit);

/// Visits all pages that have a content hash, ascending by its bytes, and those of one content by
/// index. A page that no crawl gave a hash is left out: what it holds is not known.
///   visit   of a content hash, 1 to 64 bytes, and the index of a page
///   errors  kInvalidArgument: an option is out of bounds
///   cost    reads all records once, forwards; 830 ns a page in 64 MiB of memory, 1,100 in 64 KiB,
///           of which 190 are for the records
[[nodiscard]] Result<void> for_each_page_by_content(
    const PageView& view, const PageOrderOptions& options,
    const std::function<bool(std::span<const std::byte> content_hash, std::uint64_t index)>& visit);

/// A content, with the pages that have it: copies of each other if there are several.
struct ContentGroup {
  std::span<const std::byte> content_hash{};
  std::uint64_t page_count = 0;
  std::uint64_t first_page = 0;  ///< the lowest index; for_each_page_of_content() gives all
};

/// Visits all contents, ascending by the bytes of their hashes. Memory does not depend on how many
/// pages share one.
///   errors, cost  as for_each_page_by_content()
[[nodiscard]] Result<void> for_each_content(
    const PageView& view, const PageOrderOptions& options,
    const std::function<bool(const ContentGroup& group)>& visit);

}  // namespace crawlstore
#pragma GCC visibility pop
