// SPDX-License-Identifier: Apache-2.0
#include "shards/outbox.h"

#include <crawlstore/url.h>

namespace crawlstore::shards {
namespace {

/// Bytes of URLs with which a block is written.
constexpr std::size_t kBlockBytes = 256 * 1024;

/// Whether a block goes on where another one ended.
bool follows(const format::OutboxHeader& next, const format::OutboxHeader& before) {
  return next.step == before.step && next.crawl_key == before.crawl_key &&
         next.shard_count == before.shard_count && next.from == before.from &&
         next.to == before.to && next.number == before.number + 1;
}

}  // namespace

std::uint64_t crawl_key(std::uint64_t key_seed, std::string_view database,
                        std::string_view normalizer) {
  std::string text(database);
  text += '\0';
  text += normalizer;
  return url_key(text, key_seed);
}

Result<void> MessageWriter::add(std::string_view url) {
  if (text_.size() >= kBlockBytes || ends_.size() == format::kOutboxUrlsMax)
    CRAWLSTORE_TRY(write(false));
  text_ += url;
  ends_.push_back(text_.size());
  ++report_->url_count;
  return {};
}

Result<void> MessageWriter::write(bool is_last) {
  std::vector<std::string_view> urls;
  urls.reserve(ends_.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    urls.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  header_.is_last = is_last;
  std::vector<std::byte> bytes;
  format::append_outbox_block(header_, urls, *compressor_, bytes);
  ++header_.number;
  text_.clear();
  ends_.clear();
  report_->byte_count += bytes.size();
  return (*sink_)(header_.to, bytes);
}

Result<std::size_t> MessageReader::fill(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    CRAWLSTORE_TRY(const std::size_t got, source_(into.subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

Result<std::optional<MessageReader::Block>> MessageReader::next() {
  const auto cut = [this] {
    return fail(Errc::kTruncated, "a message of a shard ends before its last block", offset_);
  };
  const auto at_offset = [this](const Error& error) {
    return fail(error.code, error.text, offset_ + error.offset);
  };
  header_bytes_.resize(sizeof(format::OutboxBlockHeader));
  CRAWLSTORE_TRY(const std::size_t got, fill(header_bytes_));
  if (got == 0 && !open_) return std::nullopt;
  if (got < header_bytes_.size()) return cut();
  Block block;
  const auto header = format::parse_outbox_header(header_bytes_);
  if (!header) return at_offset(header.error());
  block.header = *header;
  payload_.resize(block.header.payload_bytes);
  CRAWLSTORE_TRY(const std::size_t length, fill(payload_));
  if (length < payload_.size()) return cut();
  auto urls = format::parse_outbox_urls(header_bytes_, payload_, raw_);
  if (!urls) return at_offset(urls.error());
  block.urls = std::move(*urls);
  if (open_ ? !follows(block.header, *open_) : block.header.number != 0) {
    return fail(Errc::kSegmentInvalid, "a block of a shard's message is missing, or out of order",
                offset_);
  }
  open_ = block.header.is_last ? std::nullopt : std::optional(block.header);
  offset_ += header_bytes_.size() + payload_.size();
  return block;
}

}  // namespace crawlstore::shards
