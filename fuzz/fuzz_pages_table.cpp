// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parser or makes it read outside it;
//   - an accepted table follows every rule that one payload can show;
//   - it is the same after it was encoded and parsed again.
//
// Input: the payload of a pages segment.

#include <array>
#include <cstdint>
#include <set>
#include <span>

#include "format/pages_table.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

void check_segments(const PagesTable& table) {
  require(static_cast<bool>(table.keys) == table.has_urls);
  require(static_cast<bool>(table.origins) == (table.has_urls && table.page_count != 0));
  require(static_cast<bool>(table.records) == (table.page_count != 0));
  require(static_cast<bool>(table.events) == (table.event_count != 0));
  require(table.link_count == 0 || (table.out_links && table.in_links));
  require(!table.contents || (table.has_contents && table.page_count != 0));
  std::set<SegmentId> ids;
  for (const SegmentId id : {table.keys, table.origins, table.records, table.out_links,
                             table.in_links, table.gone_links, table.events, table.contents}) {
    require(!id || ids.insert(id).second);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = parse_pages_table(std::as_bytes(std::span(data, size)));
  if (!table) return 0;
  require(table->page_count <= kPagesMax && table->crawled_count <= table->page_count);
  require(table->elsewhere_count <= table->page_count - table->crawled_count);
  check_segments(*table);
  require(parse_pages_table(encode_pages_table(*table)) == table);
  return 0;
}
