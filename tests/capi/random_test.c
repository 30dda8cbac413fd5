// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface with NULLs and sizes of structs by chance, of CRAWLSTORE_TEST_SEED, for
// a second. Nothing may crash, and what must not be gives 80.
#include <time.h>

#include "check.h"

/// Bytes of which a struct may say that it has them.
enum { kRoomBytes = 4096, kRooms = 3 };

/// The source of chance, the room that is used next, and whether an argument must be refused.
static struct {
  uint64_t random;
  uint64_t room_count;
  int is_bad;
} state;

/// Room for structs, aligned for each of them.
static union {
  uint64_t align;
  unsigned char bytes[kRoomBytes];
} rooms[kRooms];

static uint64_t below(uint64_t bound) {
  state.random ^= state.random << 13;
  state.random ^= state.random >> 7;
  state.random ^= state.random << 17;
  return (state.random >> 11) % bound;
}

/// A pointer that must not be NULL; now and then it is.
static void* need_some(const void* pointer) {
  if (below(8) != 0) return (void*)(uintptr_t)pointer;
  state.is_bad = 1;
  return NULL;
}

/// A pointer that may be NULL.
static void* may_be(const void* pointer) {
  return below(4) == 0 ? NULL : (void*)(uintptr_t)pointer;
}

/// A struct of zeros, whose size is right, too large but zero, or wrong.
static void* sized(size_t bytes) {
  unsigned char* room = rooms[state.room_count++ % kRooms].bytes;
  memset(room, 0, kRoomBytes);
  uint32_t size = (uint32_t)bytes;
  const uint64_t kind = below(8);
  if (kind == 0) size = (uint32_t)below(bytes);
  if (kind == 1) size = (uint32_t)(kRoomBytes + 1 + below(UINT32_MAX - kRoomBytes));
  if (kind == 2) size = (uint32_t)(bytes + below(kRoomBytes - bytes + 1));
  if (size < bytes || size > kRoomBytes) state.is_bad = 1;
  memcpy(room, &size, sizeof size);
  return room;
}

/// Structs that a call fills or reads: one that must be given, and one that may be NULL.
#define GIVEN(type) ((type*)need_some(sized(sizeof(type))))
#define OPTIONAL(type) (below(4) == 0 ? NULL : (type*)sized(sizeof(type)))

static const uint64_t kWords[] = {1, 2, 3};
static const double kDoubles[] = {1, 2, 3};
static crwl_error details;

/// Details of a failure, which are left alone where the size is wrong.
static crwl_error* some_error(void) {
  details = (crwl_error){.struct_size = sizeof details};
  if (below(2) == 0) details.struct_size = (uint32_t)below(sizeof details);
  return may_be(&details);
}

/// Items of three groups with ids.
static const crwl_items* some_items(void) {
  crwl_items* items = GIVEN(crwl_items);
  if (items == NULL) return NULL;
  items->groups = (crwl_texts){.bytes = need_some("aab"), .ends = need_some(kWords), .count = 3};
  items->ids = need_some(kWords);
  items->priorities = may_be(kDoubles);
  items->not_before_ms = may_be(kWords);
  return items;
}

static const crwl_leases* some_leases(void) {
  crwl_leases* leases = GIVEN(crwl_leases);
  if (leases == NULL) return NULL;
  leases->count = 3;
  leases->ids = need_some(kWords);
  return leases;
}

static const crwl_texts* some_texts(void) {
  static crwl_texts texts;
  texts = (crwl_texts){.bytes = need_some("abc"), .ends = need_some(kWords), .count = 3};
  return need_some(&texts);
}

static int call_sets(crwl_seen* seen, crwl_keys* keys) {
  uint8_t verdicts[3];
  switch (below(8)) {
    case 0:
      return crwl_seen_insert_many(need_some(seen), some_texts(), need_some(verdicts),
                                   some_error());
    case 1:
      return crwl_seen_contains_many(need_some(seen), some_texts(), need_some(verdicts),
                                     some_error());
    case 2:
      return crwl_seen_insert(need_some(seen), need_some("b"), 1, need_some(verdicts),
                              some_error());
    case 3:
      return crwl_seen_contains(need_some(seen), need_some("b"), 1, need_some(verdicts),
                                some_error());
    case 4:
      return crwl_seen_get_status(need_some(seen), GIVEN(crwl_set_status), some_error());
    case 5:
      return crwl_keys_insert(need_some(keys), need_some(kWords), 3, need_some(verdicts),
                              some_error());
    case 6:
      return crwl_keys_add(need_some(keys), need_some(kWords), 3, some_error());
    default:
      return crwl_keys_get_status(need_some(keys), GIVEN(crwl_set_status), some_error());
  }
}

static int call_pages(crwl_pages* pages) {
  if (below(2) == 0) {
    return crwl_pages_get_status(need_some(pages), GIVEN(crwl_pages_status), some_error());
  }
  crwl_event* event = GIVEN(crwl_event);
  if (event != NULL) {
    event->url = need_some("http://a.test/");
    event->url_bytes = 14;
    event->links = (crwl_texts){.bytes = need_some("abc"), .ends = need_some(kWords), .count = 3};
  }
  return crwl_pages_add(need_some(pages), event, some_error());
}

static int call_view(crwl_view* view) {
  static uint64_t numbers[4];
  crwl_page_columns* columns = NULL;
  crwl_links* links = NULL;
  switch (below(4)) {
    case 0:
      return crwl_view_get_info(need_some(view), GIVEN(crwl_view_info), some_error());
    case 1:
      return crwl_view_find(need_some(view), need_some("a"), 1, need_some(numbers), some_error());
    case 2:
      columns = GIVEN(crwl_page_columns);
      if (columns != NULL) {
        columns->capacity = 1;
        columns->linked_from = may_be(numbers);
        columns->state = may_be(numbers + 1);
        columns->score = may_be(numbers + 2);
      }
      return crwl_view_get_columns(need_some(view), columns, some_error());
    default:
      links = GIVEN(crwl_links);
      if (links != NULL) {
        links->index_bytes = 8;
        links->indptr = need_some(numbers);
      }
      return crwl_view_get_links(need_some(view), links, some_error());
  }
}

static int call_queue(crwl_queue* queue) {
  static uint64_t pages[3];
  static double priorities[3];
  uint64_t count = 3;
  switch (below(4)) {
    case 0:
      return crwl_queue_push(need_some(queue), need_some(kWords), may_be(kDoubles), 3,
                             some_error());
    case 1:
      return crwl_queue_pop(need_some(queue), need_some(pages), may_be(priorities),
                            need_some(&count), some_error());
    case 2:
      return crwl_queue_remove(need_some(queue), need_some(kWords), 3, may_be(&count),
                               some_error());
    default:
      return crwl_queue_get_count(need_some(queue), need_some(&count), some_error());
  }
}

/// Calls that answer with items; these are shown and freed.
static int take_or_find(crwl_frontier* frontier) {
  crwl_taken* taken = NULL;
  crwl_taken** out = need_some(&taken);
  const int given = below(2) == 0 ? crwl_frontier_find(need_some(frontier), some_items(), out, NULL)
                                  : crwl_frontier_take(need_some(frontier),
                                                       OPTIONAL(crwl_take_options), out, NULL);
  CHECK((taken != NULL) == (given == 0));
  if (given != 0) return given;
  const int shown = crwl_taken_get_items(need_some(taken), GIVEN(crwl_items), some_error());
  crwl_taken_free(taken);
  return shown;
}

static int call_frontier(crwl_frontier* frontier) {
  uint64_t count = 0;
  uint8_t refused[3];
  crwl_given_back* back = NULL;
  crwl_rule* rule = NULL;
  switch (below(8)) {
    case 0:
      return crwl_frontier_put(need_some(frontier), some_items(), may_be(&count), may_be(refused),
                               some_error());
    case 1:
      return take_or_find(frontier);
    case 2:
      return crwl_frontier_finish(need_some(frontier), some_leases(), OPTIONAL(crwl_done),
                                  some_error());
    case 3:
      return crwl_frontier_extend(need_some(frontier), some_leases(), 0, OPTIONAL(crwl_done),
                                  some_error());
    case 4:
      return crwl_frontier_update(need_some(frontier), some_items(), may_be(&count), some_error());
    case 5:
      return crwl_frontier_remove(need_some(frontier), some_items(), may_be(&count), some_error());
    case 6:
      back = GIVEN(crwl_given_back);
      if (back != NULL) {
        back->count = 3;
        back->ids = need_some(kWords);
        back->not_before_ms = may_be(kWords);
      }
      return crwl_frontier_give_back(need_some(frontier), back, OPTIONAL(crwl_done), some_error());
    default:
      rule = GIVEN(crwl_rule);
      if (rule != NULL) rule->burst = rule->in_flight_max = rule->put_max = UINT32_MAX;
      return crwl_frontier_set_rule(need_some(frontier), need_some("a"), 1, rule, some_error());
  }
}

static int call_store(crwl_store* store) {
  crwl_transaction* transaction = NULL;
  int given = 0;
  switch (below(3)) {
    case 0:
      return crwl_store_get_info(need_some(store), GIVEN(crwl_store_info), some_error());
    case 1:
      return crwl_store_commit(need_some(store), NULL, some_error());
    default:
      given = crwl_transaction_begin(need_some(store), need_some(&transaction), some_error());
      crwl_transaction_free(transaction);
      return given;
  }
}

void test_random_calls(const char* folder) {
  char path[256];
  crwl_store* store = new_store(folder, "random.crawl");
  crwl_seen* seen = NULL;
  crwl_keys* keys = NULL;
  crwl_pages* pages = NULL;
  crwl_view* view = NULL;
  crwl_queue* queue = NULL;
  crwl_frontier* frontier = NULL;
  OK(crwl_seen_open(store, NULL, NULL, &seen, &error));
  OK(crwl_keys_open(store, NULL, NULL, &keys, &error));
  OK(crwl_pages_open(store, NULL, NULL, &pages, &error));
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  OK(crwl_queue_open(store, NULL, NULL, &queue, &error));
  const crwl_frontier_options own_ids = {.struct_size = sizeof own_ids, .has_own_ids = 1};
  OK(crwl_frontier_open(store, NULL, &own_ids, &frontier, &error));
  OK(crwl_view_open(path_in(folder, "random.crawl", path), NULL, &view, &error));
  const char* seed = getenv("CRAWLSTORE_TEST_SEED");
  state.random = (seed == NULL ? 1 : strtoull(seed, NULL, 10)) * 2 + 1;
  struct timespec start;
  struct timespec now;
  timespec_get(&start, TIME_UTC);
  uint64_t bad_count = 0;
  uint64_t good_count = 0;
  for (uint64_t step = 0; timespec_get(&now, TIME_UTC) != 0; ++step) {
    if (now.tv_sec > start.tv_sec + (now.tv_nsec < start.tv_nsec)) break;
    const uint64_t group = below(6);
    state.is_bad = 0;
    const int given = group == 0   ? call_sets(seen, keys)
                      : group == 1 ? call_pages(pages)
                      : group == 2 ? call_view(view)
                      : group == 3 ? call_queue(queue)
                      : group == 4 ? call_frontier(frontier)
                                   : call_store(store);
    bad_count += (uint64_t)state.is_bad;
    good_count += (uint64_t)(given == 0);
    CHECK(details.code == 0 || details.code == given);
    if (!state.is_bad || given == kInvalidArgument) continue;
    fprintf(stderr, "step %" PRIu64 " of seed %s, group %" PRIu64 ": %d\n", step,
            seed == NULL ? "0" : seed, group, given);
    exit(1);
  }
  CHECK(bad_count > 100 && good_count > 100);
  crwl_view_free(view);
  crwl_frontier_free(frontier);
  crwl_queue_free(queue);
  crwl_pages_free(pages);
  crwl_keys_free(keys);
  crwl_seen_free(seen);
  crwl_store_free(store);
}
