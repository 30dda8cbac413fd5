// SPDX-License-Identifier: Apache-2.0
#include "zstd_frame.h"

#include <new>
#include <optional>

#include <zdict.h>
#include <zstd.h>

#include "base/assert.h"
#include "endian.h"

namespace crawlstore::format {

namespace {

constexpr std::uint32_t kFrameMagic = 0xFD2FB528;
constexpr std::size_t kDescriptorOffset = 4;

/// The contents of the header of a frame: RFC 8878, 3.1.1.1.
struct FrameHeader {
  std::uint64_t content_bytes = 0;
  std::uint64_t window_bytes = 0;
};

/// Nothing when it is cut short, or of a frame that is not allowed here.
std::optional<FrameHeader> parse_frame_header(std::span<const std::byte> frame) {
  if (frame.size() <= kDescriptorOffset || load<std::uint32_t>(frame.data()) != kFrameMagic) {
    return std::nullopt;
  }
  const auto descriptor = std::to_integer<unsigned>(frame[kDescriptorOffset]);
  const unsigned size_flag = descriptor >> 6;
  const bool is_single_segment = (descriptor & 0x20) != 0;
  // Reserved bit, checksum, id of a dictionary; a content size that is not stated.
  if ((descriptor & 0x0F) != 0 || (size_flag == 0 && !is_single_segment)) return std::nullopt;
  const std::size_t size_bytes = std::size_t{1} << size_flag;  // 1, 2, 4 or 8
  const std::size_t size_offset = kDescriptorOffset + (is_single_segment ? 1 : 2);
  if (frame.size() < size_offset + size_bytes) return std::nullopt;
  FrameHeader header;
  header.content_bytes =
      load_number(frame.data() + size_offset, size_bytes) + (size_flag == 1 ? 256 : 0);
  header.window_bytes = header.content_bytes;
  if (!is_single_segment) {
    const auto window = std::to_integer<unsigned>(frame[kDescriptorOffset + 1]);
    const std::uint64_t base = std::uint64_t{1} << (10 + (window >> 3));
    header.window_bytes = base + base / 8 * (window & 7);
  }
  return header;
}

void set_parameter(ZSTD_CCtx* context, ZSTD_cParameter parameter, int value) {
  const std::size_t result = ZSTD_CCtx_setParameter(context, parameter, value);
  CRAWLSTORE_ASSERT(ZSTD_isError(result) == 0);
}

}  // namespace

void FrameCompressor::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}
void FrameDecompressor::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

FrameCompressor::FrameCompressor(std::span<const std::byte> dictionary, int level)
    : context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  set_parameter(context_.get(), ZSTD_c_compressionLevel, level);
  set_parameter(context_.get(), ZSTD_c_contentSizeFlag, 1);
  set_parameter(context_.get(), ZSTD_c_checksumFlag, 0);
  set_parameter(context_.get(), ZSTD_c_dictIDFlag, 0);
  if (dictionary.empty()) return;
  if (ZSTD_isError(
          ZSTD_CCtx_loadDictionary(context_.get(), dictionary.data(), dictionary.size())) != 0) {
    throw std::bad_alloc();
  }
}

bool FrameCompressor::compress(std::span<const std::byte> raw, std::vector<std::byte>& out) {
  if (raw.empty()) return false;
  const std::size_t begin = out.size();
  out.resize(begin + raw.size() - 1);  // not shorter than this: an error, and no frame
  const std::size_t length =
      ZSTD_compress2(context_.get(), out.data() + begin, raw.size() - 1, raw.data(), raw.size());
  const bool is_frame = ZSTD_isError(length) == 0 && length * kFrameExpansionMax >= raw.size();
  out.resize(begin + (is_frame ? length : 0));
  return is_frame;
}

Result<FrameDecompressor> FrameDecompressor::make(std::span<const std::byte> dictionary) {
  FrameDecompressor made(ZSTD_createDCtx());
  if (made.context_ == nullptr) throw std::bad_alloc();
  if (!dictionary.empty() && ZSTD_isError(ZSTD_DCtx_loadDictionary(
                                 made.context_.get(), dictionary.data(), dictionary.size())) != 0) {
    return fail(Errc::kSegmentInvalid, "a dictionary is broken", 0);
  }
  return made;
}

const char* FrameDecompressor::decompress(std::span<const std::byte> frame,
                                          std::span<std::byte> raw) {
  const auto header = parse_frame_header(frame);
  if (!header || header->window_bytes > kFrameWindowBytesMax) {
    return "the header of a zstd frame is not one that is allowed";
  }
  if (header->content_bytes != raw.size() || frame.size() * kFrameExpansionMax < raw.size()) {
    return "a zstd frame states another content size than what it is in";
  }
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return "a zstd frame does not end where it should";
  }
  const std::size_t length =
      ZSTD_decompressDCtx(context_.get(), raw.data(), raw.size(), frame.data(), frame.size());
  return length == raw.size() ? nullptr : "a zstd frame is broken";
}

std::vector<std::byte> train_dictionary(std::span<const std::byte> samples,
                                        std::span<const std::size_t> lengths,
                                        std::size_t dictionary_bytes_max) {
  std::vector<std::byte> dictionary(dictionary_bytes_max);
  const std::size_t length =
      ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), samples.data(), lengths.data(),
                            static_cast<unsigned>(lengths.size()));
  dictionary.resize(ZDICT_isError(length) != 0 ? 0 : length);
  return dictionary;
}

}  // namespace crawlstore::format
