// SPDX-License-Identifier: Apache-2.0
//
// URLs and queues are forgotten. Each key goes with its item: changes of the frontier and counts
// wait until the merge that drops the keys, whose commit has everything.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "service/core/crawl.h"

namespace crawlstore::service {
namespace {

/// Keys of items that a request forgets, looked for at a time: about 50 bytes each.
constexpr std::size_t kForgottenAtOnce = std::size_t{1} << 20;

}  // namespace

/// Visits one queue, or all that there ever were.
template <class Visit>
Result<void> Crawl::for_each_queue(std::optional<std::string_view> queue, const Visit& visit) {
  if (queue) {
    const auto group = frontier_.group(*queue);
    return group ? visit(*group) : Result<void>();
  }
  for (std::size_t first = 0;; first += kGroupsAtOnce) {
    const auto groups = frontier_.groups(first, kGroupsAtOnce);
    for (const FrontierGroup& group : groups) CRAWLSTORE_TRY(visit(group));
    if (groups.size() < kGroupsAtOnce) return {};
  }
}

Result<std::uint64_t> Crawl::forget_queue(std::string_view queue) {
  const auto group = frontier_.group(queue);
  const Key16 key = queue_key(queue, seed_);
  CRAWLSTORE_TRY(const Counts counts, known_.counts(key));
  const std::uint64_t active = active_count(queue);
  if (active == 0 && counts.completed == 0) return std::uint64_t{0};
  std::vector<std::uint64_t> leased;
  CRAWLSTORE_TRY(frontier_.for_each_item(queue, [&leased](const FrontierEntry& entry) {
    if (entry.until_ms) leased.push_back(entry.id);
    return true;
  }));
  CRAWLSTORE_TRY(frontier_.finish(leased));
  CRAWLSTORE_TRY(frontier_.drop_group(queue));
  if (group && group->rule) {
    CRAWLSTORE_TRY(frontier_.set_rule(queue, default_rule_));
  }
  CRAWLSTORE_TRY(account({.queue = queue,
                          .active_before = active,
                          .active = -static_cast<std::int64_t>(active),
                          .completed = -static_cast<std::int64_t>(counts.completed)}));
  CRAWLSTORE_TRY(known_.drop(key.head, key.head, [](Key16, std::string_view) { return true; }));
  return active + counts.completed;
}

/// Items of a queue that were added before a time go; their keys are added to `gone`.
Result<void> Crawl::forget_items(std::string_view queue, std::uint64_t time_s, Keys& gone) {
  std::vector<FrontierKey> waiting;
  std::vector<std::uint64_t> taken;
  const std::uint64_t active = active_count(queue);
  CRAWLSTORE_TRY(frontier_.for_each_item(queue, [&](const FrontierEntry& entry) {
    const auto record = decode(entry.body, queue);
    if (!record || record->created_s >= time_s) return true;
    gone.insert(known_key({queue, record->url}, seed_));
    if (entry.attempt == 0) {
      waiting.push_back({queue, entry.id});
    } else {
      taken.push_back(entry.id);
    }
    return true;
  }));
  CRAWLSTORE_TRY(frontier_.remove(waiting));
  CRAWLSTORE_TRY(frontier_.finish(taken));
  const auto count = static_cast<std::int64_t>(waiting.size() + taken.size());
  return account({.queue = queue, .active_before = active, .active = -count});
}

/// Drops the keys that are gone, and those of completed URLs that were added before a time.
Result<std::uint64_t> Crawl::forget_keys(std::optional<std::string_view> queue,
                                         std::uint64_t time_s, const Keys& gone) {
  std::unordered_map<std::uint64_t, std::int64_t> completed;  // by heads
  std::uint64_t count = gone.size();
  const std::uint64_t first = queue ? queue_key(*queue, seed_).head : 0;
  const std::uint64_t last = queue ? first : UINT64_MAX;
  CRAWLSTORE_TRY(known_.drop(first, last, [&](Key16 key, std::string_view value) {
    if (!is_of_url(key)) return false;
    if (value.empty()) return gone.contains(key);
    if (created_of(value).value_or(time_s) >= time_s) return false;
    ++completed[key.head];
    ++count;
    return true;
  }));
  const auto count_out = [&](const FrontierGroup& group) -> Result<void> {
    const auto found = completed.find(queue_key(group.key, seed_).head);
    if (found == completed.end()) return {};
    return account({.queue = group.key,
                    .active_before = active_count(group.key),
                    .completed = -std::exchange(found->second, 0)});
  };
  CRAWLSTORE_TRY(for_each_queue(queue, count_out));
  return count;
}

Result<std::uint64_t> Crawl::forget_before(std::optional<std::string_view> queue,
                                           std::uint64_t time_s) {
  Keys gone;
  std::uint64_t count = 0;
  const auto forget = [&](const FrontierGroup& group) -> Result<void> {
    CRAWLSTORE_TRY(forget_items(group.key, time_s, gone));
    if (gone.size() < kForgottenAtOnce) return {};
    CRAWLSTORE_TRY(const auto some, forget_keys(queue, time_s, std::exchange(gone, {})));
    count += some;
    return {};
  };
  CRAWLSTORE_TRY(for_each_queue(queue, forget));
  CRAWLSTORE_TRY(const auto rest, forget_keys(queue, time_s, gone));
  return count + rest;
}

}  // namespace crawlstore::service
