// SPDX-License-Identifier: Apache-2.0
//
// A word holds the 40 leading bits of a key (behind the bits that all keys of the bucket share) and
// the 24 bits of its arrival index: half the memory traffic of sorting (key, index) pairs. LSD
// radix passes are stable, so equal words stay in arrival order; the few neighbours that share 40
// bits but differ below are sorted by comparison.
#include "drum/sort_requests.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace crawlstore::drum {
namespace {

constexpr unsigned kIndexBits = 24;
constexpr unsigned kDigitBits = 10;
constexpr unsigned kPassCount = 4;
constexpr std::size_t kDigitCount = std::size_t{1} << kDigitBits;
static_assert(kIndexBits + kDigitBits * kPassCount == 64);
constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << kIndexBits) - 1;

using Histogram = std::array<std::uint32_t, kDigitCount>;

unsigned digit_shift(unsigned pass) {
  return kIndexBits + pass * kDigitBits;
}
std::size_t digit(std::uint64_t word, unsigned pass) {
  return (word >> digit_shift(pass)) & (kDigitCount - 1);
}

void scatter(const std::vector<std::uint64_t>& from, std::vector<std::uint64_t>& to, unsigned pass,
             Histogram& histogram) {
  std::uint32_t start = 0;
  for (auto& count : histogram) start += std::exchange(count, start);
  for (const std::uint64_t word : from) to[histogram[digit(word, pass)]++] = word;
}

void sort_ties(std::span<const std::uint64_t> keys, std::vector<std::uint64_t>& order) {
  const auto key_of = [keys](std::uint64_t word) { return keys[word & kIndexMask]; };
  const auto before = [key_of](std::uint64_t a, std::uint64_t b) {
    const auto left = key_of(a);
    const auto right = key_of(b);
    return left != right ? left < right : a < b;
  };
  std::size_t begin = 0;
  while (begin < order.size()) {
    std::size_t end = begin + 1;
    while (end < order.size() && order[end] >> kIndexBits == order[begin] >> kIndexBits) ++end;
    if (end - begin > 1) {
      const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = order.begin() + static_cast<std::ptrdiff_t>(end);
      if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
    }
    begin = end;
  }
}

}  // namespace

void sort_requests(std::span<const std::uint64_t> keys, std::uint64_t first, std::uint64_t last,
                   std::vector<std::uint64_t>& order, std::vector<std::uint64_t>& scratch) {
  CRAWLSTORE_ASSERT(keys.size() <= kSortCountMax && first <= last);
  const auto shared_bits = static_cast<unsigned>(std::countl_zero(first ^ last)) & 63;
  order.resize(keys.size());
  scratch.resize(keys.size());
  std::array<Histogram, kPassCount> histograms{};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t word = (keys[i] << shared_bits & ~kIndexMask) | i;
    order[i] = word;
    for (unsigned pass = 0; pass < kPassCount; ++pass) ++histograms[pass][digit(word, pass)];
  }
  for (unsigned pass = 0; pass < kPassCount; ++pass) {
    const bool all_equal =
        !order.empty() && histograms[pass][digit(order.front(), pass)] == order.size();
    if (all_equal) continue;
    scatter(order, scratch, pass, histograms[pass]);
    order.swap(scratch);
  }
  sort_ties(keys, order);
}

}  // namespace crawlstore::drum
