// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl as its header describes it: a map that is looked through at each call. The time of a
/// call lies between two readings of the clock, so that what depends on it has two bounds.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/core/crawl.h"

namespace crawlstore::service::testing {

/// Milliseconds: the earliest and the latest time of an event.
struct Times {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  [[nodiscard]] Times after(std::uint64_t ms) const { return {first + ms, last + ms}; }
  /// Whether something that begins then has begun at all of these times, or at none.
  [[nodiscard]] bool is_clear_at(const Times& now) const {
    return last <= now.first || first > now.last;
  }
};

class CrawlModel {
 public:
  bool is_by_priority = false;

  struct Url {
    std::uint64_t created_s = 0;
    std::uint64_t refetch_s = 0;  // 0: completed
    std::string metadata{};
    std::optional<Times> lease_end{};  // of the last lease
    bool was_taken = false;
    double priority = 0;
  };
  using Urls = std::map<std::string, Url>;
  struct Queue {
    std::size_t number = 0;  // in the order in which they came
    std::uint64_t delay_s = 0;
    std::uint64_t blocked_s = 0;
    std::uint64_t limit = 0;
    Times next_visit{};
    Urls urls{};
  };

  bool discover(const UrlInQueue& url, std::string_view metadata, std::uint64_t now_s) {
    return queue(url.queue)
        .urls
        .try_emplace(std::string(url.url),
                     Url{now_s, now_s, std::string(metadata), {}, false, url.priority})
        .second;
  }
  void update(const UrlInQueue& url, std::string_view metadata, std::uint64_t refetch_s,
              std::uint64_t now_s) {
    Url& known = queue(url.queue).urls.try_emplace(std::string(url.url), Url{now_s}).first->second;
    known = {.created_s = known.created_s,
             .refetch_s = refetch_s,
             .metadata = std::string(refetch_s == 0 ? "" : metadata),
             .priority = url.priority};
  }
  void set_delay(std::string_view key, std::uint64_t seconds) {
    if (delay_of(key) != seconds) queue(key).delay_s = seconds;
  }
  void set_default_delay(std::uint64_t seconds) {
    for (auto& [key, queue] : queues_) {
      if (queue.delay_s == default_delay_s_) queue.delay_s = seconds;
    }
    default_delay_s_ = seconds;
  }
  void block_until(std::string_view key, std::uint64_t time_s) {
    const auto found = queues_.find(std::string(key));
    if ((found == queues_.end() ? 0 : found->second.blocked_s) != time_s) {
      queue(key).blocked_s = time_s;
    }
  }
  bool set_limit(std::string_view key, std::uint64_t limit) {
    const auto found = queues_.find(std::string(key));
    if (found == queues_.end() || found->second.urls.empty()) return false;
    found->second.limit = limit;
    return true;
  }
  void give_back(const GivenUrl& given, const Times& now) {
    Url* const url = find({given.queue, given.record.url});
    if (url != nullptr && url->lease_end && url->lease_end->first > now.last) url->lease_end = now;
  }
  std::uint64_t forget_queue(std::string_view key) {
    const auto found = queues_.find(std::string(key));
    if (found == queues_.end()) return 0;
    Queue& queue = found->second;
    const std::uint64_t count = queue.urls.size();
    queue = {queue.number, default_delay_s_, 0, 0, queue.next_visit, {}};
    return count;
  }
  std::uint64_t forget_before(std::optional<std::string_view> key, std::uint64_t time_s) {
    std::uint64_t count = 0;
    for (auto& [own, queue] : queues_) {
      if (key.value_or(own) != own) continue;
      count +=
          std::erase_if(queue.urls, [&](const auto& url) { return url.second.created_s < time_s; });
    }
    return count;
  }

  /// Whether everything that depends on the time has one state at these times.
  [[nodiscard]] bool is_clear_at(const Times& now) const {
    for (const auto& [key, queue] : queues_) {
      if (!next_visit(queue).is_clear_at(now)) return false;
      for (const auto& [text, url] : queue.urls) {
        if (url.lease_end && !url.lease_end->is_clear_at(now)) return false;
        if (!due(url).is_clear_at(now)) return false;
      }
    }
    return true;
  }
  [[nodiscard]] static bool is_leased(const Url& url, const Times& now) {
    return url.lease_end && url.lease_end->first > now.last;
  }
  /// Returns what is wrong with URLs that were taken, and takes them; nothing: all is right.
  std::string take(const GetRequest& request, const std::vector<GivenUrl>& given,
                   const Times& now) {
    const bool is_clear = is_clear_at(now);
    std::map<std::string, std::size_t> room;  // of the queues that may be visited
    for (const auto& [key, queue] : queues_) {
      if (request.queue.value_or(key) == key) room[key] = room_of(queue, request, now);
    }
    std::map<std::string, std::size_t> taken;
    for (const GivenUrl& one : given) {
      const Url* const url = find({one.queue, one.record.url});
      if (url == nullptr) return one.record.url + " is not known";
      if (url->refetch_s == 0) return one.record.url + " is completed";
      if (is_leased(*url, now)) return one.record.url + " is leased";
      if (due(*url).first > now.last) return one.record.url + " is not due";
      if (one.record.metadata != url->metadata) return one.record.url + " has other metadata";
      if (one.record.created_s != url->created_s) return one.record.url + " has another time";
      if (++taken[one.queue] > room[one.queue]) return one.record.url + " has no room";
    }
    if (given.size() > request.urls_max) return "too many URLs";
    if (taken.size() > request.queues_max) return "too many queues";
    std::string wrong;
    if (is_clear) wrong = missing(request, given.size(), taken, room);
    if (is_clear && wrong.empty()) wrong = better(given, now);
    for (const GivenUrl& one : given) {
      Url& url = *find({one.queue, one.record.url});
      url.lease_end = now.after(request.lease_ms);
      url.was_taken = true;
    }
    for (const auto& [key, count] : taken) {
      queue(key).next_visit = now.after(queue(key).delay_s * 1000);
    }
    return wrong;
  }

  [[nodiscard]] QueueStats stats(std::optional<std::string_view> key, const Times& now) const {
    QueueStats stats;
    for (const auto& [own, queue] : queues_) {
      if (key.value_or(own) != own) continue;
      bool is_active = false;
      for (const auto& [text, url] : queue.urls) {
        ++(url.refetch_s == 0 ? stats.completed : stats.active);
        is_active |= url.refetch_s != 0;
        stats.leased += is_leased(url, now) ? 1 : 0;
      }
      stats.queues += queue.urls.empty() ? 0 : 1;
      stats.active_queues += is_active ? 1 : 0;
    }
    return stats;
  }
  [[nodiscard]] std::vector<std::string> queues(bool with_inactive, const Times& now) const {
    std::map<std::size_t, std::string> keys;
    for (const auto& [key, queue] : queues_) {
      const bool is_active = std::ranges::any_of(
          queue.urls, [](const auto& url) { return url.second.refetch_s != 0; });
      const bool is_one =
          with_inactive ? !queue.urls.empty() : is_active && queue.blocked_s * 1000 <= now.last;
      if (is_one) keys.emplace(queue.number, key);
    }
    std::vector<std::string> sorted;
    for (const auto& [number, key] : keys) sorted.push_back(key);
    return sorted;
  }
  [[nodiscard]] Url* find(const UrlInQueue& url) {
    const auto queue = queues_.find(std::string(url.queue));
    if (queue == queues_.end()) return nullptr;
    const auto found = queue->second.urls.find(std::string(url.url));
    return found == queue->second.urls.end() ? nullptr : &found->second;
  }

 private:
  Queue& queue(std::string_view key) {
    return queues_.try_emplace(std::string(key), Queue{queues_.size(), default_delay_s_})
        .first->second;
  }
  [[nodiscard]] std::uint64_t delay_of(std::string_view key) const {
    const auto found = queues_.find(std::string(key));
    return found == queues_.end() ? default_delay_s_ : found->second.delay_s;
  }
  static Times due(const Url& url) { return {url.refetch_s * 1000, url.refetch_s * 1000}; }
  static Times next_visit(const Queue& queue) {
    const std::uint64_t blocked_ms = queue.blocked_s * 1000;
    return {std::max(queue.next_visit.first, blocked_ms),
            std::max(queue.next_visit.last, blocked_ms)};
  }
  static bool waits(const Url& url, const Times& now) {
    return url.refetch_s != 0 && !is_leased(url, now) && due(url).first <= now.last;
  }
  /// URLs that a request gets of a queue at most.
  static std::size_t room_of(const Queue& queue, const GetRequest& request, const Times& now) {
    const auto count = [&](const auto& is) {
      return static_cast<std::size_t>(
          std::ranges::count_if(queue.urls, [&](const auto& url) { return is(url.second); }));
    };
    const std::size_t completed = count([](const Url& url) { return url.refetch_s == 0; });
    if (queue.limit != 0 && completed >= queue.limit) return 0;
    if (next_visit(queue).first > now.last) return 0;
    const std::size_t leased = count([&](const Url& url) { return is_leased(url, now); });
    if (leased >= request.per_queue) return 0;
    return std::min(request.per_queue - leased,
                    count([&](const Url& url) { return waits(url, now); }));
  }
  /// Returns what a request should have got beyond what it got.
  std::string missing(const GetRequest& request, std::size_t count,
                      const std::map<std::string, std::size_t>& taken,
                      const std::map<std::string, std::size_t>& room) {
    std::size_t cut_count = 0;
    std::uint64_t longest = UINT64_MAX;
    for (const auto& [key, most] : room) {
      if (most != 0 && !taken.contains(key)) {
        longest = std::min(longest, next_visit(queue(key)).last);
      }
    }
    for (const auto& [key, some] : taken) {
      if (some != room.at(key)) ++cut_count;
      if (next_visit(queue(key)).first > longest) return "another queue waits longer than " + key;
    }
    const bool is_full = count == request.urls_max;
    if (cut_count > (is_full ? 1 : 0)) return "URLs of a queue are missing";
    if (is_full || taken.size() == request.queues_max || longest == UINT64_MAX) return {};
    return "queues are missing";
  }
  using Place = std::pair<bool, double>;
  /// The place of a URL in its queue.
  [[nodiscard]] Place place_of(const Url& url) const {
    return {!url.was_taken, is_by_priority ? -url.priority : static_cast<double>(url.refetch_s)};
  }
  /// Returns a URL that should have been given out before another one of its queue.
  std::string better(const std::vector<GivenUrl>& given, const Times& now) {
    std::map<std::string, Place> last;
    std::set<std::pair<std::string, std::string>> all;
    for (const GivenUrl& one : given) {
      const Url& url = *find({one.queue, one.record.url});
      Place& place = last.try_emplace(one.queue, place_of(url)).first->second;
      place = std::max(place, place_of(url));
      if (!all.emplace(one.queue, one.record.url).second) return one.record.url + " comes twice";
    }
    for (const auto& [key, place] : last) {
      for (const auto& [text, url] : queue(key).urls) {
        if (!waits(url, now) || all.contains({key, text})) continue;
        if (place_of(url) < place) return text + " should come first";
      }
    }
    return {};
  }

  std::map<std::string, Queue> queues_;
  std::uint64_t default_delay_s_ = 1;
};

}  // namespace crawlstore::service::testing
