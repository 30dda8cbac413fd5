// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Queues of pages by priority; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_store.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// A set of pages with priorities: the highest leaves first, and of equal ones the lowest page. A
/// page that is pushed again gets the new priority. Pushes and pops wait for the next commit
/// of the store, or for that of a transaction.
typedef struct crwl_queue crwl_queue;

///   memory_bytes  at least 32 MiB, of which as much is taken as is needed; 0: 1 GiB
typedef struct crwl_queue_options {
  uint32_t struct_size;
  uint64_t memory_bytes;
} crwl_queue_options;

/// Opens the queue `name` (NULL: "queue"), or makes it. errors 80 it is open, 83
int crwl_queue_open(crwl_store* store, const char* name, const crwl_queue_options* options,
                    crwl_queue** queue, crwl_error* error);
/// Pushes `count` pages. errors 80, none of them: a priority is no number, a page is 2^40 or more
///   priorities  `count` numbers; NULL: all are 0
///   cost        a search among some hundred bounds for each page
int crwl_queue_push(crwl_queue* queue, const uint64_t* pages, const double* priorities,
                    uint64_t count, crwl_error* error);
/// Takes the first pages, in the order in which they leave; after an error none.
///   pages, priorities  get them; priorities may be NULL
///   count              entries of these arrays; gets the pages that were taken
int crwl_queue_pop(crwl_queue* queue, uint64_t* pages, double* priorities, uint64_t* count,
                   crwl_error* error);
/// The pages wait no more.
///   removed  gets how many waited; may be NULL
int crwl_queue_remove(crwl_queue* queue, const uint64_t* pages, uint64_t count, uint64_t* removed,
                      crwl_error* error);
/// Pages that wait, also those that no commit has. cost none
int crwl_queue_get_count(const crwl_queue* queue, uint64_t* count, crwl_error* error);
void crwl_queue_free(crwl_queue* queue);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
