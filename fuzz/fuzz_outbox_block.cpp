// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no block crashes the parser or makes it read outside of the block;
//   - nothing is taken from a block with a wrong checksum; other errors are kSegmentInvalid, with a
//     place in the block;
//   - an accepted block becomes 255 times as long at most, and its URLs lie in it, one behind the
//     other;
//   - its header and URLs, encoded anew, are accepted and the same.
//
// Input: a header and a payload. They are read as they are, then with the right checksum, then with
// the right length of the payload, too.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/checksum.h"
#include "format/endian.h"
#include "format/leb128.h"
#include "format/outbox_block.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;
constexpr std::size_t kHeaderBytes = sizeof(OutboxBlockHeader);
constexpr std::size_t kCoveredBytes = offsetof(OutboxBlockHeader, checksum);

std::uint64_t right_checksum(const Bytes& block) {
  Bytes covered(block.begin(), block.begin() + kCoveredBytes);
  covered.insert(covered.end(), block.begin() + kHeaderBytes, block.end());
  return checksum(covered, 0);
}

void check_urls(const std::vector<std::string_view>& urls, const Bytes& raw) {
  Bytes again;
  for (const std::string_view url : urls) {
    require(!url.empty());
    append_leb128(url.size(), again);
    const void* const place = raw.data() + again.size();
    require(url.data() == place);
    const auto bytes = std::as_bytes(std::span(url));
    again.insert(again.end(), bytes.begin(), bytes.end());
  }
  require(again == raw);
}

void encode_again(OutboxHeader header, const std::vector<std::string_view>& urls) {
  FrameCompressor compressor({}, 1);
  Bytes block;
  append_outbox_block(header, urls, compressor, block);
  const std::span<const std::byte> bytes(block);
  const auto again = parse_outbox_header(bytes.first(kHeaderBytes));
  header.payload_bytes = static_cast<std::uint32_t>(block.size() - kHeaderBytes);
  require(again && *again == header);
  Bytes raw;
  require(parse_outbox_urls(bytes.first(kHeaderBytes), bytes.subspan(kHeaderBytes), raw) == urls);
}

void check_block(const Bytes& block) {
  const std::span<const std::byte> bytes(block);
  const auto head = bytes.first(std::min(bytes.size(), kHeaderBytes));
  const auto payload = bytes.subspan(head.size());
  const auto header = parse_outbox_header(head);
  Bytes raw;
  const auto urls = parse_outbox_urls(head, payload, raw);
  require(urls || block.empty() || urls.error().offset < block.size());
  const bool is_whole = block.size() >= kHeaderBytes &&
                        right_checksum(block) == load<std::uint64_t>(block.data() + kCoveredBytes);
  const bool is_damaged = block.size() >= kHeaderBytes && !is_whole;
  require((!urls && urls.error().code == Errc::kChunkDamaged) == is_damaged);
  require(urls || is_damaged || urls.error().code == Errc::kSegmentInvalid);
  require(!is_damaged || raw.empty());
  require(raw.size() <= kFrameExpansionMax * payload.size());
  if (!urls) return;
  require(header && header->url_count == urls->size() && header->raw_bytes == raw.size());
  check_urls(*urls, raw);
  encode_again(*header, *urls);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  Bytes block(bytes.begin(), bytes.end());
  check_block(block);
  if (block.size() < kHeaderBytes) return 0;
  store(block.data() + kCoveredBytes, right_checksum(block));
  check_block(block);
  store(block.data() + offsetof(OutboxBlockHeader, payload_bytes),
        static_cast<std::uint32_t>(block.size() - kHeaderBytes));
  store(block.data() + kCoveredBytes, right_checksum(block));
  check_block(block);
  return 0;
}
