// SPDX-License-Identifier: Apache-2.0
#include "seen_stream.h"

#include <algorithm>

namespace crawlstore::bench {
namespace {

constexpr std::size_t kWords = 4096;

/// A number below kWords, from 16 random bits: the density falls with the power 2/3 of the number.
std::size_t skewed_word(std::uint64_t random) {
  const std::uint64_t x = random & 0xFFFF;
  return static_cast<std::size_t>((x * x * x) >> 36);
}

}  // namespace

AuxTexts::AuxTexts() : words_(kWords) {
  constexpr std::string_view kConsonants = "bcdfglmnprstvwhk";
  constexpr std::string_view kVowels = "aeiouyae";
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint64_t random = mix(i + 12345);
    for (std::size_t j = 0; j < 8; j += 2) {
      words_[i][j] = kConsonants[random & 15];
      words_[i][j + 1] = kVowels[(random >> 4) & 7];
      random >>= 7;
    }
  }
}

void AuxTexts::write(std::uint64_t operation, AuxText& text) const {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  const std::uint64_t random = mix(operation * 0x9E3779B97F4A7C15U);
  const std::uint64_t page = (random & 3) != 0 ? mix((operation >> 5) + 77) : mix(random);
  const std::size_t host = skewed_word(page);
  const std::uint64_t folder = (random & 12) != 0 ? (page >> 20) & 15 : random >> 58;

  char* place = text.data();
  const auto put = [&place](std::string_view part) {
    place = std::copy(part.begin(), part.end(), place);
  };
  const auto put_word = [&](std::size_t index) {
    place = std::copy(words_[index].begin(), words_[index].end(), place);
  };
  put("https://www.");
  put_word(host);
  put(".com/");
  put_word((host * 16 + folder) % kWords);
  put("/");
  put_word(skewed_word(random >> 8));
  put("-");
  put_word(skewed_word(random >> 24));
  put("/");
  for (int shift = 35; shift >= 0; shift -= 5) *place++ = kDigits[(operation >> shift) & 31];
}

}  // namespace crawlstore::bench
