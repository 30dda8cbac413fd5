// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading the pages of a damaged file as far as they go.
///
///   auto pages = open_past_damage(*snapshot);
///   pages->for_each_page([](const PageInfo& page) { return show(page); });
///   for (const PageGap& gap : gaps_of(*pages)) report(gap);
///
/// No damaged chunk is believed, and nothing takes the place of what it held: an older row of links
/// does not, where the newer one cannot be read.

#include <cstdint>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// A part of some pages that is lost; the others of them can be read.
enum class PagePart : std::uint8_t {
  kRecord,    ///< state, times, counts, score, hash
  kUrl,       ///< and depth, and the page that linked to it first
  kOutLinks,  ///< the pages that it links to
  kInLinks,   ///< the pages that link to it
  kKey,       ///< it cannot be found by its URL
  kEvents,    ///< edits that wait; counted instead of pages
};

/// "records", "URLs", "out-links" ... ; total: an unknown part gives "parts".
std::string_view name_of(PagePart part);

/// Neighbouring pages of which one part cannot be read.
struct PageGap {
  PagePart part{};
  std::uint64_t first_page = 0;
  std::uint64_t end_page = 0;  ///< the page after the last one
  Error error;                 ///< of the first page that was asked for
};

/// Opens a view of the page database that goes on past damage:
/// - for_each_page() and for_each_page_of() leave out pages whose record or URL cannot be read;
///   page() of one fails.
/// - url(), out_links() and in_links() return nothing where it cannot be read, and links() leaves
///   such pages out.
/// - for_each_event() ends where an edit cannot be read.
/// Everything else fails as it does in other views.
///   errors  kUnknownName: the generation has no page database of this name; of damage: its table
///           cannot be read
[[nodiscard]] Result<PageView> open_past_damage(const Snapshot& snapshot,
                                                std::string_view name = "pages");

/// Returns what could not be read so far, by parts and ascending pages; of any other view, nothing.
/// Threads: any.
[[nodiscard]] std::vector<PageGap> gaps_of(const PageView& view);

}  // namespace crawlstore
#pragma GCC visibility pop
