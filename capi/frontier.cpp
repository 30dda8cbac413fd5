// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/frontier.h>
#include <crawlstore/pages.h>

#include "call.h"
#include "handles.h"
#include "texts.h"

struct crwl_frontier {
  std::shared_ptr<crawlstore::Store> store;
  crawlstore::Frontier frontier;
};

struct crwl_taken {
  crawlstore::c::TextColumn groups;
  crawlstore::c::TextColumn bodies;
  std::vector<double> priorities;
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> attempts;
  // Empty where the items were taken.
  std::vector<std::uint64_t> not_before_ms;
  std::vector<std::uint64_t> until_ms;
};

namespace crawlstore::c {
namespace {

constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

std::optional<std::uint32_t> limit_of(std::uint32_t given) {
  return given == kNoLimit ? std::nullopt : std::optional(given);
}

std::optional<std::uint64_t> time_of(std::uint64_t now_ms) {
  return now_ms == 0 ? std::nullopt : std::optional(now_ms);
}

Result<FrontierRule> rule_of(const crwl_rule* given) {
  CRAWLSTORE_TRY(check_input(given));
  FrontierRule rule;
  rule.delay_ms = given->delay_ms;
  rule.hard_ms = given->hard_ms;
  rule.burst = given->burst;
  rule.in_flight_max = given->in_flight_max;
  rule.blocked_until_ms = given->blocked_until_ms;
  rule.is_active = given->is_active != 0;
  rule.put_max = limit_of(given->put_max);
  rule.finished_max = limit_of(given->finished_max);
  CRAWLSTORE_TRY(const auto parent, text_of(given->parent, given->parent_bytes));
  if (given->parent != nullptr) rule.parent = std::string(parent);
  return rule;
}

Result<FrontierOptions> frontier_options_of(const crwl_frontier_options* options) {
  CRAWLSTORE_TRY(const auto given, options_of(options));
  FrontierOptions wanted;
  if (given.default_rule != nullptr) {
    CRAWLSTORE_TRY(wanted.default_rule, rule_of(given.default_rule));
  }
  wanted.has_own_ids = given.has_own_ids != 0;
  wanted.commits_takes = given.without_commits == 0;
  if (given.checkpoint_bytes != 0) wanted.checkpoint_bytes = given.checkpoint_bytes;
  return wanted;
}

/// Opens a frontier, and hands it to the caller.
Result<void> give_frontier(const std::shared_ptr<Store>& store, const char* name,
                           const FrontierOptions& options, crwl_frontier** out) {
  CRAWLSTORE_TRY(auto opened,
                 Frontier::open(*store, name_or(name, Frontier::kDefaultName), options));
  give_handle(out, crwl_frontier{store, std::move(opened)});
  return {};
}

/// The items of columns; they borrow the caller's texts.
Result<std::vector<FrontierItem>> items_of(const crwl_items& given) {
  CRAWLSTORE_TRY(const auto groups, Texts::of(given.groups));
  CRAWLSTORE_TRY(const auto bodies, Texts::of(given.bodies));
  if (bodies.count() != 0 && bodies.count() != groups.count()) {
    return fail(Errc::kInvalidArgument, "there are not as many bodies as groups");
  }
  std::vector<FrontierItem> items(groups.count());
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].group = groups[i];
    if (bodies.count() != 0) items[i].body = bodies[i];
    if (given.priorities != nullptr) items[i].priority = given.priorities[i];
    if (given.not_before_ms != nullptr) items[i].not_before_ms = given.not_before_ms[i];
    if (given.ids != nullptr) items[i].id = given.ids[i];
  }
  return items;
}

Result<TakeOptions> take_options_of(const crwl_take_options* options) {
  CRAWLSTORE_TRY(const auto given, options_of(options));
  TakeOptions wanted;
  if (given.order > CRWL_TAKE_LONGEST_WAITING) {
    return fail(Errc::kInvalidArgument, "a frontier has no such order");
  }
  wanted.order = static_cast<TakeOrder>(given.order);
  const std::uint64_t per_group = std::max<std::uint64_t>(given.per_group, 1);
  wanted.per_group = static_cast<std::uint32_t>(std::min<std::uint64_t>(per_group, kNoLimit));
  wanted.count = std::max<std::uint64_t>(given.count, 1);
  if (given.lease_ms != 0) wanted.lease_ms = given.lease_ms;
  if (given.lease_ms == std::numeric_limits<std::uint64_t>::max()) wanted.lease_ms = 0;
  wanted.now_ms = time_of(given.now_ms);
  return wanted;
}

/// The keys in columns of items; they borrow the caller's texts.
Result<std::vector<FrontierKey>> keys_of(const crwl_items* given) {
  CRAWLSTORE_TRY(check_input(given));
  CRAWLSTORE_TRY(const auto groups, Texts::of(given->groups));
  CRAWLSTORE_TRY(need_array(groups.count(), given->ids));
  std::vector<FrontierKey> keys(groups.count());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {groups[i], given->ids[i]};
  return keys;
}

/// The ids of leases.
Result<std::span<const std::uint64_t>> ids_of(const crwl_leases* given) {
  CRAWLSTORE_TRY(check_input(given));
  CRAWLSTORE_TRY(need_array(given->count, given->ids));
  return std::span(given->ids, given->count);
}

/// Thrown through a rewrite, which undoes all for it, when the caller's callback stops.
struct Stopped {};

RewritePriority rewrite_of(crwl_rewrite priority_of, void* context) {
  return [=](std::string_view group, std::uint64_t id, double priority) -> std::optional<double> {
    const int verdict = priority_of(context, group.data(), group.size(), id, &priority);
    if (verdict != CRWL_YES && verdict != CRWL_NO) throw Stopped();
    return verdict == CRWL_YES ? std::optional(priority) : std::nullopt;
  };
}

/// Fills the counts of a call, if they are wanted.
Result<void> give_done(const Result<FrontierDone>& result, crwl_done* done) {
  if (!result) return tl::unexpected<Error>(result.error());
  if (done == nullptr) return {};
  crwl_done told{};
  told.done_count = result->done_count;
  told.late_count = result->late_count;
  told.unknown_count = result->unknown_count;
  give(done, told);
  return {};
}

}  // namespace

extern "C" {

int crwl_rule_init(crwl_rule* rule, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(check_size(rule));
    const FrontierRule defaults;
    crwl_rule told{};
    told.is_active = defaults.is_active ? 1 : 0;
    told.delay_ms = defaults.delay_ms;
    told.hard_ms = defaults.hard_ms;
    told.burst = defaults.burst;
    told.in_flight_max = defaults.in_flight_max;
    told.put_max = kNoLimit;
    told.finished_max = kNoLimit;
    give(rule, told);
    return {};
  });
}

int crwl_frontier_open(crwl_store* store, const char* name, const crwl_frontier_options* options,
                       crwl_frontier** frontier, crwl_error* error) {
  if (frontier != nullptr) *frontier = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, frontier));
    CRAWLSTORE_TRY(const auto wanted, frontier_options_of(options));
    return give_frontier(store->store, name, wanted, frontier);
  });
}

int crwl_frontier_open_pages(crwl_store* store, const crwl_frontier_names* names,
                             const crwl_frontier_options* options, crwl_frontier** frontier,
                             crwl_error* error) {
  if (frontier != nullptr) *frontier = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, frontier));
    CRAWLSTORE_TRY(const auto given, options_of(names));
    CRAWLSTORE_TRY(auto wanted, frontier_options_of(options));
    wanted.pages = name_or(given.pages, PageDb::kDefaultName);
    return give_frontier(store->store, given.name, wanted, frontier);
  });
}

int crwl_frontier_put(crwl_frontier* frontier, const crwl_items* items, std::uint64_t* first_id,
                      std::uint8_t* refused, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(check_input(items));
    CRAWLSTORE_TRY(const auto put, items_of(*items));
    CRAWLSTORE_TRY(const auto done, frontier->frontier.put(put));
    if (first_id != nullptr) *first_id = done.first_id;
    if (refused == nullptr) return {};
    std::fill_n(refused, put.size(), std::uint8_t{0});
    for (const std::size_t place : done.refused) refused[place] = 1;
    return {};
  });
}

int crwl_frontier_take(crwl_frontier* frontier, const crwl_take_options* options,
                       crwl_taken** taken, crwl_error* error) {
  if (taken != nullptr) *taken = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier, taken));
    CRAWLSTORE_TRY(const auto wanted, take_options_of(options));
    CRAWLSTORE_TRY(const auto items, frontier->frontier.take(wanted));
    crwl_taken columns;
    for (const TakenItem& item : items) {
      columns.groups.add(item.group);
      columns.bodies.add(item.body);
      columns.priorities.push_back(item.priority);
      columns.ids.push_back(item.id);
      columns.attempts.push_back(item.attempt);
    }
    give_handle(taken, std::move(columns));
    return {};
  });
}

int crwl_taken_get_items(const crwl_taken* taken, crwl_items* items, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(taken));
    CRAWLSTORE_TRY(check_size(items));
    crwl_items told{};
    told.groups = taken->groups.view();
    told.bodies = taken->bodies.view();
    told.priorities = taken->priorities.data();
    told.ids = taken->ids.data();
    told.attempts = taken->attempts.data();
    if (!taken->until_ms.empty()) {
      told.not_before_ms = taken->not_before_ms.data();
      told.until_ms = taken->until_ms.data();
    }
    give(items, told);
    return {};
  });
}

void crwl_taken_free(crwl_taken* taken) {
  free_handle(taken);
}

int crwl_frontier_finish(crwl_frontier* frontier, const crwl_leases* items, crwl_done* done,
                         crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(const auto ids, ids_of(items));
    if (done != nullptr) CRAWLSTORE_TRY(check_size(done));
    return give_done(frontier->frontier.finish(ids, time_of(items->now_ms)), done);
  });
}

int crwl_frontier_give_back(crwl_frontier* frontier, const crwl_given_back* items, crwl_done* done,
                            crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(check_input(items));
    CRAWLSTORE_TRY(need_array(items->count, items->ids));
    if (done != nullptr) CRAWLSTORE_TRY(check_size(done));
    std::vector<GivenBack> given(items->count);
    for (std::size_t i = 0; i < given.size(); ++i) {
      given[i].id = items->ids[i];
      if (items->not_before_ms != nullptr) given[i].not_before_ms = items->not_before_ms[i];
      given[i].is_failure = items->is_failure != nullptr && items->is_failure[i] != 0;
    }
    return give_done(frontier->frontier.give_back(given, time_of(items->now_ms)), done);
  });
}

int crwl_frontier_give_back_all(crwl_frontier* frontier, std::uint64_t* count, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(const auto ended, frontier->frontier.give_back_all());
    if (count != nullptr) *count = ended;
    return {};
  });
}

int crwl_frontier_extend(crwl_frontier* frontier, const crwl_leases* items, std::uint64_t until_ms,
                         crwl_done* done, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(const auto ids, ids_of(items));
    if (done != nullptr) CRAWLSTORE_TRY(check_size(done));
    return give_done(frontier->frontier.extend(ids, until_ms, time_of(items->now_ms)), done);
  });
}

int crwl_frontier_update(crwl_frontier* frontier, const crwl_items* items, std::uint64_t* updated,
                         crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(const auto keys, keys_of(items));
    CRAWLSTORE_TRY(const auto values, items_of(*items));
    std::vector<FrontierUpdate> updates(keys.size());
    for (std::size_t i = 0; i < updates.size(); ++i) {
      updates[i] = {keys[i], values[i].priority, values[i].not_before_ms};
      if (items->bodies.count != 0) updates[i].body = values[i].body;
    }
    CRAWLSTORE_TRY(const auto count, frontier->frontier.update(updates));
    if (updated != nullptr) *updated = count;
    return {};
  });
}

int crwl_frontier_remove(crwl_frontier* frontier, const crwl_items* items, std::uint64_t* removed,
                         crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(const auto keys, keys_of(items));
    CRAWLSTORE_TRY(const auto count, frontier->frontier.remove(keys));
    if (removed != nullptr) *removed = count;
    return {};
  });
}

int crwl_frontier_find(crwl_frontier* frontier, const crwl_items* items, crwl_taken** found,
                       crwl_error* error) {
  if (found != nullptr) *found = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier, found));
    CRAWLSTORE_TRY(const auto keys, keys_of(items));
    crwl_taken columns;
    for (const FrontierKey& key : keys) {
      CRAWLSTORE_TRY(const auto item, frontier->frontier.find(key));
      if (!item) continue;
      columns.groups.add(key.group);
      columns.bodies.add(item->body);
      columns.priorities.push_back(item->priority);
      columns.ids.push_back(key.id);
      columns.attempts.push_back(item->attempt);
      columns.not_before_ms.push_back(item->not_before_ms);
      columns.until_ms.push_back(
          item->until_ms.value_or(std::numeric_limits<std::uint64_t>::max()));
    }
    give_handle(found, std::move(columns));
    return {};
  });
}

int crwl_frontier_rewrite(crwl_frontier* frontier, crwl_rewrite priority_of, void* context,
                          crwl_rewritten* done, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    if (priority_of == nullptr) return fail(Errc::kInvalidArgument, "a callback is missing");
    if (done != nullptr) CRAWLSTORE_TRY(check_size(done));
    try {
      CRAWLSTORE_TRY(const auto counts,
                     frontier->frontier.rewrite(rewrite_of(priority_of, context)));
      crwl_rewritten told{};
      told.changed_count = counts.changed_count;
      told.removed_count = counts.removed_count;
      if (done != nullptr) give(done, told);
      return {};
    } catch (const Stopped&) {
      return fail(Errc::kCancelled, "the callback stopped the rewrite");
    }
  });
}

int crwl_frontier_set_rule(crwl_frontier* frontier, const char* group, std::size_t group_bytes,
                           const crwl_rule* rule, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(const auto key, text_of(group, group_bytes));
    CRAWLSTORE_TRY(const auto wanted, rule_of(rule));
    return frontier->frontier.set_rule(key, wanted);
  });
}

int crwl_frontier_drop_group(crwl_frontier* frontier, const char* group, std::size_t group_bytes,
                             std::uint64_t* dropped, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(const auto key, text_of(group, group_bytes));
    CRAWLSTORE_TRY(const auto gone, frontier->frontier.drop_group(key));
    if (dropped != nullptr) *dropped = gone;
    return {};
  });
}

int crwl_frontier_get_status(const crwl_frontier* frontier, crwl_frontier_status* status,
                             crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(frontier));
    CRAWLSTORE_TRY(need_open(frontier->store));
    CRAWLSTORE_TRY(check_size(status));
    const Frontier& now = frontier->frontier;
    crwl_frontier_status told{};
    told.waiting_count = now.waiting_count();
    told.leased_count = now.leased_count();
    told.next_id = now.next_id();
    told.now_ms = now.now_ms();
    told.next_due_ms = now.next_due_ms().value_or(std::numeric_limits<std::uint64_t>::max());
    give(status, told);
    return {};
  });
}

void crwl_frontier_free(crwl_frontier* frontier) {
  free_handle(frontier);
}

}  // extern "C"

}  // namespace crawlstore::c
