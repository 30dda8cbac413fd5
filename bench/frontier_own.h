// SPDX-License-Identifier: Apache-2.0
#pragma once

/// crawlstore's frontier with all that a user gets: checksums, crash safety, leases and times in
/// the file, and a commit with its two syncs each call. Threads: one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/frontier.h>

#include "frontier_work.h"

namespace crawlstore::bench {

class OwnFrontier final : public BenchFrontier {
 public:
  /// Opens the store at the path, or makes it.
  OwnFrontier(const std::string& path, std::string name)
      : name_(std::move(name)),
        store_(must(Store::open_or_create(path))),
        frontier_(must(
            Frontier::open(store_, Frontier::kDefaultName,
                           {.default_rule = {.delay_ms = kDelayMs, .hard_ms = kHardDelayMs}}))) {}

  [[nodiscard]] std::string name() const override { return name_; }
  void put(std::span<const WorkItem> items) override {
    std::vector<FrontierItem> put(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      put[i] = {.group = items[i].group, .priority = items[i].priority, .body = items[i].body};
    }
    const std::uint64_t first = must(frontier_.put(put)).first_id;
    if (!id_of_0_) id_of_0_ = first - items.front().id;
    must(store_.commit());
  }
  std::vector<WorkTaken> take(std::size_t count, std::uint64_t now_ms) override {
    std::vector<TakenItem> items =
        must(frontier_.take({.count = count, .lease_ms = kLeaseMs, .now_ms = now_ms}));
    std::vector<WorkTaken> taken;
    taken.reserve(items.size());
    for (TakenItem& item : items) {
      taken.push_back({item.id - id_of_0_.value_or(0), std::move(item.group), item.priority,
                       std::move(item.body)});
    }
    return taken;
  }
  void finish(std::span<const std::uint64_t> ids, std::uint64_t now_ms) override {
    std::vector<std::uint64_t> own(ids.begin(), ids.end());
    for (std::uint64_t& id : own) id += id_of_0_.value_or(0);
    if (must(frontier_.finish(own, now_ms)).done_count != ids.size()) {
      throw std::runtime_error("not all were finished");
    }
    must(store_.commit());
  }
  void close() override {
    must(frontier_.close());
    must(store_.close());
  }

 private:
  template <class T>
  static T must(Result<T> result) {
    if (!result) throw std::runtime_error(describe(result.error()));
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

  std::string name_;
  Store store_;
  Frontier frontier_;
  std::optional<std::uint64_t> id_of_0_;
};

}  // namespace crawlstore::bench
