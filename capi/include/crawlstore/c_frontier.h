// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The items that a crawl has still to fetch; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_frontier_items.h>
#include <crawlstore/c_store.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// Items with bodies, such as requests, that wait in groups, such as hosts, until they are taken.
/// An item that was taken is leased: it is finished, given back, or comes back when its lease ends.
/// Changes wait for the next commit; only crwl_frontier_take commits by itself. Times are
/// milliseconds since 1970, as now_ms of the status has them.
typedef struct crwl_frontier crwl_frontier;

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

/// The names of a frontier of pages, and of its pages. NULL: "frontier", and "pages".
typedef struct crwl_frontier_names {
  uint32_t struct_size;
  const char* name;
  const char* pages;
} crwl_frontier_names;

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
/// The same of a frontier whose items are pages: their ids, which are the caller's, are indexes of
/// pages, their groups hosts, and their bodies empty. So the command and the inspector know URLs.
///   errors  80, too: the frontier is there, and not of these pages
int crwl_frontier_open_pages(crwl_store* store, const crwl_frontier_names* names,
                             const crwl_frontier_options* options, crwl_frontier** frontier,
                             crwl_error* error);
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
/// Shows items: arrays that live until crwl_taken_free. Taken ones have
/// NULL as not_before_ms and until_ms.
int crwl_taken_get_items(const crwl_taken* taken, crwl_items* items, crwl_error* error);
void crwl_taken_free(crwl_taken* taken);
/// Items are done, and go.
///   done  may be NULL, here and below
int crwl_frontier_finish(crwl_frontier* frontier, const crwl_leases* items, crwl_done* done,
                         crwl_error* error);
/// Leases end: the items wait again.
int crwl_frontier_give_back(crwl_frontier* frontier, const crwl_given_back* items, crwl_done* done,
                            crwl_error* error);
/// All leases end, as when the only program that takes was killed and begins again.
///   count  gets how many; may be NULL
int crwl_frontier_give_back_all(crwl_frontier* frontier, uint64_t* count, crwl_error* error);
/// Leases end at another time; 0: never. errors 80 a time
int crwl_frontier_extend(crwl_frontier* frontier, const crwl_leases* items, uint64_t until_ms,
                         crwl_done* done, crwl_error* error);
/// Gives items that wait, by groups and ids, what else is in the columns: as crwl_frontier_put has
/// it, but that without bodies each keeps its own. Those that do not wait are left as they are.
///   updated  gets how many were; may be NULL
///   errors   as crwl_frontier_put, and then nothing has changed
int crwl_frontier_update(crwl_frontier* frontier, const crwl_items* items, uint64_t* updated,
                         crwl_error* error);
/// Items that wait, by groups and ids, are gone; those that are leased stay.
///   removed  gets how many are; may be NULL
int crwl_frontier_remove(crwl_frontier* frontier, const crwl_items* items, uint64_t* removed,
                         crwl_error* error);
/// Finds items, by groups and ids, that wait or are leased; the others are left out.
///   cost  of each a look through all of its group
int crwl_frontier_find(crwl_frontier* frontier, const crwl_items* items, crwl_taken** found,
                       crwl_error* error);
/// Asks for new priorities of all that waits, and commits; after an error nothing has changed.
///   done    may be NULL
///   errors  80 it said NaN; 83 in a transaction; 89 it stopped; those of a commit
int crwl_frontier_rewrite(crwl_frontier* frontier, crwl_rewrite priority_of, void* context,
                          crwl_rewritten* done, crwl_error* error);
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
