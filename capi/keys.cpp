// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include <crawlstore/drum_core.h>

#include "call.h"
#include "handles.h"
#include "set_status.h"
#include "texts.h"

struct crwl_keys {
  std::shared_ptr<crawlstore::Store> store;
  std::shared_ptr<crawlstore::DrumCore> set;
};

namespace crawlstore::c {
namespace {

/// Key number `i` of an array of one or two numbers a key.
Key16 key_at(const DrumCore& set, const std::uint64_t* words, std::uint64_t i) {
  return set.key_bytes() == 8 ? Key16(words[i]) : Key16(words[2 * i], words[2 * i + 1]);
}

Result<void> add_keys(DrumCore& set, const std::uint64_t* words, std::uint64_t count) {
  if (set.key_bytes() == 8) {
    return set.submit_keys(DrumOperation::kUpdate, std::span(words, count), {});
  }
  std::array<Key16, 1024> batch;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t size = std::min<std::uint64_t>(count - done, batch.size());
    for (std::uint64_t i = 0; i < size; ++i) batch[i] = key_at(set, words, done + i);
    const std::span<const Key16> keys(batch.data(), size);
    CRAWLSTORE_TRY(set.submit_keys(DrumOperation::kUpdate, keys, {}));
    done += size;
  }
  return {};
}

}  // namespace

extern "C" {

int crwl_keys_open(crwl_store* store, const char* name, const crwl_keys_options* options,
                   crwl_keys** keys, crwl_error* error) {
  if (keys != nullptr) *keys = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, keys));
    CRAWLSTORE_TRY(const auto given, options_of(options));
    if (given.key_bytes != 0 && given.key_bytes != 8 && given.key_bytes != 16) {
      return fail(Errc::kInvalidArgument, "keys have 8 or 16 bytes");
    }
    DrumOptions drum;
    drum.key_bytes = static_cast<std::uint16_t>(given.key_bytes);
    if (given.memory_bytes != 0) drum.memory_bytes = given.memory_bytes;
    CRAWLSTORE_TRY(auto set, DrumCore::open(*store->store, name_or(name, "keys"), 0, drum));
    give_handle(keys, crwl_keys{store->store, std::move(set)});
    return {};
  });
}

int crwl_keys_add(crwl_keys* keys, const std::uint64_t* words, std::uint64_t count,
                  crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(keys));
    CRAWLSTORE_TRY(need_array(count, words));
    return add_keys(*keys->set, words, count);
  });
}

int crwl_keys_insert(crwl_keys* keys, const std::uint64_t* words, std::uint64_t count,
                     std::uint8_t* is_new, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(keys));
    CRAWLSTORE_TRY(need_array(count, words));
    return answer_each(count, is_new, [&](std::uint64_t i) {
      return keys->set->insert(key_at(*keys->set, words, i), {});
    });
  });
}

int crwl_keys_contains(crwl_keys* keys, const std::uint64_t* words, std::uint64_t count,
                       std::uint8_t* is_there, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(keys));
    CRAWLSTORE_TRY(need_array(count, words));
    return answer_each(count, is_there, [&](std::uint64_t i) {
      return keys->set->contains(key_at(*keys->set, words, i));
    });
  });
}

int crwl_keys_merge(crwl_keys* keys, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(keys));
    CRAWLSTORE_TRY(keys->set->merge());
    return {};
  });
}

int crwl_keys_get_status(crwl_keys* keys, crwl_set_status* status, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(keys));
    CRAWLSTORE_TRY(need_open(keys->store));
    return give_set_status(*keys->set, status);
  });
}

void crwl_keys_free(crwl_keys* keys) {
  free_handle(keys);
}

}  // extern "C"

}  // namespace crawlstore::c
