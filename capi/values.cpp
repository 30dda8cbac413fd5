// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <crawlstore/values.h>

#include "call.h"
#include "handles.h"

namespace crawlstore::c {
namespace {

static_assert(CRWL_VALUE_BYTES_MAX == kSmallValueBytesMax);
static_assert(CRWL_VALUE_COUNT_MAX == kSmallValuesMax);

/// Fails if an array of the caller is too small for what it is to hold.
Result<void> check_room(std::uint64_t needed, std::uint64_t capacity) {
  if (needed <= capacity) return {};
  return fail(Errc::kInvalidArgument, "the room does not suffice: byte_count says what does");
}

Result<void> get_value(const Store& store, const char* name, crwl_value& value) {
  value.is_there = 0;
  value.byte_count = 0;
  CRAWLSTORE_TRY(need_array(value.capacity, value.bytes));
  CRAWLSTORE_TRY(const auto found, store.get(name));
  if (!found) return {};
  value.is_there = 1;
  value.byte_count = found->size();
  CRAWLSTORE_TRY(check_room(found->size(), value.capacity));
  std::copy(found->begin(), found->end(), static_cast<std::byte*>(value.bytes));
  return {};
}

}  // namespace

extern "C" {

int crwl_store_set(crwl_store* store, const char* name, const void* bytes, std::uint64_t byte_count,
                   crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, name));
    CRAWLSTORE_TRY(need_array(byte_count, bytes));
    return store->store->set(name, std::span(static_cast<const std::byte*>(bytes), byte_count));
  });
}

int crwl_store_get(crwl_store* store, const char* name, crwl_value* value, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(check_input(value));
    CRAWLSTORE_TRY(need(store, name));
    return get_value(*store->store, name, *value);
  });
}

int crwl_store_remove(crwl_store* store, const char* name, int* was_there, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, name));
    CRAWLSTORE_TRY(const bool is_gone, store->store->remove(name));
    if (was_there != nullptr) *was_there = is_gone ? 1 : 0;
    return {};
  });
}

int crwl_store_value_names(crwl_store* store, char* names, std::size_t capacity,
                           std::uint64_t* byte_count, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, byte_count));
    *byte_count = 0;
    CRAWLSTORE_TRY(need_array(capacity, names));
    CRAWLSTORE_TRY(const auto all, store->store->value_names());
    std::string listed;
    for (const std::string& name : all) listed.append(name).push_back('\0');
    *byte_count = listed.size();
    CRAWLSTORE_TRY(check_room(listed.size(), capacity));
    std::copy(listed.begin(), listed.end(), names);
    return {};
  });
}

}  // extern "C"

}  // namespace crawlstore::c
