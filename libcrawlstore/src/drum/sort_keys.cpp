// SPDX-License-Identifier: Apache-2.0
#include "drum/sort_keys.h"

#include <algorithm>
#include <span>

#include "drum/sort_requests.h"

namespace crawlstore::drum {

void sort_unique(std::vector<std::uint64_t>& keys) {
  if (keys.empty()) return;
  SortedRequests sorted;
  const std::span<const std::uint64_t> all(keys);
  sorted.sort({&all, 1});
  const auto in_order = sorted.keys();
  keys.erase(std::unique_copy(in_order.begin(), in_order.end(), keys.begin()), keys.end());
}

void sort_unique(std::vector<Key16>& keys) {
  if (keys.empty()) return;
  std::vector<std::uint64_t> heads;
  std::vector<std::uint64_t> tails;
  heads.reserve(keys.size());
  tails.reserve(keys.size());
  for (const Key16& key : keys) {
    heads.push_back(key.head);
    tails.push_back(key.tail);
  }
  SortedRequests sorted;
  const std::span<const std::uint64_t> all_heads(heads);
  const std::span<const std::uint64_t> all_tails(tails);
  sorted.sort({&all_heads, 1}, {&all_tails, 1});
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {sorted.keys()[i], sorted.tails()[i]};
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace crawlstore::drum
