// SPDX-License-Identifier: Apache-2.0
//
// Invariant: is_between_ is whether the last byte taken was the last one of a member or frame.
#include "cli/unpacker.h"

#include <algorithm>
#include <new>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace crawlstore::cli {
namespace {

/// Bytes of a step at most: zlib counts in 32 bits, and a signal is looked for between steps.
constexpr std::size_t kStepBytesMax = std::size_t{1} << 20;

class Gunzip final : public Unpacker {
 public:
  Gunzip() {
    constexpr int kGzipOnly = 16;
    if (::inflateInit2_(&stream_, kGzipOnly + MAX_WBITS, ZLIB_VERSION,
                        static_cast<int>(sizeof stream_)) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Gunzip() override { ::inflateEnd(&stream_); }

  Result<Step> step(std::span<char> packed, std::span<char> plain) override {
    const std::size_t padding = is_between_ ? count_zeros(packed) : 0;
    if (padding == packed.size() && is_between_) return Step{padding, 0};
    if (is_between_) ::inflateReset(&stream_);
    is_between_ = false;
    packed = packed.subspan(padding, std::min(packed.size() - padding, kStepBytesMax));
    plain = plain.first(std::min(plain.size(), kStepBytesMax));
    stream_.next_in = bytes_of(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    stream_.next_out = bytes_of(plain.data());
    stream_.avail_out = static_cast<uInt>(plain.size());
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return fail(Errc::kSegmentInvalid,
                  "its gzip data are damaged, or something else comes after them");
    }
    is_between_ = result == Z_STREAM_END;
    return Step{padding + packed.size() - stream_.avail_in, plain.size() - stream_.avail_out};
  }
  [[nodiscard]] bool may_end() const override { return is_between_; }
  [[nodiscard]] const char* cut_off_text() const override {
    return "it is cut off: its gzip data end too early";
  }

 private:
  /// Tapes and some servers fill up with them after the last member.
  static std::size_t count_zeros(std::span<char> packed) {
    const auto end = std::ranges::find_if(packed, [](char c) { return c != '\0'; });
    return static_cast<std::size_t>(end - packed.begin());
  }
  static Bytef* bytes_of(char* text) { return static_cast<Bytef*>(static_cast<void*>(text)); }

  z_stream stream_ = {};
  bool is_between_ = false;
};

class Unzstd final : public Unpacker {
 public:
  Unzstd() : stream_(::ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~Unzstd() override { ::ZSTD_freeDStream(stream_); }

  Result<Step> step(std::span<char> packed, std::span<char> plain) override {
    if (packed.empty() && is_between_) return Step{};
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{plain.data(), std::min(plain.size(), kStepBytesMax), 0};
    const std::size_t result = ::ZSTD_decompressStream(stream_, &out, &in);
    if (::ZSTD_isError(result) != 0) return failure_of(::ZSTD_getErrorCode(result));
    is_between_ = result == 0;
    return Step{in.pos, out.pos};
  }
  [[nodiscard]] bool may_end() const override { return is_between_; }
  [[nodiscard]] const char* cut_off_text() const override {
    return "it is cut off: its zstd data end too early";
  }

 private:
  static tl::unexpected<Error> failure_of(ZSTD_ErrorCode code) {
    switch (code) {
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_frameParameter_windowTooLarge:
        return fail(Errc::kTooLarge,
                    "its zstd window is over 128 MiB; give what `zstd -dc --long=31` makes of it");
      case ZSTD_error_dictionary_wrong:
        return fail(Errc::kSegmentInvalid, "its zstd data need a dictionary, and none is read");
      default:
        return fail(Errc::kSegmentInvalid,
                    "its zstd data are damaged, or something else comes after them");
    }
  }

  ZSTD_DStream* stream_;
  bool is_between_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> make_unpacker(InputKind kind) {
  if (kind == InputKind::kGzip) return std::make_unique<Gunzip>();
  return std::make_unique<Unzstd>();
}

}  // namespace crawlstore::cli
