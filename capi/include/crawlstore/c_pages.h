// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Adding pages and links; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_store.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// The pages of a store, and the links between them. Edits wait in memory until a merge, which
/// comes by itself when they have taken theirs; commits keep those that wait.
typedef struct crwl_pages crwl_pages;

///   memory_bytes   of edits that wait and their merge, at least 1 MiB; 0: 256 MiB
///   without_urls   1: pages of a database that is made now have indexes only
typedef struct crwl_pages_options {
  uint32_t struct_size;
  uint32_t without_urls;
  uint64_t memory_bytes;
} crwl_pages_options;

/// The kinds of events.
enum {
  CRWL_EVENT_PAGE = 0,          ///< was fetched: the links are all that it has now
  CRWL_EVENT_KNOWN = 1,         ///< is worth remembering, not fetched
  CRWL_EVENT_GONE = 2,          ///< was deleted: its links go
  CRWL_EVENT_FAILED = 3,        ///< could not be fetched: all else stays
  CRWL_EVENT_LINK_ADDED = 4,    ///< has the listed links more than before
  CRWL_EVENT_LINK_REMOVED = 5,  ///< has the listed links no longer
  CRWL_EVENT_UNCHANGED = 6,     ///< was fetched, and is as it was
  CRWL_EVENT_REDIRECT = 7,      ///< leads to the one listed link
  CRWL_EVENT_DENIED = 8,        ///< was not fetched, as robots.txt forbids it
  CRWL_EVENT_DUPLICATE = 9      ///< has the content of another page
};

/// One thing that happened to one page.
///   url, index        the page: by URL, or where pages have none by index
///   time_us           microseconds since 1970 in UTC; 0: now
///   score             what the page is worth, finite; 0: no opinion
///   http_status       what the server answered; 0: not known
///   content_hash      of CRWL_EVENT_PAGE, at most 64 bytes; NULL: not known
///   links             targets by URL; else, where pages have no URLs, link_indexes
///   link_count        of link_indexes
///   link_scores       for each link what its target is worth; NULL: no opinion
typedef struct crwl_event {
  uint32_t struct_size;
  uint16_t kind;
  uint16_t http_status;
  const char* url;
  size_t url_bytes;
  uint64_t index;
  int64_t time_us;
  const void* content_hash;
  size_t content_hash_bytes;
  crwl_texts links;
  const uint64_t* link_indexes;
  uint64_t link_count;
  const float* link_scores;
  double score;
} crwl_event;

/// Counts, but for the first two as of the last merge.
typedef struct crwl_pages_status {
  uint32_t struct_size;
  uint32_t has_urls;
  uint64_t edit_count;    ///< that wait
  uint64_t memory_bytes;  ///< of what waits
  uint64_t page_count;
  uint64_t crawled_count;  ///< pages fetched at least once
  uint64_t link_count;     ///< distinct pairs
} crwl_pages_status;

/// Opens the database `name` (NULL: "pages"), or makes it. errors 80 it is open, 88, 83
int crwl_pages_open(crwl_store* store, const char* name, const crwl_pages_options* options,
                    crwl_pages** pages, crwl_error* error);
/// Adds one edit. errors 80 a number that cannot be, 85 a URL over 16 MiB or a hash over 64 bytes;
/// those of crwl_pages_merge, when memory was full: the edit was taken all the same
int crwl_pages_add(crwl_pages* pages, const crwl_event* event, crwl_error* error);
/// Makes pages and links of all edits, and commits. Pages get indexes 0, 1, 2 ... in the order in
/// which edits named them first. errors 60 and its like, 89: the edits still wait; 83
///   progress  NULL: nobody is told
int crwl_pages_merge(crwl_pages* pages, crwl_progress progress, void* context, crwl_error* error);
/// Joins what supersteps wrote: smaller, and faster to read. Merges first.
///   cost  reads and writes all links, URLs and keys
int crwl_pages_compact(crwl_pages* pages, crwl_progress progress, void* context, crwl_error* error);
int crwl_pages_get_status(crwl_pages* pages, crwl_pages_status* status, crwl_error* error);
void crwl_pages_free(crwl_pages* pages);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
