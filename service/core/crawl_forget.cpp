// SPDX-License-Identifier: Apache-2.0
//
// URLs and queues are forgotten. A merge that drops keys has several commits. So URLs that wait are
// completed before, in the first one, and keys of completed ones alone are dropped. Until these are
// counted out, the counts of the crawl say so, and after a crash all is counted anew.
#include <unordered_map>
#include <utility>
#include <vector>

#include "service/core/crawl.h"

namespace crawlstore::service {
namespace {

/// URLs that are completed at a time: about 150 bytes each.
constexpr std::size_t kCompletedAtOnce = std::size_t{1} << 18;

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
  if (!group) return std::uint64_t{0};
  const Key16 key = queue_key(queue, seed_);
  CRAWLSTORE_TRY(Counts counts, known_.counts(key));
  if (std::exchange(counts.limit, 0) != 0) known_.set_counts(key, counts);
  if (group->rule) CRAWLSTORE_TRY(frontier_.set_rule(queue, default_rule_));
  return forget_before(queue, UINT64_MAX);
}

Result<std::uint64_t> Crawl::forget_before(std::optional<std::string_view> queue,
                                           std::uint64_t time_s) {
  return forget(queue, [time_s](const UrlRecord& record) { return record.created_s < time_s; });
}

/// Completes URLs of a queue that wait or are leased, and are meant. Returns whether there may be
/// more of them.
Result<bool> Crawl::complete_some(std::string_view queue, const IsMeant& is_meant) {
  std::vector<FrontierKey> waiting;
  std::vector<std::uint64_t> taken;
  std::vector<UrlRecord> records;
  const std::uint64_t active = active_count(queue);
  if (active == 0) return false;
  CRAWLSTORE_TRY(frontier_.for_each_item(queue, [&](const FrontierEntry& entry) {
    auto record = decode(entry.body, queue);
    if (!record || !is_meant(*record)) return true;
    record->metadata = {};
    record->refetch_s = {};
    records.push_back(*std::move(record));
    if (entry.attempt == 0) {
      waiting.push_back({queue, entry.id});
    } else {
      taken.push_back(entry.id);
    }
    return records.size() < kCompletedAtOnce;
  }));
  for (const UrlRecord& record : records) {
    CRAWLSTORE_TRY(known_.set(known_key({queue, record.url}, seed_), encode(record, queue)));
  }
  CRAWLSTORE_TRY(frontier_.remove(waiting));
  CRAWLSTORE_TRY(frontier_.finish(taken));
  const auto count = static_cast<std::int64_t>(records.size());
  CRAWLSTORE_TRY(
      account({.queue = queue, .active_before = active, .active = -count, .completed = count}));
  return records.size() == kCompletedAtOnce;
}

/// Drops the keys of completed URLs that are meant, and counts those that stay.
Result<std::uint64_t> Crawl::drop_completed(std::optional<std::string_view> queue,
                                            const IsMeant& is_meant) {
  struct Completed {
    std::string queue;
    std::int64_t count = 0;
  };
  std::unordered_map<std::uint64_t, Completed> completed;  // by heads
  CRAWLSTORE_TRY(for_each_queue(queue, [&](const FrontierGroup& group) -> Result<void> {
    completed.try_emplace(queue_key(group.key, seed_).head, Completed{group.key});
    return {};
  }));
  std::uint64_t count = 0;
  const std::uint64_t first = queue ? queue_key(*queue, seed_).head : 0;
  const std::uint64_t last = queue ? first : UINT64_MAX;
  CRAWLSTORE_TRY(known_.drop(first, last, [&](Key16 key, std::string_view value) {
    if (!is_of_url(key) || value.empty()) return false;
    const auto of_queue = completed.find(key.head);
    if (of_queue == completed.end()) return false;
    const auto record = decode(value, of_queue->second.queue);
    const bool is_gone = record && is_meant(*record);
    if (is_gone) {
      ++count;
    } else {
      ++of_queue->second.count;
    }
    return is_gone;
  }));
  const auto count_out = [&](const FrontierGroup& group) -> Result<void> {
    const Key16 key = queue_key(group.key, seed_);
    CRAWLSTORE_TRY(const Counts counts, known_.counts(key));
    const auto found = completed.find(key.head);
    const std::int64_t now = found == completed.end() ? 0 : found->second.count;
    return account({.queue = group.key,
                    .active_before = active_count(group.key),
                    .completed = now - static_cast<std::int64_t>(counts.completed)});
  };
  CRAWLSTORE_TRY(for_each_queue(queue, count_out));
  return count;
}

Result<void> Crawl::set_purges(std::uint64_t purges) {
  CRAWLSTORE_TRY(Counts counts, known_.counts(kCrawlKey));
  counts.purges = purges;
  known_.set_counts(kCrawlKey, counts);
  return {};
}

Result<std::uint64_t> Crawl::forget(std::optional<std::string_view> queue,
                                    const IsMeant& is_meant) {
  CRAWLSTORE_TRY(const Counts before, known_.counts(kCrawlKey));
  CRAWLSTORE_TRY(set_purges(1));
  const auto complete = [&](const FrontierGroup& group) -> Result<void> {
    for (bool may_be_more = true; may_be_more;) {
      CRAWLSTORE_TRY(may_be_more, complete_some(group.key, is_meant));
    }
    return {};
  };
  CRAWLSTORE_TRY(for_each_queue(queue, complete));
  CRAWLSTORE_TRY(const std::uint64_t count, drop_completed(queue, is_meant));
  // A purge of all that failed is counted out by one of all.
  if (!queue || before.purges == 0) CRAWLSTORE_TRY(set_purges(0));
  CRAWLSTORE_TRY(known_.write_counts());
  return count;
}

}  // namespace crawlstore::service
