// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small values of a program; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_store.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// Small values are counters and states of the program's own that belong to what it crawls, such as
/// how far it has read its input. Changes wait for a commit, or are part of the transaction under
/// way; all calls know of them at once. A name has 1 to 255 bytes of UTF-8 without control
/// characters, and no full stop at its beginning; NULL is 80.
///   CRWL_VALUE_BYTES_MAX        room that suffices for each value
///   CRWL_VALUE_COUNT_MAX        values that a store has at most
///   CRWL_VALUE_NAMES_BYTES_MAX  room that suffices for all names
enum {
  CRWL_VALUE_BYTES_MAX = 4096,
  CRWL_VALUE_COUNT_MAX = 1024,
  CRWL_VALUE_NAMES_BYTES_MAX = 262144
};

/// A value and the room for it.
///   is_there    gets 1 if there is a value of the name, else 0
///   bytes       an array of `capacity` bytes; may be NULL where that is 0
///   byte_count  gets the bytes of the value
typedef struct crwl_value {
  uint32_t struct_size;
  uint32_t is_there;
  void* bytes;
  uint64_t capacity;
  uint64_t byte_count;
} crwl_value;

/// Sets a value, in place of the one before.
///   errors  80 the name; 85 its length, or more bytes or values than there may be
///   cost    memory; a commit writes all small values anew if one has changed
int crwl_store_set(crwl_store* store, const char* name, const void* bytes, uint64_t byte_count,
                   crwl_error* error);
/// Gets the value that was set last, whether it is committed or not.
///   errors  80 with a byte_count above `capacity`: there is too little room, nothing is copied
int crwl_store_get(crwl_store* store, const char* name, crwl_value* value, crwl_error* error);
/// Takes a value away.
///   was_there  gets 1 if there was one, else 0; may be NULL
int crwl_store_remove(crwl_store* store, const char* name, int* was_there, crwl_error* error);
/// Gets the names of all values, sorted, one after another, each with NUL after it.
///   names       an array of `capacity` bytes; may be NULL where that is 0
///   byte_count  gets the bytes of all names, also where there is too little room
///   errors      80 with a byte_count above `capacity`, as crwl_store_get
int crwl_store_value_names(crwl_store* store, char* names, size_t capacity, uint64_t* byte_count,
                           crwl_error* error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
