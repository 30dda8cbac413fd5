// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random numbers and hostile texts of a seed that CRAWLSTORE_TEST_SEED sets and failures print.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/random.h"

namespace crawlstore::testing {

inline std::uint64_t test_seed() {
  const char* const given = std::getenv("CRAWLSTORE_TEST_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 0);
}

/// Whether the run is `./run-tests --long`, which tries everything that others try a sample of.
inline bool is_long() {
  return std::getenv("CRAWLSTORE_LONG") != nullptr;
}

/// While it lives, a failure of its thread says which seed it was.
class SeededRandom : public Random {
 public:
  SeededRandom()
      : Random(test_seed()), trace_("", 0, "CRAWLSTORE_TEST_SEED=" + std::to_string(test_seed())) {}

  /// Returns true once in `times`.
  bool one_in(std::uint64_t times) { return below(times) == 0; }
  /// Numbers of all lengths in bits, the largest ones among them.
  std::uint64_t number() { return next() >> below(64); }
  /// Up to `pieces_max` pieces of what breaks text formats: separators of all of them, line breaks,
  /// NUL, code points of each length, bytes that are no UTF-8.
  std::string hostile_text(std::uint64_t pieces_max) {
    using namespace std::string_view_literals;
    static constexpr std::array kPieces = {
        "a"sv,        "B"sv,    "7"sv,      "word"sv,      " "sv,        ","sv,
        ";"sv,        "\""sv,   "'"sv,      "\\"sv,        "/"sv,        "#"sv,
        "%"sv,        "%2"sv,   "%00"sv,    "+"sv,         "-"sv,        "~"sv,
        ":"sv,        "="sv,    "<"sv,      ">"sv,         "\t"sv,       "\n"sv,
        "\r"sv,       "\r\n"sv, "\0"sv,     "\x01"sv,      "\x7f"sv,     "."sv,
        "..\0"sv,     "0x"sv,   "\xc3"sv,   "\xff"sv,      "\xe2\x82"sv, "\xed\xa0\x80"sv,
        "\xc3\xa9"sv, "[{("sv,  "\u6f22"sv, "\U0001f577"sv};
    std::string text;
    for (std::uint64_t i = below(pieces_max + 1); i > 0; --i)
      text += kPieces[below(kPieces.size())];
    return text;
  }

 private:
  ::testing::ScopedTrace trace_;
};

}  // namespace crawlstore::testing
