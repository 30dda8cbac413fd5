// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of the calls in c_frontier.h; part of crawlstore.h, which has the rules of all.
/// Times are milliseconds since 1970, durations milliseconds. Ids are those that crwl_frontier_put
/// gave, or the caller's. Columns are arrays of one entry for each item; those that callers pass
/// are read during the call, those of crwl_taken live as long as it does.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_error.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// The visits that a group gets: a take of one or more of its items is one.
///   is_active         0: no visit
///   delay_ms          between visits
///   hard_ms           where no other group may be visited; at most delay_ms
///   burst             visits at once after a time without any; at least 1
///   in_flight_max     items that are leased at a time; at least 1
///   blocked_until_ms  no visit before this time
///   put_max           items that may ever be put; UINT32_MAX: no limit
///   finished_max      nothing is put when so many were finished; UINT32_MAX: no limit
///   parent            a group whose rule a visit must keep, too; NULL: none
typedef struct crwl_rule {
  uint32_t struct_size;
  uint32_t is_active;
  uint64_t delay_ms;
  uint64_t hard_ms;
  uint64_t blocked_until_ms;
  uint32_t burst;
  uint32_t in_flight_max;
  uint32_t put_max;
  uint32_t finished_max;
  const char* parent;
  size_t parent_bytes;
} crwl_rule;

/// Items in columns; all have as many entries as `groups`.
///   groups         the group of each, at most 65,535 bytes
///   bodies         of each at most 65,536 bytes; none at all: all are empty
///   priorities     the highest of a group leaves first; NULL: all are 0
///   not_before_ms  0: at once; NULL: all are
///   ids            where they are the caller's, below 2^63; else NULL
///   attempts       how often each was taken; only of items that are shown, and so is
///   until_ms       the end of its lease; 0: never; UINT64_MAX: it waits. NULL: not of items found
typedef struct crwl_items {
  uint32_t struct_size;
  crwl_texts groups;
  crwl_texts bodies;
  const double* priorities;
  const uint64_t* not_before_ms;
  const uint64_t* ids;
  const uint32_t* attempts;
  const uint64_t* until_ms;
} crwl_items;

/// Items that were taken, or found. Owns what crwl_taken_get_items shows; needs no frontier.
typedef struct crwl_taken crwl_taken;

/// The order of the groups that may be visited; items of a group come by their priorities.
enum { CRWL_TAKE_BEST = 0, CRWL_TAKE_LONGEST_WAITING = 1 };

///   order      CRWL_TAKE_BEST ...
///   per_group  items of one group at most; 0: 1
///   count      items at most; 0: 1
///   lease_ms   0: ten minutes; UINT64_MAX: for ever
///   now_ms     for tests and replays; 0: the time that it is; here and below
typedef struct crwl_take_options {
  uint32_t struct_size;
  uint32_t order;
  uint64_t per_group;
  uint64_t count;
  uint64_t lease_ms;
  uint64_t now_ms;
} crwl_take_options;

/// Items that were taken, by their ids: for crwl_frontier_finish and crwl_frontier_extend.
///   now_ms  an item whose lease ended before is late; 0: the time that it is
typedef struct crwl_leases {
  uint32_t struct_size;
  uint64_t count;
  const uint64_t* ids;
  uint64_t now_ms;
} crwl_leases;

/// Items to be given back, in columns of `count` entries.
///   not_before_ms  0: at once; NULL: all are
///   is_failure     1: the group is visited less often, until a success; NULL: none is
typedef struct crwl_given_back {
  uint32_t struct_size;
  uint64_t count;
  const uint64_t* ids;
  const uint64_t* not_before_ms;
  const uint8_t* is_failure;
  uint64_t now_ms;
} crwl_given_back;

/// Counts of ids by what became of them.
typedef struct crwl_done {
  uint32_t struct_size;
  uint64_t done_count;
  uint64_t late_count;     ///< their lease had ended
  uint64_t unknown_count;  ///< never taken, or finished before
} crwl_done;

/// Counts of a rewrite.
typedef struct crwl_rewritten {
  uint32_t struct_size;
  uint64_t changed_count;  ///< items that got another priority
  uint64_t removed_count;
} crwl_rewritten;

/// Told group, id and priority of an item that waits; must not use the frontier. Returns CRWL_YES:
/// the item stays, with what is in `priority` then; CRWL_NO: it goes; any other number stops.
typedef int (*crwl_rewrite)(void* context, const char* group, size_t group_bytes, uint64_t id,
                            double* priority);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
