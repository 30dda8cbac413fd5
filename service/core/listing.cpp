// SPDX-License-Identifier: Apache-2.0
#include "service/core/listing.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crawlstore/drum_view.h>
#include <crawlstore/frontier_view.h>
#include <crawlstore/tools/drum_cursor.h>

namespace crawlstore::service {
namespace {

constexpr std::size_t kRowsAtOnce = 512;

class Listing {
 public:
  Listing(const FrontierView& frontier, const DrumView& known, std::uint64_t seed,
          const VisitUrl& visit)
      : frontier_(frontier), known_(known), seed_(seed), visit_(visit) {}

  Result<void> visit_all() {
    std::unordered_map<std::uint64_t, std::string> queues;  // by heads
    frontier_.for_each_group([&](const FrontierGroup& group) {
      queues.emplace(queue_key(group.key, seed_).head, group.key);
      return true;
    });
    for (const auto& [head, queue] : queues) CRAWLSTORE_TRY(visit_due(queue));
    CRAWLSTORE_TRY(frontier_.for_each_later([this](const auto& item) { return tell(item); }));
    CRAWLSTORE_TRY(frontier_.for_each_lease([this](const auto& item) { return tell(item); }));
    return visit_completed(0, [&queues](std::uint64_t head) {
      const auto found = queues.find(head);
      return found == queues.end() ? std::nullopt : std::optional<std::string_view>(found->second);
    });
  }
  Result<void> visit_queue(std::string_view queue) {
    const auto tell_own = [&](const FrontierEntry& item) {
      return item.group != queue || tell(item);
    };
    CRAWLSTORE_TRY(frontier_.for_each_waiting(queue, tell_own));
    CRAWLSTORE_TRY(frontier_.for_each_lease(tell_own));
    const std::uint64_t own = queue_key(queue, seed_).head;
    CRAWLSTORE_TRY(const std::uint64_t row, row_of(known_, {own, 0}));
    return visit_completed(row, [&](std::uint64_t head) {
      if (head != own) goes_on_ = false;
      return std::optional(queue);
    });
  }

 private:
  bool tell(const FrontierEntry& item) {
    auto record = decode(item.body, item.group);
    if (!record) return goes_on_;
    const std::uint64_t refetch_s = refetch_of(*record, item.priority);
    const KnownUrl url{*std::move(record), refetch_s};
    goes_on_ = goes_on_ && visit_(item.group, url);
    return goes_on_;
  }
  /// URLs that wait and are due; not the rest, for which a look at all others would be needed.
  Result<void> visit_due(std::string_view queue) {
    const auto group = frontier_.group(queue);
    std::uint64_t left = group ? group->waiting_count : 0;
    if (left == 0 || !goes_on_) return {};
    return frontier_.for_each_waiting(
        queue, [&](const FrontierEntry& item) { return tell(item) && --left != 0; });
  }
  /// From a row on, while it goes on. queue_of(head) names the queue of a key.
  template <class QueueOf>
  Result<void> visit_completed(std::uint64_t row, const QueueOf& queue_of) {
    while (goes_on_) {
      CRAWLSTORE_TRY(const auto rows, keys_at(known_, row, kRowsAtOnce));
      for (const KeyRow& key : rows) {
        const auto queue = queue_of(key.key.head);
        if (!goes_on_) return {};
        if (!queue || !is_of_url(key.key) || key.value_bytes == 0) continue;
        CRAWLSTORE_TRY(const auto value, value_of(key));
        auto record = decode(value, *queue);
        goes_on_ = !record || visit_(*queue, KnownUrl{*std::move(record), 0});
      }
      if (rows.size() < kRowsAtOnce) return {};
      row += rows.size();
    }
    return {};
  }
  Result<std::string> value_of(const KeyRow& row) const {
    const auto text = [](const std::vector<std::byte>& bytes) {
      const void* const at = bytes.data();
      return std::string(static_cast<const char*>(at), bytes.size());
    };
    if (row.value.size() == row.value_bytes) return text(row.value);
    CRAWLSTORE_TRY(const auto whole, known_.lookup(row.key));
    return whole ? text(*whole) : std::string();
  }

  const FrontierView& frontier_;
  const DrumView& known_;
  std::uint64_t seed_;
  const VisitUrl& visit_;
  bool goes_on_ = true;
};

}  // namespace

bool is_crawl(const Snapshot& snapshot, const FrontierInfo& frontier) {
  if (!frontier.has_own_ids) return false;
  const std::string known = KnownUrls::name_of(frontier.name);
  return std::ranges::any_of(snapshot.segments(), [&](const SegmentInfo& segment) {
    return segment.kind == SegmentKind::kDrum && segment.name == known;
  });
}

Result<std::vector<FrontierInfo>> list_crawls(const Snapshot& snapshot) {
  CRAWLSTORE_TRY(auto frontiers, FrontierView::list(snapshot));
  std::erase_if(frontiers, [&](const FrontierInfo& info) { return !is_crawl(snapshot, info); });
  return frontiers;
}

Result<void> for_each_url(const Snapshot& snapshot, std::string_view crawl,
                          std::optional<std::string_view> queue, const VisitUrl& visit) {
  CRAWLSTORE_TRY(const auto frontier, FrontierView::open(snapshot, crawl));
  CRAWLSTORE_TRY(const auto known, DrumView::open(snapshot, KnownUrls::name_of(crawl)));
  Listing listing(frontier, known, snapshot.key_seed(), visit);
  return queue ? listing.visit_queue(*queue) : listing.visit_all();
}

}  // namespace crawlstore::service
