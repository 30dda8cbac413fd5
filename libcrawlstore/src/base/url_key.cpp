// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <xxhash.h>

#include <crawlstore/url.h>

namespace crawlstore {
namespace {

// Entry i is i * t^64 mod P, for P = t^64 + t^4 + t^3 + t + 1: what the eight coefficients that a
// step pushes over the top come back as. i * 0x1B has degree 11 at most, so it needs no reduction.
constexpr std::array<std::uint64_t, 256> make_rabin_table() {
  std::array<std::uint64_t, 256> table{};
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    table[i] = i ^ (i << 1) ^ (i << 3) ^ (i << 4);
  }
  return table;
}

constexpr std::array<std::uint64_t, 256> kRabinTable = make_rabin_table();

}  // namespace

std::uint64_t url_key(std::string_view normalized, std::uint64_t key_seed) {
  return XXH3_64bits_withSeed(normalized.data(), normalized.size(), key_seed);
}

Key16 url_key16(std::string_view normalized, std::uint64_t key_seed) {
  const auto hash = XXH3_128bits_withSeed(normalized.data(), normalized.size(), key_seed);
  return {hash.high64, hash.low64};
}

std::uint64_t rabin_fingerprint(std::string_view bytes) {
  std::uint64_t fingerprint = 0;
  for (const char c : bytes) {
    // Through unsigned char: a sign-extended byte would flip the 56 bits above it.
    const std::uint64_t byte = static_cast<unsigned char>(c);
    fingerprint = ((fingerprint << 8) | byte) ^ kRabinTable[fingerprint >> 56];
  }
  return fingerprint;
}

}  // namespace crawlstore
