// SPDX-License-Identifier: Apache-2.0
// Frontiers through the C interface.
#include "check.h"

static const uint64_t kGroupEnds[] = {1, 2, 3};
static const uint64_t kBodyEnds[] = {5, 5, 8};
static const double kPriorities[] = {1, 3, 2};

/// Items of the groups a, a and b: "first", nothing, "two".
static crwl_items three_items(void) {
  const crwl_items items = {.struct_size = sizeof items,
                            .groups = {.bytes = "aab", .ends = kGroupEnds, .count = 3},
                            .bodies = {.bytes = "firsttwo", .ends = kBodyEnds, .count = 3},
                            .priorities = kPriorities};
  return items;
}

static crwl_frontier* open_frontier(crwl_store* store) {
  crwl_rule rule = {.struct_size = sizeof rule};
  OK(crwl_rule_init(&rule, &error));
  CHECK(rule.is_active == 1 && rule.burst == 1 && rule.put_max == UINT32_MAX);
  rule.in_flight_max = 2;
  rule.delay_ms = rule.hard_ms = 100;
  const crwl_frontier_options options = {.struct_size = sizeof options, .default_rule = &rule};
  crwl_frontier* frontier = NULL;
  OK(crwl_frontier_open(store, NULL, &options, &frontier, &error));
  return frontier;
}

static void takes_what_was_put(const char* folder) {
  crwl_store* store = new_store(folder, "frontier.crawl");
  crwl_frontier* frontier = open_frontier(store);
  const crwl_items put = three_items();
  uint64_t first_id = 9;
  uint8_t refused[3] = {9, 9, 9};
  OK(crwl_frontier_put(frontier, &put, &first_id, refused, &error));
  CHECK(refused[0] == 0 && refused[1] == 0 && refused[2] == 0);

  const crwl_take_options options = {.struct_size = sizeof options, .count = 10};
  crwl_taken* taken = NULL;
  OK(crwl_frontier_take(frontier, &options, &taken, &error));
  crwl_items items = {.struct_size = sizeof items};
  OK(crwl_taken_get_items(taken, &items, &error));
  CHECK(items.groups.count == 2 && items.bodies.count == 2);
  CHECK(memcmp(items.groups.bytes, "ab", 2) == 0 && items.groups.ends[1] == 2);
  CHECK(items.bodies.ends[0] == 0 && items.bodies.ends[1] == 3);
  CHECK(memcmp(items.bodies.bytes, "two", 3) == 0);
  CHECK(items.ids[0] == first_id + 1 && items.ids[1] == first_id + 2);
  CHECK(items.priorities[0] == 3 && items.attempts[1] == 1 && items.not_before_ms == NULL);
  crwl_frontier_status status = {.struct_size = sizeof status};
  OK(crwl_frontier_get_status(frontier, &status, &error));
  CHECK(status.waiting_count == 1 && status.leased_count == 2 && status.next_id == first_id + 3);
  CHECK(status.now_ms > 0 && status.next_due_ms != UINT64_MAX);

  crwl_done done = {.struct_size = sizeof done};
  const uint64_t ids[] = {first_id + 1, first_id + 99};
  OK(crwl_frontier_extend(frontier, ids, 1, 0, &error));
  OK(crwl_frontier_finish(frontier, ids, 2, &done, &error));
  CHECK(done.done_count == 1 && done.late_count == 0 && done.unknown_count == 1);
  const uint64_t two = first_id + 2;
  const uint64_t later = status.now_ms + 1000;
  const uint8_t failure = 1;
  const crwl_given_back back = {.struct_size = sizeof back,
                                .count = 1,
                                .ids = &two,
                                .not_before_ms = &later,
                                .is_failure = &failure};
  OK(crwl_frontier_give_back(frontier, &back, &done, &error));
  CHECK(done.done_count == 1);
  crwl_frontier_free(frontier);
  crwl_store_free(store);
  CHECK(memcmp(items.groups.bytes, "ab", 2) == 0);
  crwl_taken_free(taken);
}

static void keeps_leases_until_all_are_given_back(const char* folder) {
  char path[256];
  crwl_store* store = new_store(folder, "leases.crawl");
  crwl_frontier* frontier = open_frontier(store);
  const crwl_items put = three_items();
  OK(crwl_frontier_put(frontier, &put, NULL, NULL, &error));
  crwl_taken* taken = NULL;
  const crwl_take_options both = {.struct_size = sizeof both,
                                  .order = CRWL_TAKE_LONGEST_WAITING,
                                  .count = 3,
                                  .per_group = 2,
                                  .lease_ms = UINT64_MAX};
  OK(crwl_frontier_take(frontier, &both, &taken, &error));
  crwl_taken_free(taken);
  crwl_frontier_free(frontier);
  crwl_store_free(store);

  OK(crwl_store_open(path_in(folder, "leases.crawl", path), NULL, &store, &error));
  OK(crwl_frontier_open(store, "frontier", NULL, &frontier, &error));
  uint64_t count = 9;
  OK(crwl_frontier_give_back_all(frontier, &count, &error));
  CHECK(count == 3);
  OK(crwl_frontier_drop_group(frontier, "a", 1, &count, &error));
  crwl_frontier_status status = {.struct_size = sizeof status};
  OK(crwl_frontier_get_status(frontier, &status, &error));
  CHECK(count == 2 && status.waiting_count == 1 && status.leased_count == 0);
  crwl_frontier_free(frontier);
  crwl_store_free(store);
}

static void obeys_rules(const char* folder) {
  crwl_store* store = new_store(folder, "rules.crawl");
  crwl_frontier* frontier = open_frontier(store);
  crwl_rule rule = {.struct_size = sizeof rule};
  OK(crwl_rule_init(&rule, &error));
  rule.put_max = 1;
  rule.parent = "address";
  rule.parent_bytes = 7;
  OK(crwl_frontier_set_rule(frontier, "a", 1, &rule, &error));
  const crwl_items put = three_items();
  uint8_t refused[3] = {9, 9, 9};
  OK(crwl_frontier_put(frontier, &put, NULL, refused, &error));
  CHECK(refused[0] == 0 && refused[1] == 1 && refused[2] == 0);
  rule.is_active = 0;
  OK(crwl_frontier_set_rule(frontier, "b", 1, &rule, &error));
  crwl_taken* taken = NULL;
  const crwl_take_options options = {.struct_size = sizeof options, .count = 10, .per_group = 10};
  OK(crwl_frontier_take(frontier, &options, &taken, &error));
  crwl_items items = {.struct_size = sizeof items};
  OK(crwl_taken_get_items(taken, &items, &error));
  CHECK(items.groups.count == 1 && items.groups.bytes[0] == 'a');
  crwl_taken_free(taken);
  rule.burst = 0;
  GIVES(kInvalidArgument, crwl_frontier_set_rule(frontier, "a", 1, &rule, NULL));
  crwl_frontier_free(frontier);
  crwl_store_free(store);
}

static void refuses_null(const char* folder) {
  crwl_store* store = new_store(folder, "frontier_null.crawl");
  crwl_frontier* frontier = NULL;
  crwl_taken* taken = NULL;
  crwl_rule rule = {.struct_size = sizeof rule};
  crwl_frontier_options options = {.struct_size = sizeof options, .default_rule = &rule};
  REFUSES(crwl_rule_init(NULL, NULL));
  REFUSES_SIZES(rule, crwl_rule_init(&rule, NULL));
  REFUSES_SIZES(rule, crwl_frontier_open(store, NULL, &options, &frontier, NULL));
  OK(crwl_rule_init(&rule, &error));
  REFUSES(crwl_frontier_open(NULL, NULL, NULL, &frontier, NULL));
  REFUSES(crwl_frontier_open(store, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(options, crwl_frontier_open(store, NULL, &options, &frontier, NULL));
  frontier = open_frontier(store);
  crwl_items items = three_items();
  REFUSES(crwl_frontier_put(NULL, &items, NULL, NULL, NULL));
  REFUSES(crwl_frontier_put(frontier, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(items, crwl_frontier_put(frontier, &items, NULL, NULL, NULL));
  items.bodies.count = 2;
  REFUSES(crwl_frontier_put(frontier, &items, NULL, NULL, NULL));
  crwl_take_options take = {.struct_size = sizeof take};
  REFUSES(crwl_frontier_take(NULL, NULL, &taken, NULL));
  REFUSES(crwl_frontier_take(frontier, NULL, NULL, NULL));
  REFUSES_SIZES(take, crwl_frontier_take(frontier, &take, &taken, NULL));
  take.order = 2;
  REFUSES(crwl_frontier_take(frontier, &take, &taken, NULL));
  OK(crwl_frontier_take(frontier, NULL, &taken, &error));
  REFUSES(crwl_taken_get_items(NULL, &items, NULL));
  REFUSES(crwl_taken_get_items(taken, NULL, NULL));
  REFUSES_SIZES(items, crwl_taken_get_items(taken, &items, NULL));
  OK(crwl_taken_get_items(taken, &items, &error));
  CHECK(items.groups.count == 0);
  crwl_taken_free(taken);

  const uint64_t id = 1;
  crwl_done done = {.struct_size = sizeof done};
  crwl_given_back back = {.struct_size = sizeof back, .count = 1, .ids = &id};
  crwl_frontier_status status = {.struct_size = sizeof status};
  REFUSES(crwl_frontier_finish(NULL, &id, 1, NULL, NULL));
  REFUSES(crwl_frontier_finish(frontier, NULL, 1, NULL, NULL));
  REFUSES_SIZES(done, crwl_frontier_finish(frontier, &id, 1, &done, NULL));
  REFUSES(crwl_frontier_give_back(NULL, &back, NULL, NULL));
  REFUSES(crwl_frontier_give_back(frontier, NULL, NULL, NULL));
  REFUSES_SIZES(back, crwl_frontier_give_back(frontier, &back, NULL, NULL));
  REFUSES_SIZES(done, crwl_frontier_give_back(frontier, &back, &done, NULL));
  back.ids = NULL;
  REFUSES(crwl_frontier_give_back(frontier, &back, NULL, NULL));
  REFUSES(crwl_frontier_give_back_all(NULL, NULL, NULL));
  REFUSES(crwl_frontier_extend(NULL, &id, 1, 0, NULL));
  REFUSES(crwl_frontier_extend(frontier, NULL, 1, 0, NULL));
  REFUSES(crwl_frontier_set_rule(NULL, "a", 1, &rule, NULL));
  REFUSES(crwl_frontier_set_rule(frontier, NULL, 1, &rule, NULL));
  REFUSES(crwl_frontier_set_rule(frontier, "a", 1, NULL, NULL));
  REFUSES_SIZES(rule, crwl_frontier_set_rule(frontier, "a", 1, &rule, NULL));
  REFUSES(crwl_frontier_drop_group(NULL, "a", 1, NULL, NULL));
  REFUSES(crwl_frontier_drop_group(frontier, NULL, 1, NULL, NULL));
  REFUSES(crwl_frontier_get_status(NULL, &status, NULL));
  REFUSES(crwl_frontier_get_status(frontier, NULL, NULL));
  REFUSES_SIZES(status, crwl_frontier_get_status(frontier, &status, NULL));
  crwl_frontier_free(frontier);
  crwl_frontier_free(NULL);
  crwl_taken_free(NULL);
  crwl_store_free(store);
}

void test_frontiers(const char* folder) {
  takes_what_was_put(folder);
  keeps_leases_until_all_are_given_back(folder);
  obeys_rules(folder);
  refuses_null(folder);
}
