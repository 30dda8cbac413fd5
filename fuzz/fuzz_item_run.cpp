// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parsers of an item run or makes them read outside of it;
//   - an error is kSegmentInvalid, with a place in the payload;
//   - items that are read alone are those of their block; what an accepted payload holds, encoded
//   anew, gives the same bytes, or, where bodies are
//     compressed, the same content.
//
// Input: a payload.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/item_run.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

Bytes piece_of(const Bytes& payload, std::uint64_t begin, std::uint64_t end) {
  return {payload.begin() + static_cast<std::ptrdiff_t>(begin),
          payload.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Encodes a decoded block anew behind others; bytes that were compressed stay as they are.
ItemBlockPlace encode_again(const ItemBlockFrame& frame, const Bytes& bytes, const ItemBlock& block,
                            Bytes& out) {
  std::vector<std::span<const std::byte>> bodies;
  for (std::size_t i = 0; i < block.items.size(); ++i) bodies.push_back(block.body(i));
  const auto codec = static_cast<AuxCodec>(block.header.codec);
  Bytes again;
  const auto encoded = encode_item_block(block.items, bodies, codec, again);
  require(encoded.body_bytes == block.header.body_bytes);
  if (codec == AuxCodec::kRaw) {
    out.insert(out.end(), again.begin(), again.end());
    return encoded.place;
  }
  ItemBlock found;
  require(decode_item_block(frame, again, found).has_value());
  require(found.bodies == block.bodies && found.body_ends == block.body_ends);
  out.insert(out.end(), bytes.begin(), bytes.end());
  return {static_cast<std::uint32_t>(bytes.size()), encoded.place.item_count};
}

/// Checks a payload, and gives it as it is made again from what it holds.
Result<Bytes> made_again(const Bytes& payload) {
  const std::size_t footer_at = payload.size() - std::min(payload.size(), sizeof(ItemRunFooter));
  CRAWLSTORE_TRY(const auto footer,
                 parse_item_footer(piece_of(payload, footer_at, payload.size()), payload.size()));
  const ItemRunPlaces at = item_run_places(footer);
  CRAWLSTORE_TRY(const auto index,
                 parse_item_index(piece_of(payload, at.index, at.footer), footer));
  CRAWLSTORE_TRY(const auto directory,
                 parse_item_directory(piece_of(payload, at.directory, at.padding), footer));
  CRAWLSTORE_TRY(check_item_padding(footer, piece_of(payload, at.padding, at.index)));
  Bytes again;
  std::vector<ItemBlockPlace> places;
  ItemBlock block;
  std::optional<Item> before;
  std::uint64_t body_bytes = 0;
  for (std::size_t i = 0; i < index.block_count(); ++i) {
    const Bytes bytes = piece_of(payload, index.offsets[i], index.offsets[i + 1]);
    CRAWLSTORE_TRY(read_item_block(index, directory, i, bytes, block));
    CRAWLSTORE_TRY(check_item_block(index.frame(i), bytes, block, before));
    for (std::uint32_t k = 0; k < block.items.size(); ++k) {
      require(read_item(index.frame(i), bytes, k)->id == block.items[k].id);
    }
    require(std::ranges::equal(*read_item_body(index.frame(i), bytes, 0), block.body(0)));
    require(std::all_of(block.items.begin(), block.items.end(), is_item));
    before = block.items.back();
    body_bytes += block.header.body_bytes;
    places.push_back(encode_again(index.frame(i), bytes, block, again));
  }
  CRAWLSTORE_TRY(check_item_body_bytes(footer, body_bytes));
  encode_item_tail(places, directory, body_bytes, again);
  return again;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Bytes payload(bytes.begin(), bytes.end());
  const auto again = made_again(payload);
  if (again) {
    require(*again == payload);
  } else {
    require(again.error().code == Errc::kSegmentInvalid);
    require(payload.empty() || again.error().offset < payload.size());
  }
  return 0;
}
