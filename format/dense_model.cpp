// SPDX-License-Identifier: Apache-2.0
#include "dense_model.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/assert.h"
#include "invalid.h"

namespace crawlstore::format {

namespace {

constexpr unsigned kCodeBitsMax = 15;

using TokenCounts = std::array<std::uint64_t, kDenseTokens>;
using Lengths = std::array<std::uint8_t, kDenseTokens>;

/// Lengths by Huffman's algorithm. If weights are equal, the one that came first counts as less, so
/// equal counts give equal lengths everywhere.
Lengths huffman_lengths(const TokenCounts& counts) {
  using Node = std::pair<std::uint64_t, std::size_t>;  // weight, number
  std::priority_queue<Node, std::vector<Node>, std::greater<>> nodes;
  std::array<std::size_t, 2 * kDenseTokens> parents{};
  for (std::size_t token = 0; token < kDenseTokens; ++token) {
    if (counts[token] != 0) nodes.emplace(counts[token], token);
  }
  Lengths lengths{};
  if (nodes.empty()) return lengths;
  CRAWLSTORE_ASSERT(nodes.size() > 1);
  std::size_t node_end = kDenseTokens;
  while (nodes.size() > 1) {
    const Node less = nodes.top();
    nodes.pop();
    const Node more = nodes.top();
    nodes.pop();
    parents[less.second] = parents[more.second] = node_end;
    nodes.emplace(less.first + more.first, node_end++);
  }
  std::array<std::uint8_t, 2 * kDenseTokens> depths{};
  for (std::size_t node = node_end - 1; node-- > 0;) {
    if (parents[node] != 0) depths[node] = static_cast<std::uint8_t>(depths[parents[node]] + 1);
  }
  std::copy_n(depths.begin(), kDenseTokens, lengths.begin());
  return lengths;
}

/// Flatter counts until no code is too long; in the end all counts are 1, and codes of 7 bits.
Lengths bounded_lengths(TokenCounts counts) {
  Lengths lengths = huffman_lengths(counts);
  while (*std::max_element(lengths.begin(), lengths.end()) > kCodeBitsMax) {
    for (std::uint64_t& count : counts) count = count / 2 + count % 2;
    lengths = huffman_lengths(counts);
  }
  return lengths;
}

/// Sums up to 1 << kCodeBitsMax if the lengths are those of a complete code.
std::uint32_t kraft_sum(const Lengths& lengths) {
  std::uint32_t sum = 0;
  for (const std::uint8_t length : lengths) {
    if (length != 0) sum += 1U << (kCodeBitsMax - length);
  }
  return sum;
}

std::uint16_t reversed(std::uint32_t bits, unsigned length) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < length; ++i) result |= (bits >> i & 1) << (length - 1 - i);
  return static_cast<std::uint16_t>(result);
}

/// Canonical codes: by length, then by token.
std::array<DenseCodes::Code, kDenseTokens> canonical_codes(const Lengths& lengths) {
  std::array<DenseCodes::Code, kDenseTokens> codes{};
  std::uint32_t next = 0;
  for (unsigned length = 1; length <= kCodeBitsMax; ++length) {
    next <<= 1;
    for (std::size_t token = 0; token < kDenseTokens; ++token) {
      if (lengths[token] != length) continue;
      codes[token] = {reversed(next++, length), static_cast<std::uint8_t>(length)};
    }
  }
  return codes;
}

}  // namespace

DenseLengths dense_code_lengths(const DenseCounts& counts) {
  DenseLengths lengths;
  std::transform(counts.begin(), counts.end(), lengths.begin(), bounded_lengths);
  return lengths;
}

void encode_dense_model(const DenseLengths& lengths, std::vector<std::byte>& out) {
  out.reserve(out.size() + kDenseModelBytes);
  for (const Lengths& of_context : lengths) {
    for (std::size_t token = 0; token < kDenseTokens; token += 2) {
      out.push_back(static_cast<std::byte>(of_context[token] | of_context[token + 1] << 4));
    }
  }
}

Result<DenseLengths> parse_dense_model(std::span<const std::byte, kDenseModelBytes> bytes) {
  DenseLengths lengths;
  for (std::size_t context = 0; context < kDenseContexts; ++context) {
    const std::size_t place = context * kDenseTokens / 2;
    for (std::size_t token = 0; token < kDenseTokens; ++token) {
      const auto pair = std::to_integer<unsigned>(bytes[place + token / 2]);
      lengths[context][token] = static_cast<std::uint8_t>(token % 2 == 0 ? pair & 15 : pair >> 4);
    }
    const std::uint32_t sum = kraft_sum(lengths[context]);
    if (sum != 0 && sum != 1U << kCodeBitsMax) {
      return invalid("the code lengths of a dense link run are not those of a prefix code", place);
    }
  }
  return lengths;
}

DenseCodes::DenseCodes(const DenseLengths& lengths) {
  std::transform(lengths.begin(), lengths.end(), codes_.begin(), canonical_codes);
}

DenseDecoder::DenseDecoder(const DenseLengths& lengths) {
  for (std::size_t context = 0; context < kDenseContexts; ++context) {
    const auto codes = canonical_codes(lengths[context]);
    entries_[context].fill(kLongCode);
    for (std::size_t token = 0; token < kDenseTokens; ++token) {
      const auto [bits, length] = codes[token];
      if (length == 0) continue;
      const std::size_t raw_bits = dense_raw_bits(token);
      const std::size_t top = token < 16 ? token : 2 + token % 2;
      const auto entry =
          static_cast<std::uint16_t>(length + raw_bits + (std::size_t{length} << 6) + (top << 10));
      if (length > kIndexBits) long_codes_[context].push_back({bits, entry});
      for (std::size_t i = bits; length <= kIndexBits && i < entries_[context].size();
           i += std::size_t{1} << length) {
        entries_[context][i] = entry;
      }
    }
  }
}

std::uint16_t DenseDecoder::long_code(std::size_t context, std::uint64_t word) const {
  for (const auto [bits, entry] : long_codes_[context]) {
    if ((word & ~(~std::uint64_t{0} << (entry >> 6 & 15))) == bits) return entry;
  }
  return 0;
}

}  // namespace crawlstore::format
