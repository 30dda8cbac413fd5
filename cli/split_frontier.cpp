// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/split_parts.h"
#include "cli/wall_clock.h"

namespace crawlstore::cli {
namespace {

/// Items that are put at once.
constexpr std::size_t kPutItems = 8192;

/// Returns the limit that leaves as many as there were left.
std::optional<std::uint32_t> limit_left(const std::optional<std::uint32_t>& limit,
                                        std::uint64_t before, std::uint64_t now) {
  if (!limit) return std::nullopt;
  const std::uint64_t left = *limit - std::min<std::uint64_t>(*limit, before);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(now + left, ~std::uint32_t{0}));
}

class FrontierSplit {
 public:
  FrontierSplit(const FrontierView& from, const SplitIndexes* indexes, SplitWork& work)
      : from_(from),
        indexes_(indexes),
        work_(work),
        now_ms_(from.info().time_at_ms(wall_clock_us())) {}

  Result<SplitEntries> run() {
    CRAWLSTORE_TRY(open());
    CRAWLSTORE_TRY(split_items());
    CRAWLSTORE_TRY(set_rules());
    for (std::size_t half = 0; half < to_.size(); ++half) {
      work_.working_on = half;
      CRAWLSTORE_TRY(to_[half].frontier.set_default_rule(from_.info().default_rule));
      CRAWLSTORE_TRY(to_[half].frontier.close());
    }
    return counts_;
  }

 private:
  struct Item {
    std::string group;
    std::string body;
    double priority = 0;
    std::uint64_t not_before_ms = 0;
    std::optional<std::uint64_t> id;
  };
  struct Half {
    Frontier frontier;
    std::vector<Item> waiting;
  };

  /// Limits count what was put and finished, so that they come last.
  Result<void> open() {
    FrontierOptions made;
    made.default_rule = from_.info().default_rule;
    made.default_rule.put_max.reset();
    made.default_rule.finished_max.reset();
    made.has_own_ids = from_.info().has_own_ids;
    made.pages = from_.info().pages;
    for (std::size_t half = 0; half < work_.halves.size(); ++half) {
      work_.working_on = half;
      CRAWLSTORE_TRY(auto frontier,
                     Frontier::open(work_.halves[half].store, from_.info().name, made));
      to_.push_back({std::move(frontier), {}});
    }
    return {};
  }

  Result<void> split_items() {
    Result<void> done;
    const auto take = [&](const FrontierEntry& entry) {
      done = take_entry(entry);
      return done.has_value();
    };
    from_.for_each_group([&](const FrontierGroup& group) {
      if (group.rule && group.rule->parent) parents_.insert(*group.rule->parent);
      if (group.waiting_count == 0) return true;
      // Those that wait for their time stand behind, and come for all groups at once.
      std::uint64_t left = group.waiting_count;
      const auto visited = from_.for_each_waiting(
          group.key, [&](const FrontierEntry& entry) { return take(entry) && --left != 0; });
      if (!visited) done = visited;
      return done.has_value();
    });
    CRAWLSTORE_TRY(done);
    CRAWLSTORE_TRY(from_.for_each_later(take));
    CRAWLSTORE_TRY(done);
    CRAWLSTORE_TRY(from_.for_each_lease([&](const FrontierEntry& entry) {
      FrontierEntry later = entry;
      later.not_before_ms = entry.until_ms.value_or(0);
      const std::uint64_t before = counts_.entry_count;
      const bool goes_on = take(later);
      counts_.lease_count += counts_.entry_count - before;
      return goes_on;
    }));
    CRAWLSTORE_TRY(done);
    for (std::size_t half = 0; half < to_.size(); ++half) CRAWLSTORE_TRY(put(half));
    return {};
  }

  Result<void> take_entry(const FrontierEntry& entry) {
    std::size_t half = work_.keeper(entry.group);
    std::optional<std::uint64_t> id;
    if (from_.info().has_own_ids) id = entry.id;
    if (indexes_ != nullptr) {
      CRAWLSTORE_TRY(const auto place, indexes_->find(entry.id));
      if (!place) {
        ++counts_.gone_count;
        return {};
      }
      half = place->half;
      id = place->index;
    }
    ++counts_.entry_count;
    auto& waiting = to_[half].waiting;
    waiting.push_back({std::string(entry.group), std::string(entry.body), entry.priority,
                       entry.not_before_ms, id});
    return waiting.size() < kPutItems ? Result<void>() : put(half);
  }

  Result<void> put(std::size_t half) {
    work_.working_on = half;
    std::vector<FrontierItem> items;
    for (const Item& item : to_[half].waiting) {
      items.push_back({.group = item.group,
                       .priority = item.priority,
                       .body = item.body,
                       .not_before_ms = item.not_before_ms,
                       .id = item.id});
    }
    CRAWLSTORE_TRY(to_[half].frontier.put(items));
    to_[half].waiting.clear();
    return work_.look(counts_.entry_count, from_.info().waiting_count + from_.info().leased_count);
  }

  Result<void> set_rules() {
    Result<void> done;
    from_.for_each_group([&](const FrontierGroup& group) {
      const bool is_parent = parents_.contains(group.key);
      for (std::size_t half = 0; half < to_.size() && done; ++half) {
        if (is_parent || work_.keeper(group.key) == half) done = set_rule(half, group);
      }
      return done.has_value();
    });
    return done;
  }
  Result<void> set_rule(std::size_t half, const FrontierGroup& group) {
    work_.working_on = half;
    Frontier& frontier = to_[half].frontier;
    FrontierRule rule = group.rule.value_or(from_.info().default_rule);
    const bool is_due = group.soft_time_ms <= now_ms_;
    if (!group.rule && is_due && !rule.put_max && !rule.finished_max) return {};
    const auto made = frontier.group(group.key);
    rule.put_max = limit_left(rule.put_max, group.put_count, made ? made->put_count : 0);
    rule.finished_max = limit_left(rule.finished_max, group.finished_count, 0);
    if (!is_due) rule.blocked_until_ms = std::max(rule.blocked_until_ms, group.soft_time_ms);
    return frontier.set_rule(group.key, rule);
  }

  const FrontierView& from_;
  const SplitIndexes* indexes_;
  SplitWork& work_;
  std::uint64_t now_ms_;
  std::vector<Half> to_;
  std::set<std::string, std::less<>> parents_;
  SplitEntries counts_;
};

}  // namespace

Result<SplitEntries> split_frontier(const Snapshot& snapshot, const FrontierInfo& info,
                                    const SplitIndexes* indexes, SplitWork& work) {
  CRAWLSTORE_TRY(const auto from, FrontierView::open(snapshot, info.name));
  return FrontierSplit(from, indexes, work).run();
}

}  // namespace crawlstore::cli
