// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stores and transactions of the C interface: crawlstore.h has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_error.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// A crawl file that is open for writing, by one process at a time.
typedef struct crwl_store crwl_store;

enum { CRWL_OPEN_OR_CREATE = 0, CRWL_OPEN = 1, CRWL_CREATE = 2 };

///   mode          CRWL_OPEN_OR_CREATE ...
///   lock_wait_ms  milliseconds to wait for another writer; 0: fails at once with 40
///   time_us       the time to write, microseconds since 1970 in UTC; 0: the clock
///   key_seed      seed of URL keys in a file that is made now; 0: random
typedef struct crwl_store_options {
  uint32_t struct_size;
  uint32_t mode;
  uint64_t lock_wait_ms;
  int64_t time_us;
  uint64_t key_seed;
} crwl_store_options;

/// Opens a file, or makes it. errors 63 there is none, 64 there is one, 40 another writer, format
/// and damage. cost O(directory)
int crwl_store_open(const char* path, const crwl_store_options* options, crwl_store** store,
                    crwl_error* error);
/// Publishes all that waits in the store, durably, but for an open transaction.
///   generation  gets the number of the commit; may be NULL
///   errors      60 and its like: nothing changed, try again; 83 this thread is in a transaction
///   cost        two fdatasync and the bytes that changed
int crwl_store_commit(crwl_store* store, uint64_t* generation, crwl_error* error);
/// Commits and closes, whatever handles there are: their calls give 81. Again: no effect.
///   errors      those of crwl_store_commit: it stays open
int crwl_store_close(crwl_store* store, crwl_error* error);
void crwl_store_free(crwl_store* store);

/// A store as it is now, with what has not been committed.
typedef struct crwl_store_info {
  uint32_t struct_size;
  uint64_t generation;
  uint64_t file_bytes;
  uint64_t free_bytes;  ///< inside the file, for what comes next
  uint64_t key_seed;
  uint8_t uuid[16];
} crwl_store_info;
int crwl_store_get_info(crwl_store* store, crwl_store_info* info, crwl_error* error);

/// Changes that are committed together, or not at all: those of the thread that began it, to any
/// handle of the store, until its end. Nothing is opened, merged or compacted inside (83). Inserts
/// of other threads go on; what else they change waits.
typedef struct crwl_transaction crwl_transaction;

/// Waits for commits and transactions of other threads. errors 83 this thread is in one already
int crwl_transaction_begin(crwl_store* store, crwl_transaction** transaction, crwl_error* error);
/// Commits and ends it; after 60 and its like it goes on: try again, or drop. errors 81 it ended
int crwl_transaction_commit(crwl_transaction* transaction, uint64_t* generation, crwl_error* error);
/// Forgets its changes and ends it. After a commit: no effect.
int crwl_transaction_drop(crwl_transaction* transaction, crwl_error* error);
/// Drops it, and frees the handle.
void crwl_transaction_free(crwl_transaction* transaction);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
