// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crawlstore/frontier.h>
#include <crawlstore/store.h>

#include "service/core/known_urls.h"
#include "service/core/settings.h"
#include "service/core/url_record.h"

namespace crawlstore::service {

/// A URL that was given out.
struct GivenUrl {
  std::uint64_t id = 0;  ///< of its lease
  std::string queue;
  UrlRecord record;
};

/// A URL, as it is known.
struct KnownUrl {
  UrlRecord record;
  std::uint64_t refetch_s = 0;  ///< the time from which it may be given out; 0: it is completed
};

struct QueueStats {
  std::uint64_t active = 0;     ///< URLs that wait or are leased
  std::uint64_t leased = 0;     ///< those that are leased
  std::uint64_t completed = 0;  ///< URLs
  std::uint64_t queues = 0;
  std::uint64_t active_queues = 0;
};

/// A request for URLs. The highest number is no limit.
struct GetRequest {
  std::optional<std::string_view> queue{};  ///< nothing: of any
  std::uint32_t per_queue = UINT32_MAX;     ///< those that are leased count
  std::size_t queues_max = SIZE_MAX;
  std::size_t urls_max = SIZE_MAX;
  std::uint64_t lease_ms = 30'000;
};

/// A crawl of a service: its URLs in queues, of which each waits, is leased or is completed. A
/// Frontier has the queues and what waits; KnownUrls has what is completed.
///
/// The calls of the first part belong into a Transaction, or are followed by Store::commit(), and
/// write_counts() comes before that. After an error their transaction must be dropped, but for
/// kTooLarge: then nothing has changed.
///
/// Threads: one at a time. Errors: those of Frontier and Drum, and kTooLarge: a queue's key of more
/// than kKeyBytesMax, a URL and its metadata of more than kUrlBytesMax. Times `now_s` and others:
/// seconds since 1970, of now_ms(); later ones than kTimeMaxS count as that.
class Crawl {
 public:
  static constexpr std::size_t kKeyBytesMax = 255;
  static constexpr std::size_t kNameBytesMax = 249;
  static constexpr std::size_t kUrlBytesMax = 65'500;
  static constexpr std::uint64_t kTimeMaxS = ((std::uint64_t{1} << 48) - 1) / 1000;

  /// Opens a crawl, or makes it; its order is that of the Settings now. Counts anew what a purge
  /// that was killed has left.
  ///   errors  those of Frontier::open() and Drum::open()
  static Result<std::unique_ptr<Crawl>> open(Store& store, std::string_view name,
                                             std::uint64_t memory_bytes);

  /// Adds a URL that may be given out at once, unless it is known. Returns whether it was added.
  ///   metadata   bytes that come with it when it is given out
  ///   created_s  the time at which it was added, if that is not now; here and below
  [[nodiscard]] Result<bool> discover(const UrlInQueue& url, std::string_view metadata,
                                      std::uint64_t now_s,
                                      std::optional<std::uint64_t> created_s = {});
  /// Sets what is known of a URL, which may be new: it may be given out from `refetch_s` on; 0: it
  /// is completed. A lease of it ends. Returns whether it was new. The time of a URL that is known
  /// stays as it is.
  ///   cost  a look through its queue if the URL waits
  [[nodiscard]] Result<bool> update(const UrlInQueue& url, std::string_view metadata,
                                    std::uint64_t refetch_s, std::uint64_t now_s,
                                    std::optional<std::uint64_t> created_s = {});
  [[nodiscard]] Result<std::vector<GivenUrl>> take(const GetRequest& request);
  /// Leases end, as when nobody was told of them.
  [[nodiscard]] Result<void> give_back(const std::vector<GivenUrl>& urls);
  /// Seconds between two visits to the queue. They count from the next visit on.
  [[nodiscard]] Result<void> set_delay(std::string_view queue, std::uint64_t seconds);
  /// 0: it is not blocked.
  [[nodiscard]] Result<void> block_until(std::string_view queue, std::uint64_t time_s);
  /// Completed URLs with which the queue ends; 0: none. Returns false if there is no such queue.
  [[nodiscard]] Result<bool> set_limit(std::string_view queue, std::uint64_t limit);
  [[nodiscard]] Result<void> write_counts() { return known_.write_counts(); }

  /// Forgets counts of a transaction that was dropped, and what it gave out.
  void drop_counts() {
    known_.forget_counts();
    given_.clear();
  }

  [[nodiscard]] Result<std::optional<KnownUrl>> find(const UrlInQueue& url);
  /// Returns counts of one queue, or of all.
  [[nodiscard]] Result<QueueStats> stats(std::optional<std::string_view> queue);
  /// Keys of queues in the order in which they came, from number `start` of those that match on.
  ///   with_inactive  also those that are blocked, or have completed URLs only
  [[nodiscard]] Result<std::vector<std::string>> queues(std::size_t start, std::size_t count_max,
                                                        bool with_inactive);

  // These commit, and belong into no transaction. Their counts are in the next commit at the
  // latest.

  /// Seconds between two visits to a queue that has no delay of its own, or the same one.
  [[nodiscard]] Result<void> set_default_delay(std::uint64_t seconds);
  /// Forgets a queue, its URLs and its rules. Returns how many URLs it had. Again after an error:
  /// it goes on.
  [[nodiscard]] Result<std::uint64_t> forget_queue(std::string_view queue);
  using IsMeant = std::function<bool(const UrlRecord& record)>;
  /// Forgets the URLs that are meant, of one queue or of all. Returns how many. Some are completed
  /// instead after an error or a crash, until this is called again.
  ///   is_meant  told of each URL once or twice; uses no crawl
  [[nodiscard]] Result<std::uint64_t> forget(std::optional<std::string_view> queue,
                                             const IsMeant& is_meant);
  /// Forgets those that were added before a time.
  [[nodiscard]] Result<std::uint64_t> forget_before(std::optional<std::string_view> queue,
                                                    std::uint64_t time_s);
  /// Brings all that is completed where a snapshot has it.
  [[nodiscard]] Result<void> merge() { return known_.merge(); }
  [[nodiscard]] Result<void> merge_if_full() { return known_.merge_if_full(); }
  [[nodiscard]] Result<void> close();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t now_ms() const { return frontier_.now_ms(); }

 private:
  /// Queues that are read at a time where all are looked through.
  static constexpr std::size_t kGroupsAtOnce = 1024;
  /// URLs that were given out whose times are remembered, of 40 bytes each.
  static constexpr std::size_t kGivenKept = std::size_t{1} << 16;

  Crawl(std::string_view name, std::uint64_t seed, Frontier frontier, KnownUrls known)
      : name_(name), seed_(seed), frontier_(std::move(frontier)), known_(std::move(known)) {}

  /// A queue before a change, and the change: what account() writes down.
  struct Change {
    std::string_view queue;
    std::uint64_t active_before = 0;
    std::int64_t active = 0;     ///< URLs that came to wait, or were leased no more
    std::int64_t completed = 0;  ///< URLs
  };
  [[nodiscard]] Result<void> account(const Change& change);
  [[nodiscard]] std::uint64_t active_count(std::string_view queue) const;
  /// A URL's item to be put.
  struct Item {
    std::uint64_t refetch_s = 0;
    std::uint64_t not_before_ms = 0;
  };
  [[nodiscard]] Result<void> put(const UrlInQueue& url, Key16 key, UrlRecord record,
                                 const Item& item);
  /// A URL before a change.
  struct State {
    std::optional<std::uint64_t> created_s{};
    bool was_completed = false;
    bool was_active = false;
  };
  [[nodiscard]] Result<State> leave(const UrlInQueue& url, Key16 key, Change& change);
  template <class Set>
  [[nodiscard]] Result<void> change_rule(std::string_view queue, const Set& set);
  template <class Visit>
  [[nodiscard]] Result<void> for_each_queue(std::optional<std::string_view> queue,
                                            const Visit& visit);
  [[nodiscard]] Result<bool> complete_some(std::string_view queue, const IsMeant& is_meant);
  [[nodiscard]] Result<std::uint64_t> drop_completed(std::optional<std::string_view> queue,
                                                     const IsMeant& is_meant);
  [[nodiscard]] Result<void> set_purges(std::uint64_t purges);
  [[nodiscard]] Result<void> keep_limit(std::string_view queue, const Counts& counts);

  std::string name_;
  std::uint64_t seed_;
  Frontier frontier_;
  KnownUrls known_;
  FrontierRule default_rule_;
  bool is_by_priority_ = false;
  std::unordered_map<std::uint64_t, std::uint64_t> given_;  // seconds at which they came, by item
};

}  // namespace crawlstore::service
