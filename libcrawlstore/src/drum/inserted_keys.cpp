// SPDX-License-Identifier: Apache-2.0
#include "drum/inserted_keys.h"

#include <algorithm>

#include "format/request_run.h"

namespace crawlstore::drum {

InsertedKeys::InsertedKeys(std::vector<std::uint64_t> keys) : keys_(std::move(keys)) {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
}

Result<InsertedKeys> InsertedKeys::of_run(std::span<const std::byte> payload) {
  std::vector<std::uint64_t> keys;
  const auto run = format::parse_key_run(payload, keys);
  if (!run) return tl::unexpected<Error>(run.error());
  std::size_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto tag = run->tags.empty() ? run->uniform_tag : run->tags[i];
    if (format::operation_of(tag) != format::Operation::kCheck) keys[count++] = keys[i];
  }
  keys.resize(count);
  return InsertedKeys(std::move(keys));
}

bool InsertedKeys::contains(std::uint64_t key) const {
  return std::binary_search(keys_.begin(), keys_.end(), key);
}

}  // namespace crawlstore::drum
