// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading pages and links; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_error.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// The pages of one generation, for reading, by any process beside the writer. While it is open the
/// generation stays as it is. Edits that wait are not seen. Threads: any number, but
/// crwl_view_refresh needs it for oneself.
typedef struct crwl_view crwl_view;

/// The view and its pages as a whole.
typedef struct crwl_view_info {
  uint32_t struct_size;
  uint32_t has_urls;       ///< 0: pages have indexes only
  uint64_t generation;     ///< that it shows
  uint64_t page_count;     ///< indexes are below it
  uint64_t crawled_count;  ///< pages fetched at least once
  uint64_t link_count;     ///< distinct pairs of pages
  uint64_t event_count;    ///< edits that wait in the file
  uint8_t uuid[16];        ///< names the store for its whole life
} crwl_view_info;

/// Opens the newest generation of a file. errors 87 no page database `name` (NULL: "pages")
int crwl_view_open(const char* path, const char* name, crwl_view** view, crwl_error* error);
/// Goes on to the newest generation. Objects made from the view keep the one that they have.
///   changed  gets 1 if there is a newer one, else 0; may be NULL
///   errors   43 another file is at the path; after an error the view is as it was
int crwl_view_refresh(crwl_view* view, int* changed, crwl_error* error);
/// Counts of the generation. cost nothing is read
int crwl_view_get_info(const crwl_view* view, crwl_view_info* info, crwl_error* error);
/// The index of a URL; UINT64_MAX if no page has it.
int crwl_view_find(const crwl_view* view, const char* url, size_t url_bytes, uint64_t* index,
                   crwl_error* error);

/// Columns of pages, each an array of `capacity` entries, or NULL: not wanted.
///   first_page   the page of row 0
///   row_count    gets the rows that were filled: fewer than `capacity` where pages end, or where
///                url_capacity does
///   linked_from  the page that linked to it first; UINT64_MAX: a seed
///   state        0 known, 1 crawled, 2 gone, 3 failed, 4 redirect, 5 denied, 6 duplicate,
///                7 elsewhere (of another shard)
///   *_crawl_us   microseconds since 1970 in UTC; 0: never
///   urls         the texts, one after another; url_ends: where each ends, `capacity` entries
///   url_capacity of urls, in bytes; both are NULL, or none
typedef struct crwl_page_columns {
  uint32_t struct_size;
  uint64_t first_page;
  uint64_t capacity;
  uint64_t row_count;
  uint64_t* linked_from;
  uint32_t* depth;
  uint8_t* state;
  uint16_t* http_status;
  uint32_t* crawl_count;
  uint32_t* change_count;
  uint32_t* failure_count;
  int64_t* first_crawl_us;
  int64_t* last_crawl_us;
  float* score;
  char* urls;
  uint64_t url_capacity;
  uint64_t* url_ends;
} crwl_page_columns;

/// Fills columns, beginning with the page `first_page`. errors 85 the first URL does not fit
///   cost  one pass over the URLs and records of these pages
int crwl_view_get_columns(const crwl_view* view, crwl_page_columns* columns, crwl_error* error);

/// The links as a sparse matrix of rows (CSR): row i has the columns from indptr[i] to
/// indptr[i + 1] of `indices`, ascending.
///   incoming     0: rows are pages with those that they link to; 1: with those that link to them
///   index_bytes  of both arrays: 4 signed, or 8
///   indptr       page_count + 1 entries of the info
///   indices      `capacity` entries; link_count of the info is enough
///   link_count   gets the entries of `indices`
typedef struct crwl_links {
  uint32_t struct_size;
  uint32_t incoming;
  uint32_t index_bytes;
  void* indptr;
  void* indices;
  uint64_t capacity;
  uint64_t link_count;
} crwl_links;

/// Fills both arrays. errors 85 capacity is too small, or 4 bytes are, for 2^31 pages or links
///   cost  reads all links once, some 100 million a second
int crwl_view_get_links(const crwl_view* view, crwl_links* links, crwl_error* error);
void crwl_view_free(crwl_view* view);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
