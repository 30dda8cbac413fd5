// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the deep check of a link run or makes it read outside of the payload;
//   - an error is kSegmentInvalid, with a place in the payload;
//   - blocks of an accepted run with codec 1, put together anew with an index and a footer, give
//     the same bytes: there is one payload for one content and one division into blocks.
//
// Input: a payload; a length that is no multiple of 8 is cut to one.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/endian.h"
#include "format/link_block.h"
#include "format/link_index.h"
#include "links/link_content.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

/// The run of an accepted payload, made of its rows.
Bytes made_again(const Bytes& payload) {
  const auto footer = load_struct<LinkRunFooter>(payload.data() + payload.size() - 72);
  Bytes out;
  std::vector<LinkIndexEntry> index;
  LinkTotals totals;
  LinkRows rows;
  for (std::uint64_t i = 0; i < footer.block_count; ++i) {
    const auto entry = load_struct<LinkIndexEntry>(payload.data() + footer.index_offset_bytes +
                                                   i * sizeof(LinkIndexEntry));
    const auto header = load_struct<LinkBlockHeader>(payload.data() + entry.offset_bytes);
    const auto length = link_block_bytes(header);
    require(length.has_value());
    require(decode_link_block(std::span(payload).subspan(entry.offset_bytes, *length), rows)
                .has_value());
    index.push_back({rows.page(0), out.size()});
    totals.row_count += rows.row_count();
    totals.link_count += rows.links().size();
    totals.last_page = rows.pages().back();
    for (const std::uint64_t link : rows.links()) {
      totals.target_max = std::max(totals.target_max, link);
    }
    encode_link_block({rows.pages(), rows.degrees(), rows.links()}, out);
  }
  encode_link_tail(index, totals, out.size(), out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size / 8 * 8));
  const Bytes payload(bytes.begin(), bytes.end());
  const auto content = links::check_link_run(container::payload_in_memory(payload),
                                             [](std::uint64_t) { return Result<void>{}; });
  if (content) {
    const auto footer = load_struct<LinkRunFooter>(payload.data() + payload.size() - 72);
    require(footer.codec != kLinkFamily || made_again(payload) == payload);
  } else {
    require(content.error().code == Errc::kSegmentInvalid);
    require(payload.empty() || content.error().offset < payload.size());
  }
  return 0;
}
