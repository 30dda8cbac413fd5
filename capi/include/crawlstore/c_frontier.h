// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The items that a crawl has still to fetch; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_store.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// Items with bodies, such as requests, that wait in groups, such as hosts, until they are taken.
/// An item that was taken is leased: it is finished, given back, or comes back when its lease ends.
/// What is done waits for the next commit, but for crwl_frontier_take, which commits. Times are
/// milliseconds since 1970, as now_ms of the status has them.
typedef struct crwl_frontier crwl_frontier;

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

/// Fills a rule with the defaults: a visit each second, one item at a time.
int crwl_rule_init(crwl_rule* rule, crwl_error* error);

///   has_own_ids       1: ids are the caller's, in a frontier that is made now
///   without_commits   1: a take does not commit; for callers who commit themselves
///   default_rule      of groups without one, in a frontier that is made now; NULL: the default
///   checkpoint_bytes  of steps, after which the state is written anew; 0: 8 MiB
typedef struct crwl_frontier_options {
  uint32_t struct_size;
  uint16_t has_own_ids;
  uint16_t without_commits;
  const crwl_rule* default_rule;
  uint64_t checkpoint_bytes;
} crwl_frontier_options;

/// Items in columns; all have as many entries as `groups`.
///   groups         the group of each, at most 65,535 bytes
///   bodies         of each at most 65,536 bytes; none at all: all are empty
///   priorities     the highest of a group leaves first; NULL: all are 0
///   not_before_ms  0: at once; NULL: all are
///   ids            where they are the caller's, below 2^63; else NULL
///   attempts       of items that were taken: 1 the first time; not read by crwl_frontier_put
typedef struct crwl_items {
  uint32_t struct_size;
  crwl_texts groups;
  crwl_texts bodies;
  const double* priorities;
  const uint64_t* not_before_ms;
  const uint64_t* ids;
  const uint32_t* attempts;
} crwl_items;

/// Items that were taken. Owns what crwl_taken_get_items shows; needs no frontier any more.
typedef struct crwl_taken crwl_taken;

/// The order of the groups that may be visited; items of a group come by their priorities.
enum { CRWL_TAKE_BEST = 0, CRWL_TAKE_LONGEST_WAITING = 1 };

///   order      CRWL_TAKE_BEST ...
///   per_group  items of one group at most; 0: 1
///   count      items at most; 0: 1
///   lease_ms   0: ten minutes; UINT64_MAX: for ever
///   now_ms     for tests and replays; 0: the time that it is
typedef struct crwl_take_options {
  uint32_t struct_size;
  uint32_t order;
  uint64_t per_group;
  uint64_t count;
  uint64_t lease_ms;
  uint64_t now_ms;
} crwl_take_options;

/// Items to be given back, in columns of `count` entries.
///   not_before_ms  0: at once; NULL: all are
///   is_failure     1: the group is visited less often, until a success; NULL: none is
typedef struct crwl_given_back {
  uint32_t struct_size;
  uint64_t count;
  const uint64_t* ids;
  const uint64_t* not_before_ms;
  const uint8_t* is_failure;
} crwl_given_back;

/// Counts of ids by what became of them.
typedef struct crwl_done {
  uint32_t struct_size;
  uint64_t done_count;
  uint64_t late_count;     ///< their lease had ended
  uint64_t unknown_count;  ///< never taken, or finished before
} crwl_done;

/// A frontier as it is now, with what has not been committed.
typedef struct crwl_frontier_status {
  uint32_t struct_size;
  uint64_t waiting_count;
  uint64_t leased_count;
  uint64_t next_id;      ///< above all ids that were ever put
  uint64_t now_ms;       ///< the time, as a take has it
  uint64_t next_due_ms;  ///< from which there may be something to take; UINT64_MAX: never
} crwl_frontier_status;

/// Opens the frontier `name` (NULL: "frontier"), or makes it. errors 80 it is open, a rule, 83
int crwl_frontier_open(crwl_store* store, const char* name, const crwl_frontier_options* options,
                       crwl_frontier** frontier, crwl_error* error);
/// Puts all items but those beyond a limit of their group, or none after an error.
///   first_id  gets the id of the first that was put, the others follow; may be NULL
///   refused   gets 1 for each that was refused, else 0; may be NULL
///   errors    80 a priority, a time or an id that cannot be; 85 a group or a body
int crwl_frontier_put(crwl_frontier* frontier, const crwl_items* items, uint64_t* first_id,
                      uint8_t* refused, crwl_error* error);
/// Takes the best items of groups that may be visited now, none if there are none, and commits.
///   errors  those of a commit: nothing is taken; 66: what was taken comes back with its lease
int crwl_frontier_take(crwl_frontier* frontier, const crwl_take_options* options,
                       crwl_taken** taken, crwl_error* error);
/// Shows items: arrays that live until crwl_taken_free. not_before_ms is NULL.
int crwl_taken_get_items(const crwl_taken* taken, crwl_items* items, crwl_error* error);
void crwl_taken_free(crwl_taken* taken);
/// Items are done, and go.
///   done  may be NULL, here and below
int crwl_frontier_finish(crwl_frontier* frontier, const uint64_t* ids, uint64_t count,
                         crwl_done* done, crwl_error* error);
/// Leases end: the items wait again.
int crwl_frontier_give_back(crwl_frontier* frontier, const crwl_given_back* items, crwl_done* done,
                            crwl_error* error);
/// All leases end, as when the only program that takes was killed and begins again.
///   count  gets how many; may be NULL
int crwl_frontier_give_back_all(crwl_frontier* frontier, uint64_t* count, crwl_error* error);
/// Leases end at another time; 0: never.
int crwl_frontier_extend(crwl_frontier* frontier, const uint64_t* ids, uint64_t count,
                         uint64_t until_ms, crwl_error* error);
/// Sets the rule of a group, which is made if there is none. errors 80
int crwl_frontier_set_rule(crwl_frontier* frontier, const char* group, size_t group_bytes,
                           const crwl_rule* rule, crwl_error* error);
/// All items of a group that wait are gone; those that are leased stay.
///   dropped  gets how many; may be NULL
int crwl_frontier_drop_group(crwl_frontier* frontier, const char* group, size_t group_bytes,
                             uint64_t* dropped, crwl_error* error);
int crwl_frontier_get_status(const crwl_frontier* frontier, crwl_frontier_status* status,
                             crwl_error* error);
void crwl_frontier_free(crwl_frontier* frontier);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
