// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages of a queue as keys of stores that order bytes, the first to leave first: 8 bytes of the
/// priority, 5 of the page. Ownership: values. Threads: any.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <crawlstore/queue.h>

namespace crawlstore::bench {

using QueueKey = std::array<char, 13>;

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

inline QueueKey queue_key(const QueuedPage& page) {
  const auto bits = std::bit_cast<std::uint64_t>(page.priority);
  const std::uint64_t words[] = {
      __builtin_bswap64((bits & kSignBit) != 0 ? bits : ~(bits | kSignBit)),
      __builtin_bswap64(page.page << 24)};
  QueueKey key;
  std::memcpy(key.data(), words, key.size());
  return key;
}

/// The keys of pages, in order.
inline std::vector<QueueKey> sorted_keys(std::span<const QueuedPage> pages) {
  std::vector<QueueKey> keys;
  keys.reserve(pages.size());
  for (const QueuedPage& page : pages) keys.push_back(queue_key(page));
  std::sort(keys.begin(), keys.end(), [](const QueueKey& a, const QueueKey& b) {
    return std::memcmp(a.data(), b.data(), sizeof(QueueKey)) < 0;
  });
  return keys;
}

inline QueuedPage page_of(const void* key) {
  std::uint64_t words[2] = {};
  std::memcpy(words, key, sizeof(QueueKey));
  const std::uint64_t order = __builtin_bswap64(words[0]);
  return {.page = __builtin_bswap64(words[1]) >> 24,
          .priority = std::bit_cast<double>((order & kSignBit) != 0 ? order : ~(order | kSignBit))};
}

}  // namespace crawlstore::bench
