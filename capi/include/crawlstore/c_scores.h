// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scores of pages; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_store.h>
#include <crawlstore/c_view.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// An array of scores, by page index. It keeps its generation.
typedef struct crwl_scores crwl_scores;

/// An array, and the computation that it came from.
typedef struct crwl_scores_info {
  uint32_t struct_size;
  uint32_t has_doubles;  ///< else floats
  uint64_t value_count;
  uint64_t generation;  ///< that was read to compute them
  int64_t time_us;      ///< microseconds since 1970 in UTC
  double sum;
  double residual;  ///< the change of the last iteration, summed
  uint32_t iteration_count;
  uint32_t is_stale;  ///< 1: pages or links have changed since
} crwl_scores_info;

/// Opens the array `name` (NULL: "pagerank"). errors 87 there is none, 88 of hosts
int crwl_scores_open(const crwl_view* view, const char* name, crwl_scores** scores,
                     crwl_error* error);
int crwl_scores_get_info(const crwl_scores* scores, crwl_scores_info* info, crwl_error* error);
/// The whole array as it is mapped from the file, read-only, until crwl_scores_free.
///   errors  88 it has doubles, or floats; damage
///   cost    the first call verifies the array, later ones nothing
int crwl_scores_floats(const crwl_scores* scores, const float** values, uint64_t* count,
                       crwl_error* error);
int crwl_scores_doubles(const crwl_scores* scores, const double** values, uint64_t* count,
                        crwl_error* error);
void crwl_scores_free(crwl_scores* scores);

/// Stores scores of one's own for the pages of `view`, in a commit of its own.
///   values  page_count of the view, finite and not negative
///   errors  80 the view is of another file; 87 pages were forgotten since; 83
int crwl_scores_store(crwl_store* store, const crwl_view* view, const char* name,
                      const float* values, crwl_error* error);

///   database        NULL: "pages"
///   name            of the array; NULL: "pagerank". HITS and OPIC have names of their own
///   damping         0: 0.85
///   precision       the change of an iteration that is small enough; 0: 1e-6
///   max_iterations  0: 300
///   thread_count    0: all cores; the result is the same
///   memory_bytes    0: three quarters of the machine's
typedef struct crwl_rank_options {
  uint32_t struct_size;
  uint32_t max_iterations;
  const char* database;
  const char* name;
  double damping;
  double precision;
  uint64_t memory_bytes;
  uint64_t thread_count;
} crwl_rank_options;

/// The end of a computation; of "hits" that of authorities, of "opic" that of cash.
typedef struct crwl_rank_report {
  uint32_t struct_size;
  uint32_t converged;  ///< 0: precision was not reached, and nothing was stored
  uint64_t page_count;
  uint64_t link_count;
  uint64_t iteration_count;
  double residual;
} crwl_rank_report;

/// Computes scores and stores them, in a commit of its own or, inside a transaction, as part of it:
/// "pagerank", "hits" (the arrays "authorities" and "hubs"), "opic" ("opic_cash", "opic_history",
/// "opic_crawls").
///   report  may be NULL
///   errors  87 no such method or database; 80 options
///   cost    reads the links twice; memory about 4 bytes a link and 40 a page
int crwl_store_rank(crwl_store* store, const char* method, const crwl_rank_options* options,
                    crwl_rank_report* report, crwl_error* error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
