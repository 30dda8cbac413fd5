// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The payload of a `pages` segment as a plain struct: spec/pages.md#pages. Any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "link_block.h"

namespace crawlstore::format {

/// A value in the DRUM of page keys: the index, then the witness, which are other bits of the hash.
inline constexpr std::int32_t kPageValueBytes = 9;
/// Indexes have 5 bytes there.
inline constexpr std::uint64_t kPagesMax = kPageMax + 1;

/// A table has some two hundred bytes; later versions may add fields.
inline constexpr std::uint64_t kPagesTableBytesMax = 65536;

/// A bit of the flags: pages have URLs.
inline constexpr std::uint32_t kPagesHaveUrls = 1;
/// And: there is an index of contents, which may be empty.
inline constexpr std::uint32_t kPagesHaveContents = 2;

struct PagesTable {
  bool has_urls = true;               ///< false: pages are known by index only
  std::uint64_t page_count = 0;       ///< indexes given so far
  std::uint64_t crawled_count = 0;    ///< pages that were crawled at least once
  std::uint64_t elsewhere_count = 0;  ///< pages of other shards
  std::uint64_t link_count = 0;       ///< distinct pairs of pages, as of now
  std::uint64_t event_count = 0;      ///< edits that wait
  std::uint64_t superstep_count = 0;  ///< for display
  std::uint64_t collision_count = 0;  ///< URLs refused because another URL has their key
  std::uint64_t unparsed_count = 0;   ///< pages whose URL no parser takes, for display
  SegmentId keys;                     ///< a drum; 0 if there are no URLs
  SegmentId origins;                  ///< 0 while there are none
  SegmentId records;
  SegmentId out_links;
  SegmentId in_links;
  SegmentId gone_links;
  SegmentId events;
  SegmentId fresh_keys;       ///< keys that are not in the drum; 0: none
  std::string normalizer;     ///< of URLs; empty: normalisation version 2
  bool has_contents = false;  ///< whether there is an index of contents
  SegmentId contents;         ///< its keys; 0: it has none
  friend bool operator==(const PagesTable&, const PagesTable&) = default;
};

std::vector<std::byte> encode_pages_table(const PagesTable& table);

/// errors kSegmentInvalid; text names the rule
Result<PagesTable> parse_pages_table(std::span<const std::byte> bytes);

}  // namespace crawlstore::format
