// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include <crawlstore/transaction.h>

#include "call.h"
#include "handles.h"

struct crwl_transaction {
  std::shared_ptr<crawlstore::Store> store;
  crawlstore::Transaction transaction;
};

namespace crawlstore::c {
namespace {

template <class Number>
std::optional<Number> unless_zero(Number number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

Result<Store> open_store(const std::string& path, const crwl_store_options& options) {
  constexpr std::uint64_t kWaitMax = std::numeric_limits<std::uint32_t>::max();
  OpenOptions open;
  open.lock_wait_ms = static_cast<std::uint32_t>(std::min(options.lock_wait_ms, kWaitMax));
  open.time_us = unless_zero(options.time_us);
  CreateOptions create;
  create.key_seed = unless_zero(options.key_seed);
  create.time_us = open.time_us;
  switch (options.mode) {
    case CRWL_OPEN_OR_CREATE:
      return Store::open_or_create(path, create, open);
    case CRWL_OPEN:
      return Store::open(path, open);
    case CRWL_CREATE: {
      CRAWLSTORE_TRY(auto made, Store::create(path, create));
      CRAWLSTORE_TRY(made.close());
      return Store::open(path, open);
    }
    default:
      return fail(Errc::kInvalidArgument, "a store has no such mode of opening");
  }
}

}  // namespace

extern "C" {

int crwl_store_open(const char* path, const crwl_store_options* options, crwl_store** store,
                    crwl_error* error) {
  if (store != nullptr) *store = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(path, store));
    CRAWLSTORE_TRY(const auto given, options_of(options));
    CRAWLSTORE_TRY(auto opened, open_store(path, given));
    give_handle(store, crwl_store{std::make_shared<Store>(std::move(opened))});
    return {};
  });
}

int crwl_store_commit(crwl_store* store, std::uint64_t* generation, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store));
    CRAWLSTORE_TRY(const auto made, store->store->commit());
    if (generation != nullptr) *generation = made.value;
    return {};
  });
}

int crwl_store_close(crwl_store* store, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store));
    return store->store->close();
  });
}

void crwl_store_free(crwl_store* store) {
  free_handle(store);
}

int crwl_store_get_info(crwl_store* store, crwl_store_info* info, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store));
    CRAWLSTORE_TRY(need_open(store->store));
    CRAWLSTORE_TRY(check_size(info));
    crwl_store_info told{};
    told.generation = store->store->generation().value;
    told.file_bytes = store->store->file_bytes();
    told.free_bytes = store->store->free_bytes();
    told.key_seed = store->store->key_seed();
    const Uuid uuid = store->store->uuid();
    std::transform(uuid.begin(), uuid.end(), told.uuid, std::to_integer<std::uint8_t>);
    give(info, told);
    return {};
  });
}

int crwl_transaction_begin(crwl_store* store, crwl_transaction** transaction, crwl_error* error) {
  if (transaction != nullptr) *transaction = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, transaction));
    CRAWLSTORE_TRY(auto begun, Transaction::begin(*store->store));
    give_handle(transaction, crwl_transaction{store->store, std::move(begun)});
    return {};
  });
}

int crwl_transaction_commit(crwl_transaction* transaction, std::uint64_t* generation,
                            crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(transaction));
    CRAWLSTORE_TRY(const auto made, transaction->transaction.commit());
    if (generation != nullptr) *generation = made.value;
    return {};
  });
}

int crwl_transaction_drop(crwl_transaction* transaction, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(transaction));
    transaction->transaction.drop();
    return {};
  });
}

void crwl_transaction_free(crwl_transaction* transaction) {
  free_handle(transaction);
}

}  // extern "C"

}  // namespace crawlstore::c
