// SPDX-License-Identifier: Apache-2.0
#include "drum/inserted_keys.h"

#include <algorithm>
#include <numeric>

#include "drum/sort_keys.h"
#include "format/request_run.h"

namespace crawlstore::drum {

Result<std::optional<std::vector<std::byte>>> find_in_run(std::span<const std::byte> payload,
                                                          Shape shape, Key16 key) {
  std::vector<std::uint64_t> heads;
  CRAWLSTORE_TRY(const auto run, format::parse_key_run(payload, heads));
  if (run.value_bytes != shape.value_bytes || run.tails.empty() == shape.is_wide()) {
    return fail(Errc::kSegmentInvalid, "a key run has keys or values of another size");
  }
  std::size_t place = heads.size();
  const auto inserts_key = [&](std::size_t i) {
    const auto tag = run.tags.empty() ? run.uniform_tag : run.tags[i];
    return heads[i] == key.head && (run.tails.empty() || run.tails[i] == key.tail) &&
           format::operation_of(tag) != format::Operation::kCheck;
  };
  while (place != 0 && !inserts_key(place - 1)) --place;
  if (place-- == 0) return std::nullopt;
  std::span<const std::byte> value;
  if (run.value_bytes >= 0) {
    const auto size = static_cast<std::size_t>(run.value_bytes);
    value = run.values.subspan(place * size, size);
  } else {
    const auto before = run.lengths.first(place);
    value = run.values.subspan(std::accumulate(before.begin(), before.end(), std::size_t{0}),
                               run.lengths[place]);
  }
  return std::vector<std::byte>(value.begin(), value.end());
}

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
