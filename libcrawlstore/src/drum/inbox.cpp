// SPDX-License-Identifier: Apache-2.0
#include "drum/inbox.h"

#include <utility>

#include <crawlstore/tools/merge_rules.h>

#include "base/assert.h"
#include "drum/insert_index.h"

namespace crawlstore::drum {

void Inbox::reshape(std::vector<std::uint64_t> first_keys) {
  const std::size_t count = first_keys.size();
  if (arrays.size() == count) return;
  auto old_arrays = arrays.exchange(count);
  auto old_tentative = std::exchange(tentative_, std::vector<RequestColumns>(count));
  auto old_sealed = sealed.exchange(std::vector<SealedRequests::List>(count));
  std::size_t to = 0;
  for (std::size_t from = 0; from < old_arrays.size(); ++from) {
    const std::uint64_t first_key = ranges_.first_keys()[from];
    while (to + 1 < count && first_keys[to] < first_key) ++to;
    if (first_keys[to] != first_key) {
      CRAWLSTORE_ASSERT(old_arrays[from].empty() && old_tentative[from].empty() &&
                        old_sealed[from].empty());
      continue;
    }
    arrays.give_back(to, std::move(old_arrays[from]));
    tentative_[to] = std::move(old_tentative[from]);
    sealed.give_back(to, std::move(old_sealed[from]));
  }
  ranges_.assign(std::move(first_keys));
}

std::uint64_t Inbox::seal(std::size_t bucket, std::uint64_t first_sequence) {
  const std::uint64_t count = arrays[bucket].count();
  if (count != 0) sealed.add(bucket, arrays.take(bucket), first_sequence);
  return count;
}

void Inbox::drop_tentative() {
  for (auto& columns : tentative_) columns.clear();
}

std::optional<std::span<const std::byte>> Inbox::find(Key16 key, bool in_transaction) const {
  const std::size_t bucket = bucket_of(key.head);
  const std::uint64_t hash = InsertIndex::hash_of(key);
  std::optional<std::span<const std::byte>> found;
  if (in_transaction) found = tentative_[bucket].find(key, hash);
  if (!found) found = arrays[bucket].find(key, hash);
  return found ? found : sealed.find(bucket, key, hash);
}

bool Inbox::is_tentative(Key16 key) const {
  return tentative_[bucket_of(key.head)].find(key, InsertIndex::hash_of(key)).has_value();
}

void Inbox::prefetch_inserts(Key16 key) const {
  arrays[bucket_of(key.head)].prefetch_inserts(InsertIndex::hash_of(key));
}

std::size_t Inbox::run_count(std::size_t bucket) const {
  return sealed.of(bucket).size() + (arrays[bucket].empty() ? 0 : 1) +
         (tentative_[bucket].empty() ? 0 : 1);
}

bool Inbox::fills(std::uint64_t memory_bytes) const {
  return arrays.bytes() + sealed.bytes() != 0 &&
         (has_hot_array_ || fills_memory(arrays.bytes(), sealed.bytes(), memory_bytes));
}

void Inbox::look_for_heat(std::size_t bucket, std::uint64_t memory_bytes) {
  const RequestColumns& columns = arrays[bucket];
  has_hot_array_ = has_hot_array_ || is_hot(columns.request_bytes(), columns.count(), memory_bytes);
}

void Inbox::add_to(DrumStatus& status) const {
  arrays.add_to(status);
  const auto add = [&status](const RequestColumns& columns) {
    status.pending_count += columns.count();
    status.memory_bytes += columns.memory_bytes();
  };
  for (std::size_t b = 0; b < arrays.size(); ++b) add(arrays[b]);
  for (const auto& columns : tentative_) add(columns);
  for (const auto& list : sealed.all()) {
    for (const auto& waiting : list) add(*waiting.columns);
  }
}

}  // namespace crawlstore::drum
