// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a decoder that has pages has checked all their numbers, in bytes of its own.
#include "origin_block.h"

#include <algorithm>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"

namespace crawlstore::format {

namespace {

constexpr std::size_t kDistanceBytesMax = 8;
constexpr std::size_t kDepthBytesMax = 4;
constexpr std::size_t kLengthBytesMax = 4;

std::uint64_t column_bytes(const OriginBlockHeader& header) {
  return std::uint64_t{header.page_count} *
         (std::uint64_t{header.linked_from_bytes} + header.depth_bytes);
}

template <class T>
std::size_t width_of(const std::vector<T>& numbers) {
  return numbers.empty() ? 0 : number_bytes(*std::max_element(numbers.begin(), numbers.end()));
}

template <class T>
void append_numbers(const std::vector<T>& numbers, std::size_t width, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  out.resize(begin + numbers.size() * width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    store_number(out.data() + begin + i * width, width, numbers[i]);
  }
}

template <class T>
void load_numbers(std::span<const std::byte> column, std::size_t width, std::vector<T>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<T>(load_number(column.data() + i * width, width));
  }
}

/// nullptr, or what is wrong with a header by itself.
const char* check_header(const OriginBlockHeader& header, OriginCodec codec) {
  if (header.page_count == 0 || header.page_count > kOriginBlockPagesMax) {
    return "the page count of a block of origins is out of range";
  }
  if (header.linked_from_bytes > kDistanceBytesMax || header.depth_bytes > kDepthBytesMax ||
      header.length_bytes > kLengthBytesMax ||
      !is_zero(std::as_bytes(std::span(header.reserved)))) {
    return "a number in the header of a block of origins is out of range";
  }
  const std::uint64_t raw_max =
      header.page_count > 1 ? kOriginBlockRawMax : std::uint64_t{kUrlBytesMax} + kLengthBytesMax;
  if (header.raw_bytes > raw_max ||
      header.raw_bytes < std::uint64_t{header.page_count} * header.length_bytes) {
    return "the URLs of a block of origins have a length that cannot be";
  }
  const bool is_stored = header.stored_bytes == header.raw_bytes;
  if (header.stored_bytes > header.raw_bytes || (!is_stored && codec != OriginCodec::kZstd) ||
      header.stored_bytes * kFrameExpansionMax < header.raw_bytes) {
    return "a block of origins has a stored length that cannot be";
  }
  return nullptr;
}

}  // namespace

std::size_t OriginBatch::length_bytes() const {
  return number_bytes(longest_);
}

bool OriginBatch::has_room(std::size_t url_bytes) const {
  if (lengths_.empty()) return true;
  if (lengths_.size() == kOriginBlockPagesMax) return false;
  const std::size_t width = number_bytes(std::max<std::uint64_t>(longest_, url_bytes));
  return (lengths_.size() + 1) * width + urls_.size() + url_bytes <= kOriginBlockRawMax;
}

void OriginBatch::add(const Origin& origin) {
  const std::uint64_t page = first_page_ + lengths_.size();
  CRAWLSTORE_ASSERT(origin.url.size() <= kUrlBytesMax && has_room(origin.url.size()));
  CRAWLSTORE_ASSERT(!origin.linked_from || *origin.linked_from < page);
  CRAWLSTORE_ASSERT(origin.depth <= kOriginDepthMax && (origin.linked_from || !origin.by_redirect));
  const auto length = static_cast<std::uint32_t>(origin.url.size());
  const auto bytes = std::as_bytes(std::span(origin.url));
  longest_ = std::max(longest_, length);
  lengths_.push_back(length);
  distances_.push_back(origin.linked_from ? page - *origin.linked_from : 0);
  depths_.push_back(2 * origin.depth + (origin.by_redirect ? 1 : 0));
  urls_.insert(urls_.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> OriginBatch::raw_section() const {
  std::vector<std::byte> raw;
  raw.reserve(lengths_.size() * length_bytes() + urls_.size());
  append_numbers(lengths_, length_bytes(), raw);
  raw.insert(raw.end(), urls_.begin(), urls_.end());
  return raw;
}

void OriginBatch::encode(FrameCompressor* compressor, std::vector<std::byte>& out) const {
  CRAWLSTORE_ASSERT(!lengths_.empty());
  const auto raw = raw_section();
  OriginBlockHeader header{};
  header.raw_bytes = static_cast<std::uint32_t>(raw.size());
  header.page_count = static_cast<std::uint16_t>(lengths_.size());
  header.linked_from_bytes = static_cast<std::uint8_t>(width_of(distances_));
  header.depth_bytes = static_cast<std::uint8_t>(width_of(depths_));
  header.length_bytes = static_cast<std::uint8_t>(length_bytes());
  const std::size_t begin = out.size();
  out.resize(begin + sizeof header);
  append_numbers(distances_, header.linked_from_bytes, out);
  append_numbers(depths_, header.depth_bytes, out);
  const std::size_t stored_begin = out.size();
  if (compressor == nullptr || !compressor->compress(raw, out)) {
    out.insert(out.end(), raw.begin(), raw.end());
  }
  header.stored_bytes = static_cast<std::uint32_t>(out.size() - stored_begin);
  store_struct(out.data() + begin, header);
}

std::uint64_t origin_block_bytes(const OriginBlockHeader& header) {
  return sizeof header + column_bytes(header) + header.stored_bytes;
}

Result<OriginBlockHeader> parse_origin_block_header(std::span<const std::byte> bytes,
                                                    OriginCodec codec) {
  if (bytes.size() < sizeof(OriginBlockHeader)) return invalid("a block of origins is cut short");
  const auto header = load_struct<OriginBlockHeader>(bytes.data());
  if (const char* broken = check_header(header, codec)) return invalid(broken);
  if (origin_block_bytes(header) > bytes.size()) return invalid("a block of origins is cut short");
  return header;
}

Result<OriginBlockDecoder> OriginBlockDecoder::make(OriginCodec codec,
                                                    std::span<const std::byte> dictionary) {
  auto decompressor = FrameDecompressor::make(dictionary);
  if (!decompressor) return tl::unexpected<Error>(decompressor.error());
  return OriginBlockDecoder(codec, std::move(*decompressor));
}

const char* OriginBlockDecoder::decode_columns() {
  const std::size_t count = header_.page_count;
  const std::span<const std::byte> columns = std::span(block_).subspan(sizeof header_);
  distances_.resize(count);
  depths_.resize(count);
  load_numbers(columns, header_.linked_from_bytes, distances_);
  load_numbers(columns.subspan(count * header_.linked_from_bytes), header_.depth_bytes, depths_);
  for (std::size_t i = 0; i < count; ++i) {
    if (distances_[i] > first_page_ + i) return "a page is linked from one that cannot be";
    if (distances_[i] == 0 && depths_[i] % 2 != 0) return "a redirect leads to a page from nowhere";
  }
  const bool is_shortest =
      width_of(distances_) == header_.linked_from_bytes && width_of(depths_) == header_.depth_bytes;
  return is_shortest ? nullptr : "a column of a block of origins is wider than it must be";
}

const char* OriginBlockDecoder::decode_urls() {
  const auto stored = std::span<const std::byte>(block_).last(header_.stored_bytes);
  if (header_.stored_bytes == header_.raw_bytes) {
    raw_.assign(stored.begin(), stored.end());
    return cut_urls();
  }
  raw_.resize(header_.raw_bytes);
  const char* broken = decompressor_.decompress(stored, raw_);
  return broken != nullptr ? broken : cut_urls();
}

const char* OriginBlockDecoder::cut_urls() {
  const std::size_t count = header_.page_count;
  url_begins_.resize(count + 1);
  std::uint64_t longest = 0;
  std::uint64_t begin = count * header_.length_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    url_begins_[i] = begin;
    const std::uint64_t length =
        load_number(raw_.data() + i * header_.length_bytes, header_.length_bytes);
    longest = std::max(longest, length);
    begin += length;
  }
  url_begins_[count] = begin;
  if (begin != raw_.size()) return "the lengths of URLs do not add up";
  if (longest > kUrlBytesMax) return "a URL is too long";
  if (number_bytes(longest) != header_.length_bytes) {
    return "the lengths of URLs are wider than they must be";
  }
  return nullptr;
}

Result<void> OriginBlockDecoder::decode(std::span<const std::byte> bytes,
                                        std::uint64_t first_page) {
  header_ = {};
  const auto header = parse_origin_block_header(bytes, codec_);
  if (!header) return tl::unexpected<Error>(header.error());
  const auto block = bytes.first(origin_block_bytes(*header));
  block_.assign(block.begin(), block.end());
  header_ = *header;
  first_page_ = first_page;
  const char* broken = decode_columns();
  if (broken == nullptr) broken = decode_urls();
  if (broken == nullptr) return {};
  header_ = {};
  return invalid(broken);
}

Origin OriginBlockDecoder::origin(std::size_t i) const {
  CRAWLSTORE_ASSERT(i < header_.page_count);
  const auto url = std::span(raw_).subspan(url_begins_[i], url_begins_[i + 1] - url_begins_[i]);
  Origin origin;
  origin.url = {static_cast<const char*>(static_cast<const void*>(url.data())), url.size()};
  if (distances_[i] != 0) origin.linked_from = first_page_ + i - distances_[i];
  origin.depth = depths_[i] / 2;
  origin.by_redirect = depths_[i] % 2 != 0;
  return origin;
}

}  // namespace crawlstore::format
