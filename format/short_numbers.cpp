// SPDX-License-Identifier: Apache-2.0
#include "short_numbers.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "endian.h"

#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

namespace crawlstore::format {

namespace {

constexpr std::array<std::uint8_t, 4> kLengths{0, 1, 2, 4};

/// Bytes that the four numbers of a byte of selectors take.
constexpr std::array<std::uint8_t, 256> make_quad_lengths() {
  std::array<std::uint8_t, 256> lengths{};
  for (unsigned selectors = 0; selectors < 256; ++selectors) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 4; ++i) sum += kLengths[selectors >> (2 * i) & 3];
    lengths[selectors] = static_cast<std::uint8_t>(sum);
  }
  return lengths;
}
constexpr auto kQuadLengths = make_quad_lengths();

/// Decodes the numbers from `first` on, whose data begin at `offset`, one by one.
std::optional<std::size_t> decode_each(std::span<const std::byte> selectors,
                                       std::span<const std::byte> data,
                                       std::span<std::uint32_t> numbers, std::size_t first,
                                       std::size_t offset) {
  for (std::size_t i = first; i < numbers.size(); ++i) {
    const std::size_t length =
        kLengths[std::to_integer<unsigned>(selectors[i / 4]) >> (i % 4 * 2) & 3];
    if (length > data.size() - offset) return std::nullopt;
    std::uint32_t number = 0;
    for (std::size_t k = 0; k < length; ++k) {
      number |= std::to_integer<std::uint32_t>(data[offset + k]) << (8 * k);
    }
    numbers[i] = number;
    offset += length;
  }
  const std::size_t used = numbers.size() % 4 * 2;
  if (used != 0 && std::to_integer<unsigned>(selectors[numbers.size() / 4]) >> used != 0) {
    return std::nullopt;
  }
  return offset;
}

#if defined(__x86_64__)
/// For each byte of selectors, which byte of 16 goes where; 0x80 gives a zero.
constexpr std::array<std::array<std::uint8_t, 16>, 256> make_shuffles() {
  std::array<std::array<std::uint8_t, 16>, 256> shuffles{};
  for (unsigned selectors = 0; selectors < 256; ++selectors) {
    std::uint8_t from = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned length = kLengths[selectors >> (2 * i) & 3];
      for (unsigned k = 0; k < 4; ++k) {
        shuffles[selectors][4 * i + k] = k < length ? from++ : std::uint8_t{0x80};
      }
    }
  }
  return shuffles;
}
alignas(16) constexpr auto kShuffles = make_shuffles();

const __m128i* vector_at(const void* bytes) {
  return static_cast<const __m128i*>(bytes);
}
__m128i* vector_at(std::uint32_t* numbers) {
  return static_cast<__m128i*>(static_cast<void*>(numbers));
}

__attribute__((target("ssse3"))) std::optional<std::size_t> decode_ssse3(
    std::span<const std::byte> selectors, std::span<const std::byte> data,
    std::span<std::uint32_t> numbers) {
  const std::size_t quads = numbers.size() / 4;
  std::size_t offset = 0;
  std::size_t quad = 0;
  if (data.size() >= 16) {
    const std::size_t last_load = data.size() - 16;
    for (; quad < quads && offset <= last_load; ++quad) {
      const auto selector = std::to_integer<std::size_t>(selectors[quad]);
      const __m128i bytes = _mm_loadu_si128(vector_at(data.data() + offset));
      const __m128i shuffle = _mm_load_si128(vector_at(kShuffles[selector].data()));
      _mm_storeu_si128(vector_at(numbers.data() + quad * 4), _mm_shuffle_epi8(bytes, shuffle));
      offset += kQuadLengths[selector];
    }
  }
  return decode_each(selectors, data, numbers, quad * 4, offset);
}
#endif

}  // namespace

std::size_t encode_short_numbers(std::span<const std::uint32_t> numbers,
                                 std::span<std::byte> selectors, std::span<std::byte> data) {
  CRAWLSTORE_ASSERT(selectors.size() == selector_bytes(numbers.size()) &&
                    data.size() >= numbers.size() * 4);
  std::size_t offset = 0;
  for (std::size_t quad = 0; quad < selectors.size(); ++quad) {
    const auto four =
        numbers.subspan(quad * 4, std::min<std::size_t>(4, numbers.size() - quad * 4));
    unsigned byte = 0;
    for (std::size_t i = 0; i < four.size(); ++i) {
      const std::uint32_t number = four[i];
      const unsigned selector =
          (number > 0 ? 1U : 0U) + (number > 0xff ? 1U : 0U) + (number > 0xffff ? 1U : 0U);
      byte |= selector << (2 * i);
      store(data.data() + offset, number);
      offset += kLengths[selector];
    }
    selectors[quad] = static_cast<std::byte>(byte);
  }
  return offset;
}

std::optional<std::size_t> decode_short_numbers_portable(std::span<const std::byte> selectors,
                                                         std::span<const std::byte> data,
                                                         std::span<std::uint32_t> numbers) {
  CRAWLSTORE_ASSERT(selectors.size() == selector_bytes(numbers.size()));
  return decode_each(selectors, data, numbers, 0, 0);
}

std::optional<std::size_t> decode_short_numbers(std::span<const std::byte> selectors,
                                                std::span<const std::byte> data,
                                                std::span<std::uint32_t> numbers) {
  CRAWLSTORE_ASSERT(selectors.size() == selector_bytes(numbers.size()));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("ssse3")) return decode_ssse3(selectors, data, numbers);
#endif
  return decode_short_numbers_portable(selectors, data, numbers);
}

}  // namespace crawlstore::format
