// SPDX-License-Identifier: Apache-2.0
#include "drum/inserted_keys.h"

#include <algorithm>

#include "drum/sort_keys.h"
#include "format/request_run.h"

namespace crawlstore::drum {

Result<InsertedKeys> InsertedKeys::of_run(std::span<const std::byte> payload) {
  std::vector<std::uint64_t> keys;
  CRAWLSTORE_TRY(const auto run, format::parse_key_run(payload, keys));
  InsertedKeys inserted;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto tag = run.tags.empty() ? run.uniform_tag : run.tags[i];
    if (format::operation_of(tag) == format::Operation::kCheck) continue;
    if (run.tails.empty()) {
      inserted.keys_.push_back(keys[i]);
    } else {
      inserted.wide_keys_.emplace_back(keys[i], run.tails[i]);
    }
  }
  sort_unique(inserted.keys_);
  sort_unique(inserted.wide_keys_);
  return inserted;
}

void InsertedKeys::merge(const InsertedKeys& other) {
  const auto merge_into = [](auto& keys, const auto& others) {
    const auto middle = static_cast<std::ptrdiff_t>(keys.size());
    keys.insert(keys.end(), others.begin(), others.end());
    std::inplace_merge(keys.begin(), keys.begin() + middle, keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  };
  merge_into(keys_, other.keys_);
  merge_into(wide_keys_, other.wide_keys_);
}

void LoggedKeys::add(InsertedKeys list) {
  while (!lists_.empty() && lists_.back().size() <= 2 * list.size()) {
    lists_.back().merge(list);
    list = std::move(lists_.back());
    lists_.pop_back();
  }
  lists_.push_back(std::move(list));
}

bool InsertedKeys::contains(Key16 key) const {
  return std::binary_search(keys_.begin(), keys_.end(), key.head) ||
         std::binary_search(wide_keys_.begin(), wide_keys_.end(), key);
}

}  // namespace crawlstore::drum
