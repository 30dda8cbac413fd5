// SPDX-License-Identifier: Apache-2.0
#include "service/core/crawl.h"

#include <algorithm>
#include <utility>

#include <crawlstore/frontier_view.h>

namespace crawlstore::service {
namespace {

constexpr std::uint64_t kMsPerSecond = 1000;

/// A group may be visited once a second until somebody says otherwise. Requests decide how many of
/// its URLs are leased.
FrontierOptions frontier_options() {
  FrontierOptions options;
  options.default_rule.in_flight_max = UINT32_MAX;
  options.has_own_ids = true;
  options.commits_takes = false;
  return options;
}

std::uint64_t active_of(const FrontierGroup& group) {
  return group.waiting_count + group.later_count + group.leased_count;
}

Result<UrlRecord> record_of(std::string_view body, std::string_view queue) {
  auto record = decode(body, queue);
  if (!record) return fail(Errc::kSegmentInvalid, "a URL of a crawl has another form");
  return *std::move(record);
}

Result<void> check_size(const UrlInQueue& url, std::string_view metadata) {
  if (url.queue.size() <= Crawl::kKeyBytesMax &&
      url.url.size() + metadata.size() <= Crawl::kUrlBytesMax) {
    return {};
  }
  return fail(Errc::kTooLarge, "a URL, what comes with it, or the key of its queue is too long");
}

std::uint64_t milliseconds(std::uint64_t seconds) {
  return std::min(seconds, Crawl::kTimeMaxS) * kMsPerSecond;
}

std::uint64_t plus(std::uint64_t count, std::int64_t change) {
  return count + static_cast<std::uint64_t>(change);
}

}  // namespace

Result<std::unique_ptr<Crawl>> Crawl::open(Store& store, std::string_view name,
                                           std::uint64_t memory_bytes) {
  if (name.size() > kNameBytesMax) {
    return fail(Errc::kTooLarge, "the ID of a crawl has up to 249 bytes");
  }
  CRAWLSTORE_TRY(auto frontier, Frontier::open(store, name, frontier_options()));
  CRAWLSTORE_TRY(auto known, KnownUrls::open(store, name, memory_bytes));
  std::unique_ptr<Crawl> crawl(
      // tidy: raw memory, the constructor is private
      new Crawl(name, store.key_seed(), std::move(frontier), std::move(known)));
  crawl->default_rule_ = frontier_options().default_rule;
  CRAWLSTORE_TRY(const Settings settings, read_settings(store));
  crawl->is_by_priority_ = settings.is_by_priority;
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto frontiers, FrontierView::list(snapshot));
  for (const FrontierInfo& info : frontiers) {
    if (info.name == name) crawl->default_rule_ = info.default_rule;
  }
  CRAWLSTORE_TRY(const Counts counts, crawl->known_.counts(kCrawlKey));
  if (counts.purges != 0) CRAWLSTORE_TRY(crawl->forget_before({}, 0));
  return crawl;
}

std::uint64_t Crawl::active_count(std::string_view queue) const {
  const auto group = frontier_.group(queue);
  return group ? active_of(*group) : 0;
}

/// Puts the item of a URL that neither waits nor is leased.
Result<void> Crawl::put(const UrlInQueue& url, Key16 key, UrlRecord record, const Item& item) {
  if (is_by_priority_) record.refetch_s = item.refetch_s;
  const std::string body = encode(record, url.queue);
  const FrontierItem put{.group = url.queue,
                         .priority = is_by_priority_ ? url.priority : priority_of(item.refetch_s),
                         .body = body,
                         .not_before_ms = item.not_before_ms,
                         .id = item_id(key)};
  return frontier_.put(std::span(&put, 1)).map([](const FrontierPutDone&) {});
}

/// Takes the item of a URL away, if it has one. A lease that is remembered ends without a look at
/// the item. Else it is looked for in the frontier first where a lease is likely: that costs less
/// than a look at what waits in logs of the DRUM.
Result<Crawl::State> Crawl::leave(const UrlInQueue& url, Key16 key, Change& change) {
  State state;
  const std::uint64_t id = item_id(key);
  if (const auto given = given_.find(id); given != given_.end()) {
    state = {.created_s = given->second, .was_active = true};
    given_.erase(given);
    CRAWLSTORE_TRY(const auto done, frontier_.finish(std::span(&id, 1)));
    if (done.unknown_count == 0) {
      change.active = -1;
      return state;
    }
    state = {};
  }
  CRAWLSTORE_TRY(const bool is_known, known_.contains(key));
  if (!is_known) return state;
  const FrontierKey item{url.queue, id};
  const auto group = frontier_.group(url.queue);
  std::optional<WaitingItem> found;
  if (group && group->leased_count != 0) {
    CRAWLSTORE_TRY(found, frontier_.find(item));
  }
  if (!found) {
    CRAWLSTORE_TRY(const auto known, known_.find(key));
    state.was_completed = known && !known->empty();
    if (state.was_completed) state.created_s = created_of(*known);
    if (!state.was_completed) {
      CRAWLSTORE_TRY(found, frontier_.find(item));
    }
  }
  if (!found) return state;
  CRAWLSTORE_TRY(const auto record, record_of(found->body, url.queue));
  state.was_active = true;
  state.created_s = record.created_s;
  change.active = -1;
  CRAWLSTORE_TRY(const auto done, frontier_.finish(std::span(&id, 1)));
  if (done.unknown_count != 0) {
    CRAWLSTORE_TRY(frontier_.remove(std::span(&item, 1)));
  }
  return state;
}

Result<bool> Crawl::discover(const UrlInQueue& url, std::string_view metadata, std::uint64_t now_s,
                             std::optional<std::uint64_t> created_s) {
  CRAWLSTORE_TRY(check_size(url, metadata));
  const Key16 key = known_key(url, seed_);
  CRAWLSTORE_TRY(const bool is_new, known_.insert(key));
  if (!is_new) return false;
  Change change{.queue = url.queue, .active_before = active_count(url.queue), .active = 1};
  const UrlRecord record{std::string(url.url), created_s.value_or(now_s), std::string(metadata)};
  CRAWLSTORE_TRY(put(url, key, record, {now_s, 0}));
  CRAWLSTORE_TRY(account(change));
  return true;
}

Result<bool> Crawl::update(const UrlInQueue& url, std::string_view metadata,
                           std::uint64_t refetch_s, std::uint64_t now_s,
                           std::optional<std::uint64_t> created_s) {
  CRAWLSTORE_TRY(check_size(url, metadata));
  const Key16 key = known_key(url, seed_);
  Change change{.queue = url.queue, .active_before = active_count(url.queue)};
  UrlRecord record{std::string(url.url), now_s, {}};
  CRAWLSTORE_TRY(const State state, leave(url, key, change));
  record.created_s = state.created_s.value_or(created_s.value_or(now_s));
  if (refetch_s == 0) {
    change.completed = state.was_completed ? 0 : 1;
    if (!state.was_completed) {
      CRAWLSTORE_TRY(known_.set(key, encode(record, url.queue)));
    }
    // Queues are looked through by the groups of the frontier.
    if (change.active_before == 0 && !frontier_.group(url.queue)) {
      CRAWLSTORE_TRY(frontier_.set_rule(url.queue, default_rule_));
    }
  } else {
    record.metadata = metadata;
    change.completed = state.was_completed ? -1 : 0;
    change.active += 1;
    if (!state.was_active) {
      CRAWLSTORE_TRY(known_.set(key, {}));
    }
    const std::uint64_t time_s = std::min(refetch_s, kTimeMaxS);
    CRAWLSTORE_TRY(put(url, key, record, {time_s, refetch_s <= now_s ? 0 : milliseconds(time_s)}));
  }
  CRAWLSTORE_TRY(account(change));
  return !state.was_active && !state.was_completed;
}

/// Counts a change of a queue. It is there while it has a URL.
Result<void> Crawl::account(const Change& change) {
  const std::uint64_t active_after = plus(change.active_before, change.active);
  const bool turns = (change.active_before == 0) != (active_after == 0);
  if (!turns && change.completed == 0) return {};
  const Key16 key = queue_key(change.queue, seed_);
  CRAWLSTORE_TRY(Counts of_queue, known_.counts(key));
  CRAWLSTORE_TRY(Counts of_crawl, known_.counts(kCrawlKey));
  const bool was_there = change.active_before != 0 || of_queue.completed != 0;
  of_queue.completed = plus(of_queue.completed, change.completed);
  const bool is_there = active_after != 0 || of_queue.completed != 0;
  of_crawl.completed = plus(of_crawl.completed, change.completed);
  if (turns) of_crawl.active = plus(of_crawl.active, active_after == 0 ? -1 : 1);
  if (was_there != is_there) of_crawl.queues = plus(of_crawl.queues, is_there ? 1 : -1);
  known_.set_counts(kCrawlKey, of_crawl);
  if (change.completed == 0) return {};
  known_.set_counts(key, of_queue);
  return of_queue.limit == 0 ? Result<void>() : keep_limit(change.queue, of_queue);
}

template <class Set>
Result<void> Crawl::change_rule(std::string_view queue, const Set& set) {
  const auto group = frontier_.group(queue);
  const FrontierRule before = group && group->rule ? *group->rule : default_rule_;
  FrontierRule rule = before;
  set(rule);
  return rule == before ? Result<void>() : frontier_.set_rule(queue, rule);
}

Result<void> Crawl::keep_limit(std::string_view queue, const Counts& counts) {
  const bool is_active = counts.limit == 0 || counts.completed < counts.limit;
  return change_rule(queue, [&](FrontierRule& rule) { rule.is_active = is_active; });
}

Result<void> Crawl::set_delay(std::string_view queue, std::uint64_t seconds) {
  return change_rule(
      queue, [&](FrontierRule& rule) { rule.delay_ms = rule.hard_ms = milliseconds(seconds); });
}

Result<void> Crawl::block_until(std::string_view queue, std::uint64_t time_s) {
  return change_rule(queue,
                     [&](FrontierRule& rule) { rule.blocked_until_ms = milliseconds(time_s); });
}

Result<bool> Crawl::set_limit(std::string_view queue, std::uint64_t limit) {
  const Key16 key = queue_key(queue, seed_);
  CRAWLSTORE_TRY(Counts counts, known_.counts(key));
  if (active_count(queue) == 0 && counts.completed == 0) return false;
  counts.limit = limit;
  known_.set_counts(key, counts);
  CRAWLSTORE_TRY(keep_limit(queue, counts));
  return true;
}

Result<std::vector<GivenUrl>> Crawl::take(const GetRequest& request) {
  TakeOptions options;
  options.count = request.urls_max;
  options.per_group = request.per_queue;
  options.in_flight_max = request.per_queue;
  options.groups_max = request.queues_max;
  options.lease_ms = request.lease_ms;
  options.order = TakeOrder::kLongestWaiting;
  options.group = request.queue;
  CRAWLSTORE_TRY(auto taken, frontier_.take(options));
  std::vector<GivenUrl> given;
  given.reserve(taken.size());
  if (given_.size() + taken.size() > kGivenKept) given_.clear();
  for (TakenItem& item : taken) {
    CRAWLSTORE_TRY(auto record, record_of(item.body, item.group));
    given_[item.id] = record.created_s;
    given.push_back({item.id, std::move(item.group), std::move(record)});
  }
  return given;
}

Result<void> Crawl::give_back(const std::vector<GivenUrl>& urls) {
  std::vector<GivenBack> items;
  items.reserve(urls.size());
  for (const GivenUrl& url : urls) items.push_back({.id = url.id});
  return frontier_.give_back(items).map([](const FrontierDone&) {});
}

Result<std::optional<KnownUrl>> Crawl::find(const UrlInQueue& url) {
  const Key16 key = known_key(url, seed_);
  CRAWLSTORE_TRY(const auto known, known_.find(key));
  if (!known) return std::optional<KnownUrl>();
  if (!known->empty()) {
    CRAWLSTORE_TRY(auto completed, record_of(*known, url.queue));
    return std::optional(KnownUrl{std::move(completed), 0});
  }
  CRAWLSTORE_TRY(const auto item, frontier_.find({url.queue, item_id(key)}));
  if (!item) return std::optional<KnownUrl>();
  CRAWLSTORE_TRY(auto record, record_of(item->body, url.queue));
  const std::uint64_t refetch_s = refetch_of(record, item->priority);
  return std::optional(KnownUrl{std::move(record), refetch_s});
}

Result<QueueStats> Crawl::stats(std::optional<std::string_view> queue) {
  CRAWLSTORE_TRY(frontier_.finish({}));  // ends the leases whose time has come
  const Key16 key = queue ? queue_key(*queue, seed_) : kCrawlKey;
  CRAWLSTORE_TRY(const Counts counts, known_.counts(key));
  if (!queue) {
    return QueueStats{frontier_.waiting_count() + frontier_.leased_count(),
                      frontier_.leased_count(), counts.completed, counts.queues, counts.active};
  }
  const auto group = frontier_.group(*queue);
  QueueStats stats{.completed = counts.completed};
  if (group) {
    stats.active = active_of(*group);
    stats.leased = group->leased_count;
  }
  stats.queues = stats.active != 0 || stats.completed != 0 ? 1 : 0;
  stats.active_queues = stats.active != 0 ? 1 : 0;
  return stats;
}

Result<std::vector<std::string>> Crawl::queues(std::size_t start, std::size_t count_max,
                                               bool with_inactive) {
  const std::uint64_t now = frontier_.now_ms();
  const auto matches = [&](const FrontierGroup& group) -> Result<bool> {
    const bool is_active = active_of(group) != 0;
    if (!with_inactive) {
      return is_active && !(group.rule && group.rule->blocked_until_ms > now);
    }
    if (is_active) return true;
    return known_.counts(queue_key(group.key, seed_)).map([](const Counts& counts) {
      return counts.completed != 0;
    });
  };
  std::vector<std::string> keys;
  for (std::size_t first = 0; keys.size() < count_max; first += kGroupsAtOnce) {
    const auto groups = frontier_.groups(first, kGroupsAtOnce);
    for (const FrontierGroup& group : groups) {
      CRAWLSTORE_TRY(const bool is_one, matches(group));
      if (!is_one || keys.size() == count_max) continue;
      if (start == 0) {
        keys.push_back(group.key);
      } else {
        --start;
      }
    }
    if (groups.size() < kGroupsAtOnce) break;
  }
  return keys;
}

Result<void> Crawl::set_default_delay(std::uint64_t seconds) {
  FrontierRule rule = default_rule_;
  const std::uint64_t before = std::exchange(rule.delay_ms, milliseconds(seconds));
  rule.hard_ms = rule.delay_ms;
  if (before == rule.delay_ms) return {};
  // Groups with another rule than the default one for another reason.
  for (std::size_t first = 0;; first += kGroupsAtOnce) {
    const auto groups = frontier_.groups(first, kGroupsAtOnce);
    for (const FrontierGroup& group : groups) {
      if (group.rule && group.rule->delay_ms == before) {
        CRAWLSTORE_TRY(set_delay(group.key, seconds));
      }
    }
    if (groups.size() < kGroupsAtOnce) break;
  }
  CRAWLSTORE_TRY(frontier_.set_default_rule(rule));
  default_rule_ = rule;
  return {};
}

Result<void> Crawl::close() {
  CRAWLSTORE_TRY(frontier_.close());
  return known_.close();
}

}  // namespace crawlstore::service
