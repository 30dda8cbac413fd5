// SPDX-License-Identifier: Apache-2.0
#include "outbox_block.h"

#include <algorithm>
#include <memory>
#include <new>

#include <xxhash.h>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "leb128.h"
#include "origin_block.h"

namespace crawlstore::format {

namespace {

/// Bytes of the shortest URL with its length.
constexpr std::uint32_t kOutboxUrlBytesMin = 2;

struct FreeHashState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

/// Returns the checksum that a block should have.
std::uint64_t outbox_checksum(const OutboxBlockHeader& header, std::span<const std::byte> payload) {
  const std::unique_ptr<XXH3_state_t, FreeHashState> state(XXH3_createState());
  if (state == nullptr || XXH3_64bits_reset(state.get()) != XXH_OK) throw std::bad_alloc();
  XXH3_64bits_update(state.get(), &header, offsetof(OutboxBlockHeader, checksum));
  // A null pointer would be an error of its own.
  if (!payload.empty()) XXH3_64bits_update(state.get(), payload.data(), payload.size());
  return XXH3_64bits_digest(state.get());
}

/// Returns nullptr, or the text that names the broken rule.
const char* check_outbox_header(const OutboxBlockHeader& header) {
  if (header.magic != kOutboxMagic) return "the magic number of an outbox block is wrong";
  if ((header.flags & ~kOutboxIsLast) != 0) return "unknown flags of an outbox block are set";
  if (header.step == 0) return "the step of an outbox block is 0";
  if (header.shard_count < 2 || header.shard_count > kOutboxShardsMax) {
    return "the shard count of an outbox block is out of range";
  }
  if (header.from >= header.shard_count || header.to >= header.shard_count ||
      header.from == header.to) {
    return "an outbox block is not of one shard for another";
  }
  if (header.url_count > kOutboxUrlsMax ||
      (header.url_count == 0 && (header.flags & kOutboxIsLast) == 0)) {
    return "the URL count of an outbox block is out of range";
  }
  if (header.raw_bytes > kOutboxRawBytesMax ||
      header.raw_bytes < header.url_count * kOutboxUrlBytesMin ||
      (header.url_count == 0 && header.raw_bytes != 0)) {
    return "the URLs of an outbox block have a length that cannot be";
  }
  if (header.payload_bytes > header.raw_bytes ||
      header.payload_bytes * kFrameExpansionMax < header.raw_bytes) {
    return "the payload of an outbox block has a length that cannot be";
  }
  return nullptr;
}

/// Fills `raw` from a payload whose header is right.
Result<void> unpack(const OutboxBlockHeader& header, std::span<const std::byte> payload,
                    std::vector<std::byte>& raw) {
  if (header.payload_bytes == header.raw_bytes) {
    raw.assign(payload.begin(), payload.end());
    return {};
  }
  auto decompressor = FrameDecompressor::make({});
  if (!decompressor) return tl::unexpected<Error>(decompressor.error());
  raw.resize(header.raw_bytes);
  if (const char* broken = decompressor->decompress(payload, raw)) return invalid(broken);
  return {};
}

/// Returns `url_count` views into `raw`.
///   errors  kSegmentInvalid (offset relative to `raw`, or its end)
Result<std::vector<std::string_view>> split_urls(std::span<const std::byte> raw,
                                                 std::uint32_t url_count) {
  std::vector<std::string_view> urls;
  urls.reserve(url_count);
  auto rest = raw;
  for (std::uint32_t i = 0; i < url_count; ++i) {
    const std::size_t place = raw.size() - rest.size();
    const auto length = take_leb128(rest);
    if (!length) return invalid("the length of a URL of an outbox block is broken", place);
    if (*length == 0 || *length > kUrlBytesMax) {
      return invalid("a URL of an outbox block is empty or too long", place);
    }
    if (*length > rest.size()) return invalid("a URL of an outbox block is cut short", place);
    const auto url = numbers<char>(rest.first(*length));
    urls.emplace_back(url.data(), url.size());
    rest = rest.subspan(url.size());
  }
  if (!rest.empty()) {
    return invalid("an outbox block has more bytes than its URLs", raw.size() - rest.size());
  }
  return urls;
}

}  // namespace

std::size_t outbox_url_bytes(std::size_t url_bytes) {
  std::size_t length = 1;
  for (std::size_t rest = url_bytes >> 7U; rest != 0; rest >>= 7U) ++length;
  return length + url_bytes;
}

void append_outbox_block(const OutboxHeader& of, std::span<const std::string_view> urls,
                         FrameCompressor& compressor, std::vector<std::byte>& out) {
  std::size_t raw_bytes = 0;
  for (const std::string_view url : urls) {
    CRAWLSTORE_ASSERT(!url.empty() && url.size() <= kUrlBytesMax);
    raw_bytes += outbox_url_bytes(url.size());
  }
  CRAWLSTORE_ASSERT(urls.size() <= kOutboxUrlsMax && raw_bytes <= kOutboxRawBytesMax);
  std::vector<std::byte> raw;
  raw.reserve(raw_bytes);
  for (const std::string_view url : urls) {
    append_leb128(url.size(), raw);
    const auto bytes = std::as_bytes(std::span(url));
    raw.insert(raw.end(), bytes.begin(), bytes.end());
  }
  const std::size_t begin = out.size();
  out.resize(begin + sizeof(OutboxBlockHeader));
  if (!compressor.compress(raw, out)) out.insert(out.end(), raw.begin(), raw.end());
  const auto payload = std::span(out).subspan(begin + sizeof(OutboxBlockHeader));
  OutboxBlockHeader header{.magic = kOutboxMagic,
                           .step = of.step,
                           .crawl_key = of.crawl_key,
                           .shard_count = of.shard_count,
                           .from = of.from,
                           .to = of.to,
                           .number = of.number,
                           .url_count = static_cast<std::uint32_t>(urls.size()),
                           .raw_bytes = static_cast<std::uint32_t>(raw.size()),
                           .payload_bytes = static_cast<std::uint32_t>(payload.size()),
                           .flags = of.is_last ? kOutboxIsLast : 0,
                           .checksum = 0};
  CRAWLSTORE_ASSERT(check_outbox_header(header) == nullptr);
  header.checksum = outbox_checksum(header, payload);
  store_struct(out.data() + begin, header);
}

Result<OutboxHeader> parse_outbox_header(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(OutboxBlockHeader)) {
    return invalid("the header of an outbox block is cut short");
  }
  const auto header = load_struct<OutboxBlockHeader>(bytes.data());
  if (const char* broken = check_outbox_header(header)) return invalid(broken);
  return OutboxHeader{.step = header.step,
                      .crawl_key = header.crawl_key,
                      .shard_count = header.shard_count,
                      .from = header.from,
                      .to = header.to,
                      .number = header.number,
                      .url_count = header.url_count,
                      .raw_bytes = header.raw_bytes,
                      .payload_bytes = header.payload_bytes,
                      .is_last = (header.flags & kOutboxIsLast) != 0};
}

Result<std::vector<std::string_view>> parse_outbox_urls(std::span<const std::byte> header,
                                                        std::span<const std::byte> payload,
                                                        std::vector<std::byte>& raw) {
  if (header.size() != sizeof(OutboxBlockHeader)) {
    return invalid("the header of an outbox block is cut short");
  }
  const auto fields = load_struct<OutboxBlockHeader>(header.data());
  if (fields.checksum != outbox_checksum(fields, payload)) {
    return fail(Errc::kChunkDamaged, "the checksum of an outbox block is wrong", 0);
  }
  if (const char* broken = check_outbox_header(fields)) return invalid(broken);
  if (payload.size() != fields.payload_bytes) {
    return invalid("the payload of an outbox block has another length than its header says",
                   offsetof(OutboxBlockHeader, payload_bytes));
  }
  auto urls =
      unpack(fields, payload, raw).and_then([&] { return split_urls(raw, fields.url_count); });
  if (urls) return urls;
  // The offset becomes one in the block: in a frame, only where the payload begins.
  Error error = urls.error();
  const bool is_frame = fields.payload_bytes != fields.raw_bytes;
  const std::uint64_t place = is_frame ? 0 : std::min<std::uint64_t>(error.offset, raw.size() - 1);
  error.offset = sizeof(OutboxBlockHeader) + place;
  return tl::unexpected<Error>(error);
}

}  // namespace crawlstore::format
