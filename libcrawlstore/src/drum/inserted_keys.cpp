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

bool InsertedKeys::contains(Key16 key) const {
  return std::binary_search(keys_.begin(), keys_.end(), key.head) ||
         std::binary_search(wide_keys_.begin(), wide_keys_.end(), key);
}

}  // namespace crawlstore::drum
