// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The prefix codes of a dense link run: spec/links.md#dense-link-runs. Each number of a block has
/// a context, and each context a code of its own. Pure functions over bytes; any thread.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "endian.h"

namespace crawlstore::format {

inline constexpr std::size_t kDenseContexts = 41;
inline constexpr std::size_t kDenseTokens = 96;
inline constexpr std::size_t kDenseModelBytes = kDenseContexts * kDenseTokens / 2;
/// Numbers are below this one.
inline constexpr std::uint64_t kDenseNumberEnd = std::uint64_t{1} << 44;

/// The form of a number: a token, and bits that follow its code as they are.
struct DenseToken {
  std::uint8_t token;
  std::uint8_t raw_bits;

  /// `number` is below kDenseNumberEnd.
  static constexpr DenseToken of(std::uint64_t number) {
    if (number < 16) return {static_cast<std::uint8_t>(number), 0};
    const auto raw_bits = static_cast<unsigned>(std::bit_width(number)) - 2;
    const std::uint64_t top = number >> raw_bits;  // 2 or 3
    return {static_cast<std::uint8_t>(8 + 2 * raw_bits + top), static_cast<std::uint8_t>(raw_bits)};
  }
};

/// Bits that follow the code of a token.
constexpr std::size_t dense_raw_bits(std::size_t token) {
  return token < 16 ? 0 : (token - 16) / 2 + 3;
}

/// The number of times that each token occurs in each context.
using DenseCounts = std::array<std::array<std::uint64_t, kDenseTokens>, kDenseContexts>;
/// The length of each token's code, at most 15 bits; 0: there is none.
using DenseLengths = std::array<std::array<std::uint8_t, kDenseTokens>, kDenseContexts>;

/// Codes for all tokens that were counted. In each context none was, or at least two.
DenseLengths dense_code_lengths(const DenseCounts& counts);

/// Appends kDenseModelBytes.
void encode_dense_model(const DenseLengths& lengths, std::vector<std::byte>& out);

/// errors kSegmentInvalid: the lengths of a context are not those of a complete prefix code (offset
/// relative to the model)
Result<DenseLengths> parse_dense_model(std::span<const std::byte, kDenseModelBytes> bytes);

/// The codes of a model, for writing.
class DenseCodes {
 public:
  explicit DenseCodes(const DenseLengths& lengths);

  struct Code {
    std::uint16_t bits;  // the first one lowest
    std::uint8_t length;
  };
  [[nodiscard]] Code code(std::size_t context, std::uint8_t token) const {
    return codes_[context][token];
  }
  /// Bits of a number with all that belongs to it.
  [[nodiscard]] std::uint32_t cost(std::size_t context, std::uint64_t number) const {
    const DenseToken token = DenseToken::of(number);
    return codes_[context][token.token].length + std::uint32_t{token.raw_bits};
  }

 private:
  std::array<std::array<Code, kDenseTokens>, kDenseContexts> codes_{};
};

/// Bits that are read from hostile bytes, by way of a word in a register. Behind `bit_count` bits,
/// 8 more bytes must be readable. A caller that reads beyond the end gets zeros or the bytes that
/// lie there, and has failed().
class DenseInput {
 public:
  /// A number takes at most as many bits: 15 of its code and 42 raw ones.
  static constexpr unsigned kWordBits = 57;
  static_assert(15 + dense_raw_bits(kDenseTokens - 1) <= kWordBits);

  DenseInput(const std::byte* data, std::uint64_t bit_count) : data_(data), end_(bit_count) {}
  /// The next bits, the first one lowest; of these, word_bits() are certain.
  [[nodiscard]] std::uint64_t word() const { return word_; }
  [[nodiscard]] unsigned word_bits() const { return word_bits_; }
  /// Makes kWordBits certain.
  void load_word() {
    std::uint64_t begin = position();
    if (begin > end_) {
      begin = end_;
      has_failed_ = true;
    }
    word_ = load<std::uint64_t>(data_ + (begin >> 3)) >> (begin & 7);
    word_bits_ = kWordBits;
    word_end_ = begin + kWordBits;
  }
  /// Goes on behind the first `bits` of the word.
  void skip(unsigned bits) {
    word_ >>= bits;
    word_bits_ -= bits;
  }
  void fail() { has_failed_ = true; }
  [[nodiscard]] bool has_failed() const { return has_failed_ || position() > end_; }
  [[nodiscard]] std::uint64_t position() const { return word_end_ - word_bits_; }
  /// Unless it has failed.
  [[nodiscard]] std::uint64_t bits_left() const { return end_ - position(); }

 private:
  const std::byte* data_;
  std::uint64_t end_;
  std::uint64_t word_ = 0;
  unsigned word_bits_ = 0;
  std::uint64_t word_end_ = 0;  // position behind the bits of the word that are certain
  bool has_failed_ = false;
};

/// The codes of a model, for reading. 45 KB.
class DenseDecoder {
 public:
  explicit DenseDecoder(const DenseLengths& lengths);

  /// The next number. Where a context has no codes, it is 0, and the input fails.
  [[nodiscard, gnu::always_inline]] std::uint64_t read(DenseInput& input,
                                                       std::size_t context) const {
    std::uint16_t entry = entries_[context][input.word() & kIndexMask];
    if ((entry & 63U) > input.word_bits()) [[unlikely]] {
      input.load_word();
      entry = entries_[context][input.word() & kIndexMask];
      if (entry == kLongCode) {
        entry = long_code(context, input.word());
        if (entry == 0) input.fail();
      }
    }
    const std::uint64_t word = input.word();
    const unsigned bits = entry & 63;
    const unsigned length = entry >> 6 & 15;
    input.skip(bits);
    const unsigned raw_bits = bits - length;
    return std::uint64_t{entry} >> 10 << raw_bits |
           (word >> length & ~(~std::uint64_t{0} << raw_bits));
  }

 private:
  static constexpr unsigned kIndexBits = 9;
  static constexpr std::uint64_t kIndexMask = (1U << kIndexBits) - 1;
  /// The code is longer than kIndexBits, or there is none: more bits than a word has.
  static constexpr std::uint16_t kLongCode = 63;
  /// The entry of a code that is longer than kIndexBits; 0 if there is none.
  [[nodiscard]] std::uint16_t long_code(std::size_t context, std::uint64_t word) const;

  /// Bits of the number (6 bits), those of its code (4), and what stands above the raw ones (4, at
  /// most 15).
  std::array<std::array<std::uint16_t, std::size_t{1} << kIndexBits>, kDenseContexts> entries_;
  struct LongCode {
    std::uint16_t bits;  // the first one lowest
    std::uint16_t entry;
  };
  std::array<std::vector<LongCode>, kDenseContexts> long_codes_;
};

}  // namespace crawlstore::format
