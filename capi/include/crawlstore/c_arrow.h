// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages as an Arrow C stream; part of crawlstore.h, which has the rules of all. The three structs
/// are those of the Arrow C data and stream interfaces, with their guards: any header that has
/// them, too, may be included before or after. No library of Arrow is needed.

#include <stdint.h>

#include <crawlstore/c_view.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
// tidy: macro, the standard's
#define ARROW_C_DATA_INTERFACE

// tidy: macro, the standard's
#define ARROW_FLAG_DICTIONARY_ORDERED 1
// tidy: macro, the standard's
#define ARROW_FLAG_NULLABLE 2
// tidy: macro, the standard's
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/// The type of an array, and of its children by name. `release` frees it; NULL: it is released.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

/// Entries of a column, or of a struct whose columns are the children. Buffers: bits of what is not
/// null, or NULL where all are; of texts the ends; values. A child may be moved out: copied, with
/// the `release` of the original set to NULL.
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
// tidy: macro, the standard's
#define ARROW_C_STREAM_INTERFACE

/// A schema, and arrays of it one after another. At the end get_next gives an array whose `release`
/// is NULL. Calls return 0, or a number of errno.h.
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif

/// Columns of pages, to be joined by `|`; crwl_page_columns says more of them. The stream has them
/// in this order, named as here in small letters.
enum {
  CRWL_COLUMN_INDEX = 1,            ///< uint64
  CRWL_COLUMN_URL = 2,              ///< large binary, as URLs may be bytes; empty: pages have none
  CRWL_COLUMN_STATE = 4,            ///< uint8
  CRWL_COLUMN_HTTP_STATUS = 8,      ///< uint16
  CRWL_COLUMN_DEPTH = 16,           ///< uint32
  CRWL_COLUMN_LINKED_FROM = 32,     ///< uint64; null: a seed
  CRWL_COLUMN_CRAWL_COUNT = 64,     ///< uint32
  CRWL_COLUMN_CHANGE_COUNT = 128,   ///< uint32
  CRWL_COLUMN_FAILURE_COUNT = 256,  ///< uint32
  CRWL_COLUMN_FIRST_CRAWL = 512,    ///< timestamp in microseconds, UTC; null: never
  CRWL_COLUMN_LAST_CRAWL = 1024,    ///< the same
  CRWL_COLUMN_SCORE = 2048          ///< float32
};

/// Rows of each batch but the last.
enum { CRWL_ARROW_ROW_COUNT = 65536 };

/// Makes a stream of all pages of the generation, in the order of their indexes: batches of a
/// struct with a field for each column. It keeps the generation, and needs the view no more.
///   columns  CRWL_COLUMN_INDEX | ...; 0: all
///   stream   is written over, and to be released by the caller; its `release` is NULL after an
///            error. Threads: one at a time. Batches may outlive it, and columns their batch
///   errors   80 a column that there is not. Calls of the stream give ENOMEM or EIO, and its
///            get_last_error the sentence
///   cost     nothing is read; a batch reads the URLs and records of its pages
int crwl_view_arrow(const crwl_view* view, uint32_t columns, struct ArrowArrayStream* stream,
                    crwl_error* error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
