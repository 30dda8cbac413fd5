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
  const crwl_leases leases = {.struct_size = sizeof leases, .count = 2, .ids = ids};
  OK(crwl_frontier_extend(frontier, &leases, 0, &done, &error));
  CHECK(done.done_count == 1 && done.late_count == 0 && done.unknown_count == 1);
  OK(crwl_frontier_finish(frontier, &leases, &done, &error));
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

/// Shows the only item of a list, which is freed with the next one.
static crwl_items only_item(crwl_taken* found) {
  static crwl_taken* shown = NULL;
  crwl_taken_free(shown);
  shown = found;
  crwl_items items = {.struct_size = sizeof items};
  if (found == NULL) return items;
  OK(crwl_taken_get_items(found, &items, &error));
  CHECK(items.groups.count == 1 && items.bodies.count == 1);
  return items;
}

static crwl_frontier_status status_of(const crwl_frontier* frontier) {
  crwl_frontier_status status = {.struct_size = sizeof status};
  OK(crwl_frontier_get_status(frontier, &status, &error));
  return status;
}

static void finds_what_was_put_and_updated(const char* folder) {
  crwl_store* store = new_store(folder, "update.crawl");
  crwl_frontier* frontier = open_frontier(store);
  const crwl_items put = three_items();
  uint64_t first = 0;
  OK(crwl_frontier_put(frontier, &put, &first, NULL, &error));
  const uint64_t ids[] = {first, first + 9};
  crwl_items keys = {.struct_size = sizeof keys,
                     .groups = {.bytes = "aa", .ends = kGroupEnds, .count = 2},
                     .ids = ids};
  crwl_taken* found = NULL;
  OK(crwl_frontier_find(frontier, &keys, &found, &error));
  crwl_items item = only_item(found);
  CHECK(item.groups.bytes[0] == 'a' && memcmp(item.bodies.bytes, "first", 5) == 0);
  CHECK(item.ids[0] == first && item.priorities[0] == 1 && item.attempts[0] == 0);
  CHECK(item.not_before_ms[0] == 0 && item.until_ms[0] == UINT64_MAX);

  const double priorities[] = {5, 5};
  const uint64_t later[] = {status_of(frontier).now_ms + 60000, 0};
  uint64_t count = 9;
  keys.priorities = priorities;
  keys.not_before_ms = later;
  OK(crwl_frontier_update(frontier, &keys, &count, &error));
  CHECK(count == 1);
  OK(crwl_frontier_find(frontier, &keys, &found, &error));
  item = only_item(found);
  CHECK(item.priorities[0] == 5 && item.not_before_ms[0] == later[0]);
  CHECK(memcmp(item.bodies.bytes, "first", 5) == 0);
  keys.bodies = (crwl_texts){.bytes = "xy", .ends = kGroupEnds, .count = 2};
  keys.not_before_ms = NULL;
  OK(crwl_frontier_update(frontier, &keys, NULL, &error));
  crwl_taken* taken = NULL;
  OK(crwl_frontier_take(frontier, NULL, &taken, &error));
  item = only_item(taken);
  CHECK(item.ids[0] == first && item.bodies.bytes[0] == 'x' && item.bodies.ends[0] == 1);
  CHECK(item.until_ms == NULL);
  OK(crwl_frontier_find(frontier, &keys, &found, &error));
  item = only_item(found);
  CHECK(item.attempts[0] == 1 && item.until_ms[0] > status_of(frontier).now_ms + 500000);
  OK(crwl_frontier_update(frontier, &keys, &count, &error));
  CHECK(count == 0);
  OK(crwl_frontier_remove(frontier, &keys, &count, &error));
  CHECK(count == 0 && status_of(frontier).leased_count == 1);
  only_item(NULL);
  crwl_frontier_free(frontier);
  crwl_store_free(store);
}

static void removes_what_waits(const char* folder) {
  crwl_store* store = new_store(folder, "remove.crawl");
  crwl_frontier* frontier = open_frontier(store);
  const crwl_items put = three_items();
  uint64_t first = 0;
  OK(crwl_frontier_put(frontier, &put, &first, NULL, &error));
  const uint64_t ids[] = {first + 1, first, first + 2};
  const crwl_items keys = {.struct_size = sizeof keys, .groups = put.groups, .ids = ids};
  crwl_items wrong_groups = keys;
  wrong_groups.groups.bytes = "bba";
  uint64_t count = 9;
  OK(crwl_frontier_remove(frontier, &wrong_groups, &count, &error));
  CHECK(count == 0 && status_of(frontier).waiting_count == 3);
  OK(crwl_frontier_remove(frontier, &keys, &count, &error));
  CHECK(count == 3 && status_of(frontier).waiting_count == 0);
  crwl_taken* found = NULL;
  OK(crwl_frontier_find(frontier, &keys, &found, &error));
  crwl_items items = {.struct_size = sizeof items};
  OK(crwl_taken_get_items(found, &items, &error));
  CHECK(items.groups.count == 0);
  crwl_taken_free(found);
  crwl_frontier_free(frontier);
  crwl_store_free(store);
}

/// The verdict on items of group a comes from the context; those of b get their priority negated.
static int judge(void* context, const char* group, size_t group_bytes, uint64_t id,
                 double* priority) {
  CHECK(group_bytes == 1 && id < 1000);
  *priority = -*priority;
  return group[0] == 'a' ? *(const int*)context : CRWL_YES;
}

static void rewrites_priorities(const char* folder) {
  crwl_store* store = new_store(folder, "rewrite.crawl");
  crwl_frontier* frontier = open_frontier(store);
  const crwl_items put = three_items();
  uint64_t first = 0;
  OK(crwl_frontier_put(frontier, &put, &first, NULL, &error));
  crwl_rewritten done = {.struct_size = sizeof done};
  int verdict = -1;
  GIVES(kCancelled, crwl_frontier_rewrite(frontier, judge, &verdict, &done, NULL));
  CHECK(status_of(frontier).waiting_count == 3);
  verdict = CRWL_NO;
  OK(crwl_frontier_rewrite(frontier, judge, &verdict, &done, &error));
  CHECK(done.changed_count == 1 && done.removed_count == 2);
  OK(crwl_frontier_rewrite(frontier, judge, &verdict, NULL, &error));
  OK(crwl_frontier_rewrite(frontier, judge, &verdict, NULL, &error));
  crwl_taken* taken = NULL;
  OK(crwl_frontier_take(frontier, NULL, &taken, &error));
  const crwl_items item = only_item(taken);
  CHECK(item.ids[0] == first + 2 && item.priorities[0] == -2);
  only_item(NULL);
  REFUSES(crwl_frontier_rewrite(NULL, judge, &verdict, NULL, NULL));
  REFUSES(crwl_frontier_rewrite(frontier, NULL, NULL, NULL, NULL));
  REFUSES_SIZES(done, crwl_frontier_rewrite(frontier, judge, &verdict, &done, NULL));
  crwl_frontier_free(frontier);
  crwl_store_free(store);
}

/// Times of the caller, as of a replay: a lease that ended before its item was finished.
static void keeps_the_times_of_a_replay(const char* folder) {
  crwl_store* store = new_store(folder, "replay.crawl");
  crwl_frontier* frontier = open_frontier(store);
  const crwl_items put = three_items();
  uint64_t first = 0;
  OK(crwl_frontier_put(frontier, &put, &first, NULL, &error));
  const uint64_t start = status_of(frontier).now_ms + 3600000;
  const crwl_take_options options = {
      .struct_size = sizeof options, .count = 2, .lease_ms = 1000, .now_ms = start};
  crwl_taken* taken = NULL;
  OK(crwl_frontier_take(frontier, &options, &taken, &error));
  crwl_taken_free(taken);
  CHECK(status_of(frontier).leased_count == 2 && status_of(frontier).now_ms >= start);
  const uint64_t a = first + 1;
  const uint64_t b = first + 2;
  crwl_done done = {.struct_size = sizeof done};
  crwl_leases leases = {.struct_size = sizeof leases, .count = 1, .ids = &a, .now_ms = start + 500};
  OK(crwl_frontier_extend(frontier, &leases, start + 5000, &done, &error));
  CHECK(done.done_count == 1);
  leases.now_ms = start + 2000;
  OK(crwl_frontier_finish(frontier, &leases, &done, &error));
  CHECK(done.done_count == 1 && done.late_count == 0);
  crwl_given_back back = {
      .struct_size = sizeof back, .count = 1, .ids = &b, .now_ms = start + 3000};
  OK(crwl_frontier_give_back(frontier, &back, &done, &error));
  CHECK(done.done_count == 0 && done.late_count == 1 && done.unknown_count == 0);
  leases.ids = &b;
  leases.now_ms = 0;
  OK(crwl_frontier_finish(frontier, &leases, NULL, &error));
  CHECK(status_of(frontier).now_ms >= start + 3000 && status_of(frontier).waiting_count == 1);
  crwl_frontier_free(frontier);
  crwl_store_free(store);
}

static void refuses_null_keys(crwl_frontier* frontier) {
  const uint64_t ids[] = {1, 2, 3};
  crwl_items keys = three_items();
  crwl_taken* found = NULL;
  REFUSES(crwl_frontier_update(frontier, &keys, NULL, NULL));
  REFUSES(crwl_frontier_remove(frontier, &keys, NULL, NULL));
  REFUSES(crwl_frontier_find(frontier, &keys, &found, NULL));
  keys.ids = ids;
  REFUSES(crwl_frontier_update(NULL, &keys, NULL, NULL));
  REFUSES(crwl_frontier_update(frontier, NULL, NULL, NULL));
  REFUSES_SIZES(keys, crwl_frontier_update(frontier, &keys, NULL, NULL));
  REFUSES(crwl_frontier_remove(NULL, &keys, NULL, NULL));
  REFUSES(crwl_frontier_remove(frontier, NULL, NULL, NULL));
  REFUSES_SIZES(keys, crwl_frontier_remove(frontier, &keys, NULL, NULL));
  REFUSES(crwl_frontier_find(NULL, &keys, &found, NULL));
  REFUSES(crwl_frontier_find(frontier, NULL, &found, NULL));
  REFUSES(crwl_frontier_find(frontier, &keys, NULL, NULL));
  REFUSES_SIZES(keys, crwl_frontier_find(frontier, &keys, &found, NULL));
}

static void opens_frontiers_of_pages(const char* folder) {
  crwl_store* store = new_store(folder, "frontier_pages.crawl");
  const crwl_frontier_options options = {.struct_size = sizeof options, .without_commits = 1};
  crwl_frontier_names names = {.struct_size = sizeof names, .name = "next", .pages = "mine"};
  crwl_frontier* frontier = NULL;
  OK(crwl_frontier_open_pages(store, &names, &options, &frontier, &error));
  const uint64_t index = 7;
  crwl_items page = {.struct_size = sizeof page,
                     .groups = {.bytes = "a", .ends = kGroupEnds, .count = 1}};
  REFUSES(crwl_frontier_put(frontier, &page, NULL, NULL, NULL));
  page.ids = &index;
  OK(crwl_frontier_put(frontier, &page, NULL, NULL, &error));
  OK(crwl_store_commit(store, NULL, &error));
  crwl_frontier_free(frontier);

  names.pages = NULL;
  REFUSES(crwl_frontier_open_pages(store, &names, NULL, &frontier, NULL));
  CHECK(frontier == NULL);
  names.pages = "mine";
  OK(crwl_frontier_open_pages(store, &names, NULL, &frontier, &error));
  crwl_frontier* other = NULL;
  OK(crwl_frontier_open_pages(store, NULL, NULL, &other, &error));
  crwl_frontier_free(other);
  crwl_frontier_free(frontier);
  REFUSES(crwl_frontier_open_pages(NULL, &names, NULL, &frontier, NULL));
  REFUSES(crwl_frontier_open_pages(store, &names, NULL, NULL, NULL));
  REFUSES_SIZES(names, crwl_frontier_open_pages(store, &names, NULL, &frontier, NULL));
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
  crwl_leases leases = {.struct_size = sizeof leases, .count = 1, .ids = &id};
  crwl_frontier_status status = {.struct_size = sizeof status};
  REFUSES(crwl_frontier_finish(NULL, &leases, NULL, NULL));
  REFUSES(crwl_frontier_finish(frontier, NULL, NULL, NULL));
  REFUSES_SIZES(leases, crwl_frontier_finish(frontier, &leases, NULL, NULL));
  REFUSES_SIZES(done, crwl_frontier_finish(frontier, &leases, &done, NULL));
  REFUSES(crwl_frontier_give_back(NULL, &back, NULL, NULL));
  REFUSES(crwl_frontier_give_back(frontier, NULL, NULL, NULL));
  REFUSES_SIZES(back, crwl_frontier_give_back(frontier, &back, NULL, NULL));
  REFUSES_SIZES(done, crwl_frontier_give_back(frontier, &back, &done, NULL));
  back.ids = NULL;
  REFUSES(crwl_frontier_give_back(frontier, &back, NULL, NULL));
  REFUSES(crwl_frontier_give_back_all(NULL, NULL, NULL));
  REFUSES(crwl_frontier_extend(NULL, &leases, 0, NULL, NULL));
  REFUSES(crwl_frontier_extend(frontier, NULL, 0, NULL, NULL));
  REFUSES_SIZES(leases, crwl_frontier_extend(frontier, &leases, 0, NULL, NULL));
  REFUSES_SIZES(done, crwl_frontier_extend(frontier, &leases, 0, &done, NULL));
  leases.ids = NULL;
  REFUSES(crwl_frontier_finish(frontier, &leases, NULL, NULL));
  REFUSES(crwl_frontier_extend(frontier, &leases, 0, NULL, NULL));
  REFUSES(crwl_frontier_set_rule(NULL, "a", 1, &rule, NULL));
  REFUSES(crwl_frontier_set_rule(frontier, NULL, 1, &rule, NULL));
  REFUSES(crwl_frontier_set_rule(frontier, "a", 1, NULL, NULL));
  REFUSES_SIZES(rule, crwl_frontier_set_rule(frontier, "a", 1, &rule, NULL));
  REFUSES(crwl_frontier_drop_group(NULL, "a", 1, NULL, NULL));
  REFUSES(crwl_frontier_drop_group(frontier, NULL, 1, NULL, NULL));
  REFUSES(crwl_frontier_get_status(NULL, &status, NULL));
  REFUSES(crwl_frontier_get_status(frontier, NULL, NULL));
  REFUSES_SIZES(status, crwl_frontier_get_status(frontier, &status, NULL));
  refuses_null_keys(frontier);
  crwl_frontier_free(frontier);
  crwl_frontier_free(NULL);
  crwl_taken_free(NULL);
  crwl_store_free(store);
}

void test_frontiers(const char* folder) {
  takes_what_was_put(folder);
  keeps_leases_until_all_are_given_back(folder);
  obeys_rules(folder);
  finds_what_was_put_and_updated(folder);
  removes_what_waits(folder);
  rewrites_priorities(folder);
  keeps_the_times_of_a_replay(folder);
  opens_frontiers_of_pages(folder);
  refuses_null(folder);
}
