// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the readers or makes them read outside it, or allocate more than 255 times
//     its length;
//   - all pages of an accepted run keep their limits, and there are as many as the footer says;
//   - an accepted run is accepted again when its pages are encoded anew, and has the same pages.
//
// Input: the payload.

#include <span>
#include <string>
#include <vector>

#include "format/endian.h"
#include "format/origin_index.h"
#include "pages/page_content.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

Result<container::RunContentPtr> check(const Bytes& payload) {
  return pages::check_origin_run(container::payload_in_memory(payload),
                                 [](std::uint64_t) { return Result<void>{}; });
}

/// The blocks of an accepted run, one after another: decoded, encoded and decoded again.
void encode_again(const Bytes& payload, const OriginFooter& footer) {
  const std::span<const std::byte> bytes(payload);
  auto decoder =
      OriginBlockDecoder::make(codec_of(footer), bytes.first(footer.dictionary_bytes)).value();
  auto again = OriginBlockDecoder::make(OriginCodec::kZstd, {}).value();
  FrameCompressor compressor({}, 1);
  std::uint64_t offset = footer.dictionary_bytes;
  std::uint64_t page = 0;
  Bytes block;
  while (offset < footer.index_offset_bytes) {
    require(decoder.decode(bytes.subspan(offset), footer.first_page + page).has_value());
    OriginBatch batch(decoder.first_page());
    for (std::size_t i = 0; i < decoder.page_count(); ++i) {
      const Origin origin = decoder.origin(i);
      require(origin.url.size() <= kUrlBytesMax && batch.has_room(origin.url.size()));
      require(!origin.linked_from || *origin.linked_from < decoder.first_page() + i);
      batch.add(origin);
    }
    block.clear();
    batch.encode(&compressor, block);
    require(again.decode(block, decoder.first_page()).has_value());
    require(again.page_count() == decoder.page_count());
    for (std::size_t i = 0; i < again.page_count(); ++i) {
      const Origin a = decoder.origin(i);
      const Origin b = again.origin(i);
      require(a.url == b.url && a.linked_from == b.linked_from && a.depth == b.depth &&
              a.by_redirect == b.by_redirect);
    }
    offset += decoder.block_bytes();
    page += decoder.page_count();
  }
  require(page == footer.page_count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Bytes payload(bytes.begin(), bytes.end());
  const auto content = check(payload);
  if (!content) {
    require(content.error().code == Errc::kSegmentInvalid && content.error().offset <= size);
    return 0;
  }
  const auto footer = load_struct<OriginFooter>(payload.data() + size - sizeof(OriginFooter));
  const auto& origins = dynamic_cast<const pages::OriginContent&>(**content);
  require(origins.record_count == footer.page_count && origins.page_min == footer.first_page);
  encode_again(payload, footer);
  return 0;
}
