// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A frontier in RAM: a std::priority_queue a group, one of the groups that may be visited by their
/// best items, and one of the others by their last visit. Nothing survives, nothing is written.
/// It takes what crawlstore's takes, in the same order. Threads: one.

#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontier_work.h"

namespace crawlstore::bench {

class HeapFrontier final : public BenchFrontier {
 public:
  [[nodiscard]] std::string name() const override { return "std::priority_queue"; }
  void put(std::span<const WorkItem> items) override {
    for (const WorkItem& item : items) {
      const auto [found, is_new] =
          numbers_.try_emplace(std::string(item.group), static_cast<std::uint32_t>(groups_.size()));
      if (is_new) groups_.push_back({.key = &found->first});
      Group& group = groups_[found->second];
      group.items.push({item.priority, item.id, std::string(item.body)});
      if (!group.is_resting && group.items.top().id == item.id) {
        ready_.push({item.priority, item.id, found->second});
      }
    }
  }
  std::vector<WorkTaken> take(std::size_t count, std::uint64_t now_ms) override {
    wake(now_ms);
    std::vector<WorkTaken> taken;
    taken.reserve(count);
    while (taken.size() < count && !ready_.empty()) {
      const Ready next = ready_.top();
      ready_.pop();
      const Group& group = groups_[next.group];
      const bool is_stale =
          group.is_resting || group.items.empty() || group.items.top().id != next.id;
      if (!is_stale) visit(next.group, now_ms, taken);
    }
    if (taken.size() < count) take_hard(count, now_ms, taken);
    return taken;
  }
  void finish(std::span<const std::uint64_t> ids, std::uint64_t /*now_ms*/) override {
    for (const std::uint64_t id : ids) {
      if (leased_.erase(id) == 0) throw std::runtime_error("an item is not leased");
    }
  }

 private:
  struct Item {
    double priority = 0;
    std::uint64_t id = 0;
    std::string body;
    bool operator<(const Item& other) const {
      return priority < other.priority || (priority == other.priority && id > other.id);
    }
  };
  struct Group {
    const std::string* key = nullptr;
    std::priority_queue<Item> items{};
    bool is_resting = false;
  };
  struct Ready {
    double priority = 0;
    std::uint64_t id = 0;
    std::uint32_t group = 0;
    bool operator<(const Ready& other) const {
      return priority < other.priority || (priority == other.priority && id > other.id);
    }
  };
  struct Lease {
    std::uint32_t group = 0;
    std::uint64_t until_ms = 0;
    double priority = 0;
    std::string body;
  };
  using Rest = std::pair<std::uint64_t, std::uint32_t>;  ///< time of the last visit, group

  /// Ends the rests that have lasted long enough.
  void wake(std::uint64_t now_ms) {
    for (; !rests_.empty() && rests_.top().first + kDelayMs <= now_ms; rests_.pop()) {
      Group& group = groups_[rests_.top().second];
      group.is_resting = false;
      if (group.items.empty()) continue;
      ready_.push({group.items.top().priority, group.items.top().id, rests_.top().second});
    }
  }
  void visit(std::uint32_t number, std::uint64_t now_ms, std::vector<WorkTaken>& taken) {
    Group& group = groups_[number];
    const Item& item = group.items.top();
    leased_.emplace(item.id, Lease{number, now_ms + kLeaseMs, item.priority, item.body});
    taken.push_back({item.id, *group.key, item.priority, item.body});
    group.items.pop();
    group.is_resting = true;
    rests_.push({now_ms, number});
  }
  void take_hard(std::size_t count, std::uint64_t now_ms, std::vector<WorkTaken>& taken) {
    std::vector<Rest> passed;
    while (taken.size() < count && !rests_.empty() && rests_.top().first + kHardDelayMs <= now_ms) {
      const Rest rest = rests_.top();
      rests_.pop();
      if (groups_[rest.second].items.empty()) {
        passed.push_back(rest);
      } else {
        visit(rest.second, now_ms, taken);
      }
    }
    for (const Rest& rest : passed) rests_.push(rest);
  }

  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<Group> groups_;
  std::priority_queue<Ready> ready_;  ///< stale entries are passed over
  std::priority_queue<Rest, std::vector<Rest>, std::greater<>> rests_;
  std::unordered_map<std::uint64_t, Lease> leased_;
};

}  // namespace crawlstore::bench
