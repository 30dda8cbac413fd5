// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no bytes crash the decoders or make them read outside of what they were given;
//   - rows of an accepted block ascend, and so do their links, all at most kPageMax;
//   - encoding them again gives a block that is no longer and has the same rows;
//   - all rows come back.
//
// Input: one byte (modulo 2), then
//   0  a link block
//   1  rows: 1 byte of degree and 1 of shift, then differences of 1 byte for page and links

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/link_block.h"
#include "require.h"

namespace {

using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

void check_rows(const LinkRows& rows) {
  for (std::size_t row = 0; row < rows.row_count(); ++row) {
    require(rows.page(row) <= kPageMax && (row == 0 || rows.page(row) > rows.page(row - 1)));
    const auto links = rows.links(row);
    for (std::size_t i = 0; i < links.size(); ++i) {
      require(links[i] <= kPageMax && (i == 0 || links[i] > links[i - 1]));
    }
  }
}

/// The rows come back from their block.
Bytes check_round_trip(const LinkRowSpans& spans) {
  Bytes block;
  encode_link_block(spans, block);
  LinkRows rows;
  require(decode_link_block(block, rows).has_value());
  check_rows(rows);
  require(std::ranges::equal(rows.pages(), spans.pages));
  require(std::ranges::equal(rows.degrees(), spans.degrees));
  require(std::ranges::equal(rows.links(), spans.links));
  return block;
}

void check_block(const Bytes& block) {
  LinkRows rows;
  if (!decode_link_block(block, rows)) return;
  check_rows(rows);
  const Bytes again = check_round_trip({rows.pages(), rows.degrees(), rows.links()});
  require(again.size() <= block.size());
}

void check_made_rows(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> pages;
  std::vector<std::uint32_t> degrees;
  std::vector<std::uint64_t> links;
  std::uint64_t page = 0;
  while (bytes.size() >= 3) {
    const auto number = [&](std::size_t i) { return std::to_integer<std::uint64_t>(bytes[i]); };
    const std::uint64_t degree = std::min<std::uint64_t>(number(0), bytes.size() - 3);
    const unsigned shift = static_cast<unsigned>(number(1)) % 33;
    page += number(2) + (pages.empty() ? 0 : 1);
    std::uint64_t link = 0;
    std::uint32_t kept = 0;
    for (std::uint64_t i = 0; i < degree; ++i) {
      link += (number(3 + i) << shift) + (i == 0 ? 0 : 1);
      if (link > kPageMax) break;
      links.push_back(link);
      ++kept;
    }
    pages.push_back(page);
    degrees.push_back(kept);
    bytes = bytes.subspan(3 + degree);
  }
  if (!pages.empty()) check_round_trip({pages, degrees, links});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] % 2 == 0) check_block({bytes.begin(), bytes.end()});
  if (data[0] % 2 == 1) check_made_rows(bytes);
  return 0;
}
